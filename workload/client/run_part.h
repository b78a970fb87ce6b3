// What a part of a run's threads have measured, put together.
#pragma once

#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/ideal_tally.h"
#include "workload/client/load_worker.h"
#include "workload/measure/recorder.h"

namespace workload {

/// The measurements of threads, of one process or of several. Merging is exact: every counter is
/// the sum of the parts'. One thread at a time.
struct RunPart {
  RunPart(std::chrono::nanoseconds sample_interval, size_t phase_count)
      : recorder(sample_interval), phases(phase_count) {}

  /// Adds a thread that has ended.
  void add(const LoadWorker& worker);
  /// Adds another part of the same run.
  void merge(const RunPart& other);

  RunRecorder recorder;              ///< Its series and latency log; its own counts stay empty.
  std::vector<Measurements> phases;  ///< By phase; empty for one that is not recorded.
  IdealTally ideal;
  WorkerHealth health;         ///< Sums over the threads.
  double cpu_percent_max = 0;  ///< Of the busiest thread.
  storage::SteadyTime last_counted_end{};
  std::string first_error;
};

}  // namespace workload
