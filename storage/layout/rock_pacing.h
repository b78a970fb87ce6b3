// When a rock store's reads and writes may go to the disk, and which would have to wait too long.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>

#include "storage/base/clock.h"
#include "storage/base/error.h"

namespace storage {

/// The schedule of a rate limit, and an estimate of how long the next operation would wait. As
/// Squid's options `max-swap-rate` and `swap-timeout` of a rock cache_dir: operations are spread
/// evenly, a short pause may be made up for, and an operation is declined where it would have to
/// wait for longer than the timeout, either for its turn in the schedule or because the oldest one
/// under way has been waiting for that long already. Pure: it is told the time and never waits.
class RockPacing {
 public:
  /// `rate_max` in operations a second, 0: no limit. `wait_max` 0: nothing is declined.
  RockPacing(uint64_t rate_max, std::chrono::nanoseconds wait_max);

  /// How long an operation that begins now would wait, as far as one can tell.
  std::chrono::nanoseconds expected_wait(SteadyTime now) const;
  /// Whether a new object may be begun or opened now.
  bool admits(SteadyTime now) const;

  /// Takes the next place in the schedule; returns how long to wait for it.
  std::chrono::nanoseconds take_turn(SteadyTime now);

  /// Keeps one operation in mind from its beginning to its end.
  class UnderWay {
   public:
    UnderWay(RockPacing& pacing, SteadyTime begin);
    ~UnderWay();
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

   private:
    RockPacing* pacing_ = nullptr;  // null where nothing is declined for its waiting
    std::list<SteadyTime>::iterator at_;
  };

 private:
  // What was not used in the past may be made up for within this.
  static constexpr std::chrono::milliseconds kBurst{10};

  const std::chrono::nanoseconds interval_;
  const std::chrono::nanoseconds wait_max_;
  std::optional<SteadyTime> next_;   // the next free place in the schedule
  std::list<SteadyTime> under_way_;  // when they began, the oldest first
};

}  // namespace storage
