// When a run is over, as the command line says it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace workload {

/// `duration=10s`, `requests=1000`, `fill=2.0`, or several of them with commas between: the first
/// that is reached is the end.
struct Goal {
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<uint64_t> requests;  ///< So many requests are sent.
  std::optional<double> fill;        ///< Fill traffic has reached so many cache sizes.

  /// A number of requests and nothing else.
  bool only_requests() const { return requests && !duration && !fill; }
  friend bool operator==(const Goal& left, const Goal& right) = default;
};

/// Nothing for anything else, for a goal that is met at the start and for one that stands there
/// twice; `error` then says what is wrong or what would be right.
std::optional<Goal> parse_goal(std::string_view text, std::string& error);

}  // namespace workload
