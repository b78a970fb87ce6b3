#include "workload/client/replay_timing.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace workload {

std::optional<ReplayTiming> parse_replay_timing(std::string_view text) {
  constexpr std::string_view kScaledPrefix = "scaled=";
  constexpr double kScaleMax = 1e6;
  ReplayTiming timing;
  if (text == "asap") return timing;
  if (text == "recorded") {
    timing.kind = ReplayTiming::Kind::kRecorded;
    return timing;
  }
  if (!text.starts_with(kScaledPrefix)) return std::nullopt;
  const std::string_view number = text.substr(kScaledPrefix.size());
  const char* const number_end = number.data() + number.size();
  const auto [end, error] = std::from_chars(number.data(), number_end, timing.scale);
  // Written so that a NaN fails too.
  const bool in_range = timing.scale > 0 && timing.scale <= kScaleMax;
  if (error != std::errc() || end != number_end || !in_range) return std::nullopt;
  timing.kind = ReplayTiming::Kind::kScaled;
  return timing;
}

std::string to_text(const ReplayTiming& timing) {
  if (timing.kind == ReplayTiming::Kind::kAsSoonAsPossible) return "asap";
  if (timing.kind == ReplayTiming::Kind::kRecorded) return "recorded";
  std::ostringstream text;
  text << "scaled=" << timing.scale;
  return text.str();
}

std::vector<std::chrono::nanoseconds> due_times(const std::vector<ReplayStep>& steps,
                                                const ReplayTiming& timing) {
  // A century: slow scales of long logs must not overflow.
  constexpr double kDueNsMax = 3.2e18;
  std::vector<std::chrono::nanoseconds> due;
  if (!timing.open_loop()) return due;
  due.reserve(steps.size());
  std::chrono::nanoseconds previous{0};
  double now_ns = 0;
  for (const auto& step : steps) {
    auto gap = std::max(step.due - previous, std::chrono::nanoseconds(0));
    if (timing.gap_max) gap = std::min(gap, *timing.gap_max);
    previous = step.due;
    now_ns = std::min(now_ns + static_cast<double>(gap.count()) / timing.scale, kDueNsMax);
    due.emplace_back(static_cast<int64_t>(now_ns));
  }
  return due;
}

}  // namespace workload
