// A load run, whole: its threads, its progress, its result.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/load_options.h"
#include "workload/client/run_control.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/messages.h"
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
  /// A rank does not answer any more, and may never end by itself.
  bool ranks_lost = false;
};

/// The other processes of a run, which have agreed to it (workload/ensemble/muster.h).
struct Company {
  Ensemble& ensemble;
  std::vector<std::string> hosts;  ///< By rank; the lead's alone.
  EnsembleTiming timing;
};

/// Runs the load on threads of its own and waits for them, and with `company` (not null where there
/// are several ranks) leads the others and has the result of all. `interrupted` ends the run early
/// when it becomes true (the figures so far are the result, and the run counts as failed).
/// `progress` is called about five times a second from the calling thread. Does not throw for
/// anything that peers or the network do.
LoadOutcome run_load(const LoadOptions& options, const storage::Clock& clock,
                     const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& progress,
                     Company* company = nullptr);

/// How another rank's part ended.
struct FollowOutcome {
  int exit_status = 1;  ///< As the lead said.
  std::string loss;     ///< Why that one is not known, one line; empty where it is.
};

/// Another rank's part of a run that the lead decides over.
FollowOutcome follow_load(const LoadOptions& options, const storage::Clock& clock,
                          const std::atomic<bool>& interrupted, Company& company);

}  // namespace workload
