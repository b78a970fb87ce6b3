#include "workload/experiment/fast_fill.h"

#include <chrono>
#include <cmath>
#include <fstream>

#include "workload/client/goal.h"

namespace workload {
namespace {

/// Of the machine's time: for what the fill left to be written, and for the load to find the disks
/// as they are now.
constexpr auto kSettleTime = std::chrono::seconds(5);
/// As much of a log's end as holds a line of progress.
constexpr std::streamoff kLogTailBytes = 4096;

Problem began_too_early() {
  return run_problem(
      "the measured part began before the disks took their time, so it has no figures: what the "
      "fill left to be written took longer than 5 s");
}

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
  Phase measured;
  measured.name = kMeasuredPhase;
  std::string error;
  const auto goal = parse_goal(options.goal(), error).value_or(Goal{});
  if (goal.kind == Goal::Kind::kDuration) measured.goal.duration = unscaled(goal.duration);
  if (goal.kind == Goal::Kind::kRequests) measured.goal.requests = goal.requests;
  if (goal.kind == Goal::Kind::kFill) measured.goal.fill = goal.fill;
  Workload with_phases = workload;
  with_phases.phases = {fill, settle, measured};
  return with_phases;
}

std::string_view last_phase(std::string_view log) {
  constexpr std::string_view kStart = "load: ";
  while (!log.empty()) {
    const size_t end = log.rfind('\n');
    if (end == std::string_view::npos) return {};
    log = log.substr(0, end);
    const size_t before = log.rfind('\n');
    std::string_view line = log.substr(before == std::string_view::npos ? 0 : before + 1);
    if (line.rfind(kStart, 0) != 0) continue;
    // `load: 12 s, fast_fill 34 %, ...`
    const size_t comma = line.find(", ");
    if (comma == std::string_view::npos) continue;
    line.remove_prefix(comma + 2);
    const std::string_view name = line.substr(0, line.find(' '));
    for (const auto phase : {kFastFillPhase, kSettlePhase, kMeasuredPhase}) {
      if (name == phase) return phase;
    }
  }
  return {};
}

std::string FastFill::phase() const {
  std::ifstream in(log_, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  const std::streamoff from = std::max<std::streamoff>(0, size - kLogTailBytes);
  std::string tail(static_cast<size_t>(size - from), '\0');
  in.seekg(from);
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return std::string(last_phase(tail));
}

Expected<FastFill::Step> FastFill::look() {
  if (state_ == State::kMeasuring) return Step::kNothing;
  const std::string now = phase();
  if (state_ == State::kFilling) {
    if (now == kMeasuredPhase) return began_too_early();
    if (now != kSettlePhase) return Step::kNothing;
    state_ = State::kSettling;
    return Step::kBeginTiming;
  }
  if (now != kMeasuredPhase) return Step::kNothing;
  state_ = State::kMeasuring;
  return Step::kBeginMeasured;
}

Expected<void> FastFill::timing_began() {
  if (phase() == kMeasuredPhase) return began_too_early();
  return {};
}

}  // namespace workload
