// When a run is over, as the command line says it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace workload {

/// `duration=10s`, `requests=1000` or `fill=2.0`.
struct Goal {
  enum class Kind {
    kDuration,
    kRequests,  ///< So many requests are sent.
    kFill,      ///< Fill traffic has reached so many cache sizes.
  };
  Kind kind = Kind::kDuration;
  std::chrono::nanoseconds duration{0};
  uint64_t requests = 0;
  double fill = 0;

  friend bool operator==(const Goal& left, const Goal& right) = default;
};

/// Nothing for anything else and for a goal that is met at the start; `error` then says what would
/// be right.
std::optional<Goal> parse_goal(std::string_view text, std::string& error);

}  // namespace workload
