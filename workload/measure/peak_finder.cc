#include "workload/measure/peak_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace workload {
namespace {

constexpr double kClimb = 1.5;
constexpr double kGain = 0.4;  ///< Of the distance to the target, a sample.
constexpr double kStepGrowth = 1.5;
constexpr double kStepRange = 8;        ///< Steps begin at this part of the one that was asked for.
constexpr double kStepGrowthRange = 2;  ///< And grow to so many times it.
constexpr int kRepetitionsToStep = 2;   ///< One sample on a side may be chance.
constexpr double kOverloadFactor = 2;   ///< Of the window's upper bound.
constexpr double kFailedShareMax = 0.01;
constexpr double kFallMax = 0.3;        ///< At most to this part of what the system can do.
constexpr double kDoneMin = 0.1;        ///< Of the offered load: a sample may be too short.
constexpr double kBelowFailing = 0.97;  ///< Of a load at which requests failed.
constexpr double kCeilingPart = 16;
constexpr size_t kDoneSamples = 8;
constexpr double kSettledRange = 0.05;
constexpr double kSettledWindowSlack = 0.1;
constexpr double kAtMax = 0.999;

double failed_share(const PeakSample& sample) {
  const double ended = static_cast<double>(sample.good + sample.failed);
  return ended == 0 ? 0 : static_cast<double>(sample.failed) / ended;
}

/// A stretch of the curve on which regression has made response times equal.
struct Level {
  double rate_rps = 0;  ///< Weighted mean of its points; so is the next.
  double response_ms = 0;
  double weight = 0;
};

std::vector<Level> isotonic_levels(const std::vector<PeakPoint>& points) {
  std::vector<Level> levels;
  for (const PeakPoint& point : points) {
    const PeakSample& sample = point.sample;
    if (point.overload || point.draining || sample.good == 0 || sample.length_s <= 0) continue;
    levels.push_back({sample.offered_rps, point.judged_ms, static_cast<double>(sample.good)});
  }
  std::stable_sort(levels.begin(), levels.end(), [](const Level& left, const Level& right) {
    return left.rate_rps < right.rate_rps;
  });
  std::vector<Level> pooled;
  for (const Level& level : levels) {
    pooled.push_back(level);
    while (pooled.size() > 1) {
      Level& last = pooled.back();
      Level& before = pooled[pooled.size() - 2];
      const bool rises = before.response_ms < last.response_ms && before.rate_rps < last.rate_rps;
      if (rises) break;
      const double weight = before.weight + last.weight;
      before.rate_rps = (before.rate_rps * before.weight + last.rate_rps * last.weight) / weight;
      before.response_ms =
          (before.response_ms * before.weight + last.response_ms * last.weight) / weight;
      before.weight = weight;
      pooled.pop_back();
    }
  }
  return pooled;
}

}  // namespace

std::string_view name_of(PeakLimit limit) {
  switch (limit) {
    case PeakLimit::kNone:
      return "none";
    case PeakLimit::kOffered:
      return "offered";
    case PeakLimit::kSystem:
      return "system";
  }
  return "none";
}

PeakFinder::PeakFinder(PeakFinderOptions options)
    : options_(options),
      rate_rps_(options.start_rps),
      step_(options.step / kStepRange),
      ceiling_rps_(std::numeric_limits<double>::max()) {}

double PeakFinder::little_ms(uint64_t unfinished, double rate_rps) {
  return rate_rps <= 0 ? 0 : static_cast<double>(unfinished) / rate_rps * 1e3;
}

bool PeakFinder::urgent(uint64_t unfinished) const {
  // A single robot's page can be many requests at once: a handful is no backlog.
  constexpr uint64_t kHandful = 32;
  if (draining_) return little_ms(unfinished, capacity_rps()) <= options_.target_ms();
  return unfinished > kHandful &&
         little_ms(unfinished, rate_rps_) > kOverloadFactor * options_.window_max_ms;
}

void PeakFinder::set_rate(double rate_rps) {
  const double max_rps = std::min(options_.max_rps, ceiling_rps_);
  rate_rps_ = std::clamp(rate_rps, std::min(1e-3, max_rps), max_rps);
}

void PeakFinder::note_done(const PeakSample& sample) {
  done_.push_back(
      {std::max(static_cast<double>(sample.good), sample.offered_rps * sample.length_s * kDoneMin),
       sample.length_s});
  if (done_.size() > kDoneSamples) done_.pop_front();
}

double PeakFinder::capacity_rps() const {
  double good = 0;
  double length_s = 0;
  for (const Done& done : done_) {
    good += done.good;
    length_s += done.length_s;
  }
  return length_s > 0 ? good / length_s : rate_rps_;
}

double PeakFinder::excess(const PeakSample& sample) const {
  const double now_ms = little_ms(sample.unfinished, capacity_rps());
  return (now_ms - options_.target_ms()) / 1e3 / options_.sample_s;
}

void PeakFinder::fall(const PeakSample& sample, bool failing) {
  climbing_ = false;
  draining_ = true;
  const double capacity = capacity_rps();
  if (failing) ceiling_rps_ = std::min(capacity, sample.offered_rps) * kBelowFailing;
  set_rate(capacity * std::clamp(1 - excess(sample), kFallMax, 1.0));
}

