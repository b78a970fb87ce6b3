// Time, injected: production code never asks the operating system behind a caller's back.
#pragma once

#include <chrono>

namespace storage {

/// Durations and instants in nanoseconds. `SteadyTime` never jumps; `WallTime` is UTC since 1970.
using Nanoseconds = std::chrono::nanoseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Nanoseconds>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Nanoseconds>;

/// A source of time. Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime steady_now() const = 0;
  virtual WallTime wall_now() const = 0;
};

/// The operating system's clocks (CLOCK_MONOTONIC and CLOCK_REALTIME).
class SystemClock final : public Clock {
 public:
  SteadyTime steady_now() const override;
  WallTime wall_now() const override;
};

}  // namespace storage
