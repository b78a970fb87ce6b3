// A load run, whole: its threads, its progress, its result.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "workload/client/load_options.h"
#include "workload/client/run_control.h"
#include "workload/measure/run_result.h"

namespace workload {

/// How far a run is.
struct LoadProgress {
  double elapsed_s = 0;
  std::string phase;             ///< Its name; empty where the run has one alone.
  double share = 0;              ///< Of the phase's goal, 0 to 1.
  std::optional<double> left_s;  ///< Of the run, as far as it can be told.
  double rate_rps = 0;           ///< That the load is set to; 0 in a closed loop.
  std::optional<double> fill_ratio;
  LiveCounts counts;
};

/// What a run found.
struct LoadOutcome {
  explicit LoadOutcome(std::chrono::nanoseconds sample_interval) : recorder(sample_interval) {}

  RunResult result;
  RunRecorder recorder;
  storage::WallTime start{};  ///< Of the recorded part.
  /// Why the run failed, one line; empty where it went to its end without an error.
  std::string failure;
};

/// Runs the load on threads of its own and waits for them. `interrupted` ends the run early when it
/// becomes true (the figures so far are the result, and the run counts as failed). `progress` is
/// called about five times a second from the calling thread. Does not throw for anything that
/// peers or the network do.
LoadOutcome run_load(const LoadOptions& options, const storage::Clock& clock,
                     const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& progress);

}  // namespace workload
