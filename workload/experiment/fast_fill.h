// The first fill of a cache on modelled disks that take no time.
#pragma once

#include <string_view>

#include "workload/experiment/options.h"
#include "workload/model/workload.h"

namespace workload {

/// Names of the phases of such a run.
inline constexpr std::string_view kFastFillPhase = "fast_fill";
inline constexpr std::string_view kSettlePhase = "settle";
inline constexpr std::string_view kMeasuredPhase = "measured";

/// The workload with these phases: the fill of `options.fast_fill` cache sizes and a time to
/// settle, which are warm-up, and then as long as the goal says the measured part; with the peak
/// finder its climb and the last quarter. A fill of the goal counts from the start, the first fill
/// with it.
Workload fast_fill_workload(const Workload& workload, const ExperimentOptions& options);

/// Whether the fill that `options` have as a goal leaves something to measure behind the first
/// fill.
Expected<void> check_fast_fill_goal(const ExperimentOptions& options);

}  // namespace workload
