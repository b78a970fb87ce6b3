// Cuts a running load into the samples that the peak finder is driven by.
#pragma once

#include "storage/base/clock.h"
#include "workload/client/run_control.h"
#include "workload/measure/peak_finder.h"

namespace workload {

/// Pure but for the times and counts it is told. One thread at a time.
class PeakSampler {
 public:
  PeakSampler(PeakFinderOptions options, storage::SteadyTime start);

  /// Ends the sample where it is long enough, or where the finder finds it urgent. `measured`: the
  /// run is in a part whose figures count. Call it many times a sample.
  void look(const LiveCounts& counts, storage::SteadyTime now, bool measured);

  /// The load to offer.
  double rate_rps() const { return finder_.rate_rps(); }
  const PeakFinder& finder() const { return finder_; }

 private:
  PeakFinder finder_;
  std::chrono::nanoseconds length_;
  storage::SteadyTime begin_;
  LiveCounts at_begin_;
  bool measured_ = false;
};

}  // namespace workload
