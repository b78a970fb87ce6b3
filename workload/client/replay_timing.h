// When each request of a replay starts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/client/replay_objects.h"

namespace workload {

/// How a replay keeps time.
struct ReplayTiming {
  enum class Kind {
    kAsSoonAsPossible,  ///< In order, so many at a time.
    kRecorded,          ///< As logged: an open loop.
    kScaled,            ///< As logged, `scale` times as fast: an open loop.
  };
  Kind kind = Kind::kAsSoonAsPossible;
  double scale = 1;                                 ///< Above 0; 1 unless kScaled.
  std::optional<std::chrono::nanoseconds> gap_max;  ///< Longer gaps in the log are cut to this.

  /// Requests start when they are due, whether or not earlier ones have ended.
  bool open_loop() const { return kind != Kind::kAsSoonAsPossible; }
};

/// Reads `asap`, `recorded` or `scaled=K` (K above 0, at most a million); nothing for others.
std::optional<ReplayTiming> parse_replay_timing(std::string_view text);

/// `asap`, `recorded`, `scaled=10`.
std::string to_text(const ReplayTiming& timing);

/// When each step is due, since the first: gaps are cut first and scaled then; never falls. Empty
/// for kAsSoonAsPossible.
std::vector<std::chrono::nanoseconds> due_times(const std::vector<ReplayStep>& steps,
                                                const ReplayTiming& timing);

}  // namespace workload