void PeakFinder::steer(const PeakSample& sample, double judged_ms) {
  const int side = judged_ms < options_.window_min_ms   ? -1
                   : judged_ms > options_.window_max_ms ? 1
                                                        : 0;
  repetitions_ = side != 0 && side == side_ ? repetitions_ + 1 : 1;
  side_ = side;
  const double change = kGain * excess(sample);
  double rate = capacity_rps() * std::clamp(1 - change, kFallMax, 1 + options_.step);
  if (side == 0 || repetitions_ < kRepetitionsToStep) {
    step_ = options_.step / kStepRange;
  } else {
    // Above the window, but on the way back into it: no reason for more.
    const bool returning = side > 0 && little_ms(sample.unfinished, capacity_rps()) < judged_ms;
    if (side < 0) rate = std::max(rate, rate_rps_ * (1 + step_));
    if (side > 0 && !returning) rate = std::min(rate, rate_rps_ / (1 + step_));
    step_ = std::min(step_ * kStepGrowth, options_.step * kStepGrowthRange);
  }
  set_rate(rate);
}

void PeakFinder::add(const PeakSample& sample) {
  PeakPoint point;
  point.sample = sample;
  point.draining = draining_;
  const double waiting_ms = little_ms(sample.unfinished, sample.offered_rps);
  const double limit_ms = kOverloadFactor * options_.window_max_ms;
  point.judged_ms = sample.response_time_ms.value_or(waiting_ms);
  if (!draining_ && waiting_ms > limit_ms) {
    point.judged_ms = std::max(point.judged_ms, waiting_ms);
  }
  const bool failing = failed_share(sample) > kFailedShareMax;
  point.overload = failing || (!draining_ && point.judged_ms > limit_ms);
  points_.push_back(point);
  held_at_max_ = false;

  const bool full = point.overload || point.judged_ms >= options_.window_min_ms;
  if (full) note_done(sample);
  if (!failing) ceiling_rps_ *= 1 + options_.step / kCeilingPart;
  const bool backlog = little_ms(sample.unfinished, capacity_rps()) > options_.window_max_ms;
  if (point.overload || (draining_ && backlog)) return fall(sample, failing);
  draining_ = false;
  if (full) climbing_ = false;
  if (point.judged_ms < options_.window_min_ms && rate_rps_ >= options_.max_rps * kAtMax) {
    held_at_max_ = true;
    return;
  }
  if (climbing_) return set_rate(rate_rps_ * kClimb);
  steer(sample, point.judged_ms);
}

std::optional<double> interpolate_rate(const std::vector<PeakPoint>& points,
                                       const PeakFinderOptions& options) {
  const std::vector<Level> levels = isotonic_levels(points);
  if (levels.empty()) return std::nullopt;
  const double target_ms = options.target_ms();
  const auto in_window = [&options](const Level& level) {
    return level.response_ms >= options.window_min_ms && level.response_ms <= options.window_max_ms;
  };
  // In a full system the rate hardly depends on the response time, and all points are one level.
  if (target_ms <= levels.front().response_ms) {
    return in_window(levels.front()) ? std::optional(levels.front().rate_rps) : std::nullopt;
  }
  if (target_ms >= levels.back().response_ms) {
    return in_window(levels.back()) ? std::optional(levels.back().rate_rps) : std::nullopt;
  }
  size_t above = 1;
  while (levels[above].response_ms < target_ms) ++above;
  const Level& low = levels[above - 1];
  const Level& high = levels[above];
  const double share = (target_ms - low.response_ms) / (high.response_ms - low.response_ms);
  return low.rate_rps + share * (high.rate_rps - low.rate_rps);
}

PeakSummary PeakFinder::summary() const {
  PeakSummary summary;
  summary.target_ms = options_.target_ms();
  summary.samples = points_.size();
  std::vector<PeakPoint> measured;
  bool reached = false;
  double loads = 0;
  double weighted_ms = 0;
  double weight = 0;
  for (const PeakPoint& point : points_) {
    if (point.overload) ++summary.overloads;
    reached = reached || point.overload || point.judged_ms >= options_.window_min_ms;
    if (!point.sample.measured) continue;
    measured.push_back(point);
    const double rate = point.sample.offered_rps;
    loads += rate;
    summary.load_low_rps = std::min(summary.load_low_rps.value_or(rate), rate);
    summary.load_high_rps = std::max(summary.load_high_rps.value_or(rate), rate);
    weighted_ms += point.judged_ms * static_cast<double>(point.sample.good);
    weight += static_cast<double>(point.sample.good);
  }
  summary.limit = held_at_max_ ? PeakLimit::kOffered
                  : reached    ? PeakLimit::kSystem
                               : PeakLimit::kNone;
  // The part that counts, where it lies on both sides of the target: earlier the cache was another.
  summary.rate_at_target_rps = interpolate_rate(measured, options_);
  if (!summary.rate_at_target_rps) {
    const size_t half = points_.size() / 2;
    summary.rate_at_target_rps = interpolate_rate(
        {points_.begin() + static_cast<std::ptrdiff_t>(half), points_.end()}, options_);
  }
  if (measured.empty()) return summary;
  const double mean = loads / static_cast<double>(measured.size());
  summary.load_mean_rps = mean;
  const bool steady = *summary.load_low_rps >= mean * (1 - kSettledRange) &&
                      *summary.load_high_rps <= mean * (1 + kSettledRange);
  const double mean_ms = weight > 0 ? weighted_ms / weight : 0;
  summary.settled = steady && mean_ms >= options_.window_min_ms * (1 - kSettledWindowSlack) &&
                    mean_ms <= options_.window_max_ms * (1 + kSettledWindowSlack);
  return summary;
}

}  // namespace workload
