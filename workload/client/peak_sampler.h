// Cuts a running load into the samples that the peak finder is driven by.
#pragma once

#include <chrono>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/run_control.h"
#include "workload/measure/peak_finder.h"

namespace workload {

/// Pure but for the times and counts it is told. One thread at a time.
class PeakSampler {
 public:
  /// `counts` are those of the run at the start.
  PeakSampler(PeakFinderOptions options, storage::SteadyTime start, const LiveCounts& counts = {});

  /// Ends the sample where it is long enough and says enough, or where the finder finds it urgent.
  /// `measured`: the run is in a part whose figures count. Call it many times a sample.
  void look(const LiveCounts& counts, storage::SteadyTime now, bool measured);

  /// The load to offer.
  double rate_rps() const { return finder_.rate_rps(); }
  const PeakFinder& finder() const { return finder_; }

 private:
  /// The responses of a part of the sample.
  struct Batch {
    double responses = 0;
    double sum_ms = 0;
  };

  /// The sample so far.
  PeakSample sample_of(const LiveCounts& counts, storage::SteadyTime now) const;
  void end_batch(const LiveCounts& counts, storage::SteadyTime now);

  PeakFinder finder_;
  std::chrono::nanoseconds length_;
  storage::SteadyTime begin_;
  LiveCounts at_begin_;
  std::vector<Batch> batches_;
  storage::SteadyTime batch_begin_;
  LiveCounts at_batch_begin_;
  bool measured_ = false;
};

}  // namespace workload
