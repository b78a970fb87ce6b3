// How slow a peer may be.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "storage/base/clock.h"

namespace workload {

/// Longest silence within a body, and what a body may take whatever its size.
inline constexpr auto kBodyPatience = std::chrono::seconds(60);
/// What a body must have on average behind that.
inline constexpr uint64_t kBodyPaceBytesPerS = 1024;

/// When a body that began at `begun` and has come so far by `now` is given up: a minute without a
/// step, or slower on the whole than the least pace. A byte now and then is not enough.
inline storage::SteadyTime body_deadline(storage::SteadyTime begun, storage::SteadyTime now,
                                         uint64_t bytes_so_far) {
  const auto by_pace = std::chrono::seconds(bytes_so_far / kBodyPaceBytesPerS);
  return std::min(now + kBodyPatience, begun + kBodyPatience + by_pace);
}

}  // namespace workload
