// The pace of an open loop that is to fill a cache soon, before anything is measured.
#pragma once

#include "storage/base/clock.h"
#include "workload/client/run_control.h"

namespace workload {

/// Keeps about as many requests under way as a thousand robots without pause would, so that the
/// fill is fast on any system and leaves none of them a backlog. Pure but for the times and counts
/// it is told. One thread at a time.
class FillPace {
 public:
  FillPace(double start_rps, storage::SteadyTime start)
      : start_rps_(start_rps), rate_rps_(start_rps), last_(start) {}

  /// Sets the rate anew where a quarter of a second has passed; call it more often.
  void look(const LiveCounts& counts, storage::SteadyTime now);
  /// Requests a second; never below the rate at the start.
  double rate_rps() const { return rate_rps_; }

 private:
  double start_rps_;
  double rate_rps_;
  storage::SteadyTime last_;
  uint64_t ended_ = 0;
};

}  // namespace workload
