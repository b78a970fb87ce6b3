// A clock that stands still until a test moves it.
#pragma once

#include <atomic>

#include "storage/base/clock.h"

namespace testing_support {

/// Starts at one day on the steady side and at 2024-01-01 00:00:00 UTC on the wall side. Safe from
/// any thread.
class FakeClock final : public storage::Clock {
 public:
  storage::SteadyTime steady_now() const override {
    return storage::SteadyTime(storage::Nanoseconds(steady_ns_.load()));
  }
  storage::WallTime wall_now() const override {
    return storage::WallTime(storage::Nanoseconds(wall_ns_.load()));
  }

  /// Moves both clocks forward.
  void advance(storage::Nanoseconds duration) {
    steady_ns_ += duration.count();
    wall_ns_ += duration.count();
  }
  /// Sets the wall clock alone, as an operator or NTP may do at any time.
  void set_wall(storage::WallTime time) { wall_ns_ = time.time_since_epoch().count(); }

 private:
  std::atomic<int64_t> steady_ns_{86'400'000'000'000};
  std::atomic<int64_t> wall_ns_{1'704'067'200'000'000'000};
};

}  // namespace testing_support
