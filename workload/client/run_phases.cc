#include "workload/client/run_phases.h"

#include <algorithm>
#include <cmath>

#include "workload/client/run_control.h"

namespace workload {
namespace {

/// What the phases need of the rest of the run.
std::string check_needs(const LoadOptions& options) {
  for (const Phase& phase : options.phases) {
    if (phase.goal.fill && options.cache_size_bytes == 0) {
      return "phase '" + phase.name + "' has a fill, which needs --cache-size";
    }
    if (phase.goal.working_set_frozen && options.workload.popularity.working_set_objects_max == 0) {
      return "phase '" + phase.name +
             "' waits until the working set has stopped growing, and it never does: give "
             "popularity.working_set_objects_max in a workload file";
    }
  }
  return {};
}

double robot_factor(const LoadOptions& options) {
  if (!options.load.open_loop()) return 1.0 / static_cast<double>(options.load.robots);
  const double robot_rps = options.workload.robot.requests_per_second * options.time_scale;
  return std::min(1.0, robot_rps / options.load.rate_rps);
}

}  // namespace

std::vector<Phase> phases_of(const LoadOptions& options) {
  if (!options.phases.empty()) return options.phases;
  if (options.load.kind == LoadShape::Kind::kPeak) return phases_of_peak(options.until);
  return phases_of_goals(options.until, options.warm_up);
}

double full_rate_rps(const LoadOptions& options) {
  if (options.load.kind == LoadShape::Kind::kRate) return options.load.rate_rps;
  if (options.load.kind != LoadShape::Kind::kRobots) return 0;
  return static_cast<double>(options.load.robots) * options.workload.robot.requests_per_second *
         options.time_scale;
}

std::string set_phases(LoadOptions& options, std::string_view how) {
  const bool peak = options.load.kind == LoadShape::Kind::kPeak;
  if (how == "file") {
    options.phases = options.workload.phases;
    if (options.phases.empty()) return "'file': the workload has no [[phases]]";
    const bool climbs = std::any_of(options.phases.begin(), options.phases.end(),
                                    [](const Phase& phase) { return phase.name == kClimbPhase; });
    if (peak && !climbs) {
      return "'file': the peak finder begins its search with a phase '" + std::string(kClimbPhase) +
             "', and there is none";
    }
    for (Phase& phase : options.phases) {
      if (!phase.goal.duration) continue;
      const double scaled = static_cast<double>(phase.goal.duration->count()) / options.time_scale;
      phase.goal.duration = std::chrono::nanoseconds(std::max<int64_t>(1, std::llround(scaled)));
    }
    return check_needs(options);
  }
  if (peak) return "the peak finder has phases of its own; give --until";
  std::string error;
  auto polymix = parse_polymix_phases(how, error);
  if (!polymix) return error + ", or file (those of the workload file)";
  polymix->time_scale = options.time_scale;
  polymix->robot_factor = robot_factor(options);
  uint64_t& cap = options.workload.popularity.working_set_objects_max;
  const double rate_rps = full_rate_rps(options);
  if (cap == 0 && rate_rps > 0) {
    cap = polymix4_working_set_cap(rate_rps / options.time_scale, polymix->plateau);
  }
  // Without a pace there is no peak rate that a cap could follow from.
  polymix->frozen_fill = cap > 0;
  options.phases = polymix4_phases(*polymix);
  return check_needs(options);
}

}  // namespace workload
