// When the requests of an open loop are due, whatever becomes of those before them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "storage/base/clock.h"
#include "storage/base/random.h"

namespace workload {

/// A process of arrivals whose rate may change at any time.
///
/// Arrivals have places on an axis of expected counts, at gaps of mean 1: exponential ones (a
/// Poisson process) or all equal. The integral of the rate over time turns a place into an instant
/// (the inversion method for Poisson processes of varying rate; Cinlar: "Introduction to Stochastic
/// Processes", 1975), so a change of the rate moves what is not due yet and leaves the rest.
///
/// Pure, and not safe for concurrent use.
class ArrivalSchedule {
 public:
  /// The rate is 0 until set_rate().
  ArrivalSchedule(bool poisson, storage::Random random, storage::SteadyTime start);

  /// The rate from `now` on; a `now` before the last change counts as that.
  void set_rate(double rate_rps, storage::SteadyTime now);
  double rate_rps() const { return segments_.back().rate_rps; }

  /// The place of the next arrival, which takes `requests` (at least 1) gaps: what comes after it
  /// comes so many gaps later.
  double take(uint64_t requests);
  /// When a place is due; nothing while the rate is 0 and it has not come.
  std::optional<storage::SteadyTime> due(double place) const;
  /// Arrivals that were not taken and are due before `time`, each of one request: the number that
  /// is expected, as they are not drawn.
  uint64_t not_taken_until(storage::SteadyTime time) const;

 private:
  /// A stretch of constant rate.
  struct Segment {
    storage::SteadyTime start{};
    double place = 0;  ///< At its start.
    double rate_rps = 0;
  };
  double gap();

  bool poisson_;
  storage::Random random_;
  double next_place_;
  std::deque<Segment> segments_;
};

}  // namespace workload
