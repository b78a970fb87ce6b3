#include "workload/client/load_shape.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr uint64_t kRobotsMax = 100'000;
constexpr uint64_t kConnectionsMax = 1'000'000;
constexpr uint64_t kQueueMax = 10'000'000;
constexpr double kRateMin = 1e-3;
constexpr double kRateMax = 1e6;
constexpr std::chrono::milliseconds kSampleMin{10};
constexpr std::chrono::hours kSampleMax{24};
constexpr std::chrono::milliseconds kWindowMin{1500};
constexpr std::chrono::milliseconds kWindowMax{1750};
constexpr std::chrono::seconds kSample{60};
constexpr double kStartRps = 10;
constexpr double kMaxRps = 100'000;
constexpr double kStepPercent = 5;

std::optional<double> parse_rate(std::string_view text, double max = kRateMax) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < kRateMin || value > max) return std::nullopt;
  return value;
}

std::optional<uint64_t> parse_bounded(std::string_view text, uint64_t min, uint64_t max) {
  const auto count = storage::parse_count(text);
  if (!count || *count < min || *count > max) return std::nullopt;
  return count;
}

std::optional<std::chrono::nanoseconds> parse_time(std::string_view text) {
  const auto duration = storage::parse_duration(text);
  if (!duration || duration->count() <= 0) return std::nullopt;
  return duration;
}

/// `1.5s..1.75s`.
bool parse_window(std::string_view text, PeakShape& peak) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return false;
  peak.window_min = parse_time(text.substr(0, dots));
  peak.window_max = parse_time(text.substr(dots + 2));
  return peak.window_min && peak.window_max && *peak.window_min < *peak.window_max;
}

/// Options of both open loops.
bool set_open_loop_option(LoadShape& shape, std::string_view name, std::string_view value) {
  if (name == "poisson" || name == "constant") {
    shape.constant = name == "constant";
    return value.empty();
  }
  if (name != "connections" && name != "queue") return false;
  const bool queue = name == "queue";
  const auto count = parse_bounded(value, queue ? 0 : 1, queue ? kQueueMax : kConnectionsMax);
  if (!count) return false;
  (queue ? shape.queue_max : shape.connections_max) = *count;
  return true;
}

bool set_peak_option(LoadShape& shape, std::string_view name, std::string_view value) {
  PeakShape& peak = shape.peak;
  if (name == "window") return parse_window(value, peak);
  if (name == "sample") {
    peak.sample = parse_time(value);
    return peak.sample && *peak.sample >= kSampleMin && *peak.sample <= kSampleMax;
  }
  if (name == "start" || name == "max") {
    auto& rate = name == "start" ? peak.start_rps : peak.max_rps;
    rate = parse_rate(value);
    return rate.has_value();
  }
  if (name == "step") {
    if (value.ends_with('%')) value.remove_suffix(1);
    peak.step_percent = parse_rate(value, 50);
    return peak.step_percent.has_value();
  }
  return set_open_loop_option(shape, name, value);
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// The part that is wrong; empty where all are right.
std::string parse_parts(std::string_view text, LoadShape& shape) {
  bool first = true;
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (!first) {
      const bool right =
          shape.kind == LoadShape::Kind::kPeak
              ? set_peak_option(shape, name, value)
              : shape.kind == LoadShape::Kind::kRate && set_open_loop_option(shape, name, value);
      if (!right) return quoted(part);
    } else if (name == "best-effort" || name == "robots") {
      shape.kind = name == "robots" ? LoadShape::Kind::kRobots : LoadShape::Kind::kBestEffort;
      const auto robots = parse_bounded(value, 1, kRobotsMax);
      if (!robots) return quoted(part);
      shape.robots = *robots;
    } else if (name == "rate") {
      shape.kind = LoadShape::Kind::kRate;
      const auto rate = parse_rate(value);
      if (!rate) return quoted(part);
      shape.rate_rps = *rate;
    } else if (part == "peak") {
      shape.kind = LoadShape::Kind::kPeak;
    } else {
      return quoted(part);
    }
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    first = false;
  }
  const PeakShape& peak = shape.peak;
  if (!peak.start_rps || *peak.start_rps <= peak.max_rps.value_or(kMaxRps)) return {};
  return "a start above max";
}

}  // namespace

PeakFinderOptions PeakShape::resolve(double time_scale) const {
  const auto scaled_ms = [time_scale](std::chrono::nanoseconds value) {
    return std::chrono::duration<double, std::milli>(value).count() / time_scale;
  };
  const auto ms = [](std::chrono::nanoseconds value) {
    return std::chrono::duration<double, std::milli>(value).count();
  };
  PeakFinderOptions options;
  options.window_min_ms = window_min ? ms(*window_min) : scaled_ms(kWindowMin);
  options.window_max_ms = window_max ? ms(*window_max) : scaled_ms(kWindowMax);
  options.sample_s = (sample ? ms(*sample) : scaled_ms(kSample)) / 1e3;
  options.max_rps = max_rps.value_or(kMaxRps);
  options.start_rps = std::min(start_rps.value_or(kStartRps * time_scale), options.max_rps);
  options.step = step_percent.value_or(kStepPercent) / 100;
  return options;
}

std::optional<LoadShape> parse_load_shape(std::string_view text, std::string& error) {
  LoadShape shape;
  const std::string wrong = parse_parts(text, shape);
  if (wrong.empty()) return shape;
  const std::string where = wrong == quoted(text) ? "" : " (wrong is: " + wrong + ")";
  error = "'" + std::string(text) + "' is no load" + where +
          "; right would be best-effort=N or robots=N (N from 1 to 100000), "
          "rate=N[,constant][,connections=N][,queue=N] (requests/s, 0.001 to a million), or "
          "peak[,window=1.5s..1.75s][,sample=60s][,start=RATE][,max=RATE][,step=5%] (a window from "
          "a lower to a "
          "higher time, samples of 10ms to a day, steps to 50%)";
  return std::nullopt;
}

}  // namespace workload
