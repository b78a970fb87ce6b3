#include "workload/measure/peak_finder.h"

#include <algorithm>
#include <cmath>

namespace workload {
namespace {

constexpr double kClimb = 1.5;
constexpr double kStepGrowth = 1.5;
constexpr double kStepShrink = 0.5;
constexpr double kStepRange = 8;        ///< Steps shrink to this part of the first one.
constexpr double kStepGrowthRange = 2;  ///< And grow to so many times it.
constexpr int kRepetitionsToGrow = 3;   ///< Fewer in one direction may be chance.
constexpr double kOverloadFactor = 2;   ///< Of the window's upper bound.
constexpr double kFailedShareMax = 0.01;
constexpr double kDrainFactorMin = 0.3;  ///< Of what the system did in overload.
constexpr double kResumeFactor = 0.97;   ///< Likewise, once the backlog is gone.
constexpr double kFallMax = 0.1;         ///< At most to this part of the load at once.
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
    if (point.overload || point.draining || sample.good == 0) continue;
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
    : options_(options), rate_rps_(options.start_rps), step_(options.step) {}

double PeakFinder::little_ms(uint64_t unfinished, double rate_rps) {
  return rate_rps <= 0 ? 0 : static_cast<double>(unfinished) / rate_rps * 1e3;
}

bool PeakFinder::urgent(uint64_t unfinished) const {
  // A single robot's page can be many requests at once: a handful is no backlog.
  constexpr uint64_t kHandful = 32;
  if (draining_) return little_ms(unfinished, rate_rps_) <= options_.window_max_ms;
  return unfinished > kHandful &&
         little_ms(unfinished, rate_rps_) > kOverloadFactor * options_.window_max_ms;
}

void PeakFinder::set_rate(double rate_rps) {
  rate_rps_ = std::clamp(rate_rps, std::min(1e-3, options_.max_rps), options_.max_rps);
}

int PeakFinder::direction_for(double judged_ms) const {
  const double low = options_.window_min_ms;
  const double high = options_.window_max_ms;
  // Near saturation the response time is the integral of the excess load, and steps by its value
  // alone would swing for ever: where it is going counts too.
  const double next_ms = last_judged_ms_ ? 2 * judged_ms - *last_judged_ms_ : judged_ms;
  if (judged_ms < low) return next_ms < high ? 1 : 0;
  if (judged_ms > high) return next_ms > low ? -1 : 0;
  return next_ms < low ? 1 : next_ms > high ? -1 : 0;
}

void PeakFinder::step_towards(int direction) {
  if (direction == 0) {
    repetitions_ = 0;
    return;
  }
  if (direction == -last_direction_) {
    step_ = std::max(step_ * kStepShrink, options_.step / kStepRange);
    repetitions_ = 0;
  } else if (++repetitions_ >= kRepetitionsToGrow) {
    step_ = std::min(step_ * kStepGrowth, options_.step * kStepGrowthRange);
  }
  last_direction_ = direction;
  set_rate(direction > 0 ? rate_rps_ * (1 + step_) : rate_rps_ / (1 + step_));
}

void PeakFinder::fall(const PeakSample& sample) {
  const double done_rps =
      sample.length_s > 0 ? static_cast<double>(sample.good) / sample.length_s : 0;
  // A sample may be too short for responses; and what was done is never more than was offered.
  capacity_rps_ = std::clamp(done_rps, sample.offered_rps * kFallMax, sample.offered_rps);
  step_ = climbing_ ? options_.step * kStepShrink
                    : std::max(step_ * kStepShrink, options_.step / kStepRange);
  climbing_ = false;
  draining_ = true;
  // So much less than the system can do that what is too much is gone within a sample.
  const double backlog =
      static_cast<double>(sample.unfinished) - capacity_rps_ * options_.target_ms() / 1e3;
  const double drain_rps = capacity_rps_ - std::max(0.0, backlog) / options_.sample_s;
  set_rate(std::clamp(drain_rps, capacity_rps_ * kDrainFactorMin, capacity_rps_ * kResumeFactor));
}

void PeakFinder::drained() {
  draining_ = false;
  last_direction_ = 0;
  repetitions_ = 0;
  last_judged_ms_.reset();
  set_rate(capacity_rps_ * kResumeFactor);
}

void PeakFinder::add(const PeakSample& sample) {
  PeakPoint point;
  point.sample = sample;
  const double waiting_ms = little_ms(sample.unfinished, sample.offered_rps);
  point.judged_ms = sample.response_time_ms.value_or(waiting_ms);
  point.draining = draining_;
  const bool failing = failed_share(sample) > kFailedShareMax;
  if (draining_) {
    const bool backlog = waiting_ms > options_.window_max_ms;
    points_.push_back(point);
    if (!backlog) {
      drained();
    } else if (failing || static_cast<double>(sample.good) / std::max(sample.length_s, 1e-9) <
                              sample.offered_rps) {
      // What the system does is less than was thought: the backlog would never go.
      fall(sample);
    }
    return;
  }
  const double limit_ms = kOverloadFactor * options_.window_max_ms;
  if (waiting_ms > limit_ms) point.judged_ms = std::max(point.judged_ms, waiting_ms);
  point.overload = failing || point.judged_ms > limit_ms;
  points_.push_back(point);
  held_at_max_ = false;
  if (point.overload) {
    last_judged_ms_.reset();
    return fall(sample);
  }
  const double judged_ms = point.judged_ms;
  const int direction = direction_for(judged_ms);
  last_judged_ms_ = judged_ms;
  if (judged_ms >= options_.window_min_ms) climbing_ = false;
  if (direction > 0 && rate_rps_ >= options_.max_rps * kAtMax) {
    held_at_max_ = true;
    return;
  }
  if (climbing_) return set_rate(rate_rps_ * kClimb);
  step_towards(direction);
}

std::optional<double> interpolate_rate(const std::vector<PeakPoint>& points, double target_ms) {
  const std::vector<Level> levels = isotonic_levels(points);
  if (levels.empty() || target_ms < levels.front().response_ms ||
      target_ms > levels.back().response_ms) {
    return std::nullopt;
  }
  for (size_t index = 1; index < levels.size(); ++index) {
    const Level& low = levels[index - 1];
    const Level& high = levels[index];
    if (target_ms > high.response_ms) continue;
    const double share = (target_ms - low.response_ms) / (high.response_ms - low.response_ms);
    return low.rate_rps + share * (high.rate_rps - low.rate_rps);
  }
  return levels.front().rate_rps;
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
  summary.rate_at_target_rps = interpolate_rate(measured, summary.target_ms);
  if (!summary.rate_at_target_rps) {
    const size_t half = points_.size() / 2;
    summary.rate_at_target_rps = interpolate_rate(
        {points_.begin() + static_cast<std::ptrdiff_t>(half), points_.end()}, summary.target_ms);
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
