#include "workload/experiment/fast_fill.h"

#include <chrono>
#include <cmath>

#include "workload/client/goal.h"
#include "workload/client/run_control.h"

namespace workload {
namespace {

/// Of the machine's time: for what the fill left to be written, and for the load to find the disks
/// as they are now.
constexpr auto kSettleTime = std::chrono::seconds(5);
/// The peak finder's load then, as a share of what it was in the fill.
constexpr double kSettleLoad = 0.05;

}  // namespace

Workload fast_fill_workload(const Workload& workload, const ExperimentOptions& options) {
  // Durations of a workload's phases are divided by the time scale.
  const auto unscaled = [&](std::chrono::nanoseconds time) {
    return std::chrono::nanoseconds(
        std::llround(static_cast<double>(time.count()) * options.time_scale));
  };
  Phase fill;
  fill.name = kFastFillPhase;
  fill.goal.fill = options.fast_fill;
  fill.primary = false;
  Phase settle;
  settle.name = kSettlePhase;
  settle.goal.duration = unscaled(kSettleTime);
  settle.primary = false;
  // What the fill left under way is answered meanwhile.
  if (options.finds_peak()) settle.load = {kSettleLoad, kSettleLoad};
  std::string error;
  const auto goal = parse_goal(options.goal(), error).value_or(Goal{});
  Workload with_phases = workload;
  with_phases.phases = {fill, settle};
  if (options.finds_peak()) {
    for (Phase& phase : phases_of_peak(goal)) {
      phase.goal.fill_since = kFastFillPhase;
      if (phase.goal.duration) phase.goal.duration = unscaled(*phase.goal.duration);
      with_phases.phases.push_back(std::move(phase));
    }
    return with_phases;
  }
  Phase measured;
  measured.name = kMeasuredPhase;
  if (goal.duration) measured.goal.duration = unscaled(*goal.duration);
  measured.goal.requests = goal.requests;
  measured.goal.fill = goal.fill;
  measured.goal.fill_since = kFastFillPhase;
  with_phases.phases.push_back(std::move(measured));
  return with_phases;
}

Expected<void> check_fast_fill_goal(const ExperimentOptions& options) {
  std::string error;
  const auto goal = parse_goal(options.goal(), error);
  if (options.fast_fill == 0 || !goal || !goal->fill) return {};
  const double measured_from =
      options.finds_peak() ? *phases_of_peak(*goal).front().goal.fill : *goal->fill;
  if (measured_from > options.fast_fill) return {};
  return usage_problem(
      "--until '" + options.goal() + "': its fill counts from the start, and --fast-fill reaches " +
      (options.finds_peak() ? "three quarters of it" : "it") + " already; give a greater fill");
}

}  // namespace workload
