#include "workload/measure/peak_finder.h"

#include <algorithm>
#include <cmath>

namespace workload {
namespace {

// How the load moves. Steps are of its logarithm.
constexpr double kStepMax = 0.6931471805599453;  ///< Twice, or half the load.
/// Of what would bring a backlog to the target within a sample, per sample: the distance shrinks to
/// six tenths. Poisson arrivals then scatter it by 1.25 times what a single sample brings.
constexpr double kGain = 0.4;
/// A whole step from half the target away: response times scatter by that near saturation.
constexpr double kWholeStepAt = 0.5;
/// The smallest step, over the target by a sample's length. A full queue integrates what is too
/// much, and steps integrate it again; up to kGain^2 / 4 such a loop is damped without overshoot.
constexpr double kStepMin = kGain * kGain / 4 * kWholeStepAt;
constexpr double kStepShrink = 2;       ///< Where the response time has come to the other side.
constexpr double kStepGrowth = 1.35;    ///< A sample, where it stays on one side
constexpr int kRun = 7;                 ///< for more samples than chance would have it there.
constexpr double kFallMax = 0.3;        ///< At most to this part of what the system can do.
constexpr double kBelowFailing = 0.97;  ///< Of a load at which requests failed.

// What is overload.
constexpr double kOverloadFactor = 2;    ///< Of the window's upper bound.
constexpr double kBacklogGrowth = 0.05;  ///< Of the offered load: that much was not carried,
constexpr double kBacklogNoise = 4;      ///< and so many standard deviations of Poisson counts.
constexpr double kHandful = 32;          ///< A single page can be many requests at once.
constexpr double kFailedShareMax = 0.01;
constexpr double kDoneMin = 0.1;  ///< Of the offered load: a sample may be too short.

// What is chance.
constexpr uint64_t kGoodMin = 1000;      ///< Responses that make a sample: 3 % of a mean.
constexpr uint64_t kGoodMinClear = 100;  ///< Where it is clear on which side of the window it lies.
constexpr double kClear = 3;             ///< Standard errors that are clear.
constexpr double kSignificant = 2;       ///< Standard errors that are hardly chance (95 %).
constexpr double kBaseRatio = 0.9;       ///< What half the load should lower a response time to.

// What is reported.
constexpr size_t kRecent = 16;  ///< Samples that say what the limit is now.
constexpr double kSameLoad = 0.01;
constexpr double kSettledRange = 0.05;
constexpr double kSettledWindowSlack = 0.1;
constexpr double kAtMax = 0.999;

double failed_share(const PeakSample& sample) {
  const double ended = static_cast<double>(sample.good + sample.failed);
  return ended == 0 ? 0 : static_cast<double>(sample.failed) / ended;
}

/// By Little's law, what those that have not ended wait at this rate.
double little_ms(uint64_t unfinished, double rate_rps) {
  return rate_rps <= 0 ? 0 : static_cast<double>(unfinished) / rate_rps * 1e3;
}

/// How far from the mean the true one may lie; anywhere where that is not known.
double noise_ms(const PeakSample& sample, double factor) {
  return factor * sample.error_ms.value_or(sample.response_time_ms.value_or(0));
}

/// A stretch of the curve on which regression has made response times equal.
struct Level {
  double rate_rps = 0;  ///< Weighted mean of its points; so is the next.
  double response_ms = 0;
  double weight = 0;
};

/// Whether a point says what comes of its load.
bool counts(const PeakPoint& point) {
  return point.sample.good > 0 && !point.overload && !point.draining;
}

std::vector<Level> isotonic_levels(const std::vector<PeakPoint>& points) {
  std::vector<Level> levels;
  for (const PeakPoint& point : points) {
    const PeakSample& sample = point.sample;
    if (!counts(point)) continue;
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
      const bool rises = before.response_ms < last.response_ms &&
                         before.rate_rps * (1 + kSameLoad) < last.rate_rps;
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

/// On which side of the target all levels lie: -1 below, 1 above; 0 where on both, then with the
/// rate at the target.
struct Crossing {
  int side = 0;
  double rate_rps = 0;
};

Crossing crossing_of(const std::vector<Level>& levels, double target_ms) {
  if (levels.empty() || levels.back().response_ms < target_ms) return {-1, 0};
  if (levels.front().response_ms > target_ms) return {1, 0};
  size_t above = 0;
  while (levels[above].response_ms < target_ms) ++above;
  const Level& high = levels[above];
  if (above == 0) return {0, high.rate_rps};
  const Level& low = levels[above - 1];
  const double share = (target_ms - low.response_ms) / (high.response_ms - low.response_ms);
  return {0, low.rate_rps + share * (high.rate_rps - low.rate_rps)};
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

PeakFinder::PeakFinder(PeakFinderOptions options, uint64_t unfinished)
    : options_(options), rate_rps_(options.start_rps), step_(kStepMax), unfinished_(unfinished) {}

bool PeakFinder::urgent(const PeakSample& sample) const {
  if (draining_) return little_ms(sample.unfinished, capacity_rps()) <= options_.target_ms();
  return overloaded(sample, little_ms(sample.unfinished, sample.offered_rps));
}

bool PeakFinder::enough(const PeakSample& sample) const {
  if (sample.good >= kGoodMin) return true;
  if (sample.good < kGoodMinClear || !sample.error_ms) return false;
  const double half_ms = (options_.window_max_ms - options_.window_min_ms) / 2;
  const double distance_ms = std::abs(*sample.response_time_ms - options_.target_ms());
  return distance_ms > half_ms + noise_ms(sample, kClear);
}

void PeakFinder::set_rate(double rate_rps) {
  rate_rps_ = std::clamp(rate_rps, std::min(1e-3, options_.max_rps), options_.max_rps);
}

std::vector<PeakPoint> PeakFinder::recent() const {
  const size_t count = std::min(points_.size(), kRecent);
  return {points_.end() - static_cast<std::ptrdiff_t>(count), points_.end()};
}

double PeakFinder::excess(double rate_rps) const {
  return (little_ms(unfinished_, rate_rps) - options_.target_ms()) / 1e3 / options_.sample_s;
}

bool PeakFinder::overloaded(const PeakSample& sample, double judged_ms) const {
  if (judged_ms <= kOverloadFactor * options_.window_max_ms) return false;
  const double growth = static_cast<double>(sample.unfinished) - static_cast<double>(unfinished_);
  const double offered = sample.offered_rps * sample.length_s;
  return growth > kHandful && growth > kBacklogGrowth * offered &&
         growth > kBacklogNoise * std::sqrt(2 * offered);
}

double PeakFinder::capacity_rps() const {
  return drained_s_ > 0 ? drained_good_ / drained_s_ : rate_rps_;
}

void PeakFinder::set_load() {
  const double change = kGain * excess(centre_rps_);
  set_rate(centre_rps_ * std::clamp(1 - change, kFallMax, 1 + options_.step));
}

void PeakFinder::fall(const PeakSample& sample) {
  if (!draining_) drained_good_ = drained_s_ = 0;
  climbing_ = false;
  draining_ = true;
  // So the load does matter.
  above_target_.reset();
  base_.reset();
  note_drained(sample);
  set_rate(capacity_rps() * std::clamp(1 - excess(capacity_rps()), kFallMax, 1.0));
}

void PeakFinder::note_drained(const PeakSample& sample) {
  const double least = sample.offered_rps * sample.length_s * kDoneMin;
  drained_good_ += std::max(static_cast<double>(sample.good), least);
  drained_s_ += sample.length_s;
}

void PeakFinder::drained(const PeakSample& sample) {
  note_drained(sample);
  draining_ = false;
  centre_rps_ = capacity_rps();
  if (failing_rps_ > 0) centre_rps_ = std::min(centre_rps_, failing_rps_ * kBelowFailing);
  failing_rps_ = 0;
  step_ = options_.step / 2;
  run_ = 0;
  set_load();
}

void PeakFinder::note_answered_in_time(double rate_rps) {
  answered_in_time_rps_ = std::min(answered_in_time_rps_.value_or(rate_rps), rate_rps);
}

void PeakFinder::climb(const PeakPoint& point) {
  const PeakSample& sample = point.sample;
  if (sample.good >= kGoodMinClear && point.judged_ms < options_.target_ms()) {
    note_answered_in_time(sample.offered_rps);
  }
  const bool above = sample.good >= kGoodMinClear &&
                     point.judged_ms - noise_ms(sample, kSignificant) > options_.target_ms();
  above_ = above ? above_ + 1 : 0;
  if (above_ == 1) return;  // One alone may be chance, or a cold start.
  climbing_ = !above;
  if (climbing_) return set_rate(rate_rps_ * 2);
  centre_rps_ = rate_rps_;
  step_ = kStepMax / 2;
  run_ = 0;
  steer(point);
}

bool PeakFinder::load_independent(const PeakPoint& point) {
  const double load = point.sample.offered_rps;
  if (point.sample.good < kGoodMinClear) return false;
  if (!above_target_ || above_target_->load_rps < load) {
    above_target_ = Seen{load, point.judged_ms};
  }
  if (load > above_target_->load_rps / 2 * (1 + kSameLoad)) return false;
  if (point.judged_ms > above_target_->response_ms * kBaseRatio) return true;
  above_target_ = Seen{load, point.judged_ms};
  return false;
}

void PeakFinder::steer(const PeakPoint& point) {
  const PeakSample& sample = point.sample;
  const double target_ms = options_.target_ms();
  // What lies within a sample's noise moves the load by less.
  const double scale_ms = kWholeStepAt * target_ms + sample.error_ms.value_or(point.judged_ms);
  const double off = std::clamp((point.judged_ms - target_ms) / scale_ms, -1.0, 1.0);
  const bool above = off > 0;
  if (above) {
    // Slow were those that ended. What is under way is not, so the load is low enough.
    const double expected = rate_rps_ * target_ms / 1e3;
    const double noise = kSignificant * std::sqrt(expected);
    if (static_cast<double>(sample.unfinished) + noise < expected) return set_load();
    if (answered_in_time_rps_ && sample.offered_rps <= *answered_in_time_rps_) {
      answered_in_time_rps_.reset();  // the system is another now
    }
    if (!base_ && load_independent(point)) {
      if (answered_in_time_rps_) {
        // It sheds what it can't do, and is slow by that: hits become misses. Less load than what
        // made it so may be needed for it to come back.
        centre_rps_ = std::max(*answered_in_time_rps_, centre_rps_ / 2);
        above_target_.reset();
        return set_rate(centre_rps_);
      }
      base_ = above_target_;
    }
    if (base_) return set_rate(base_->load_rps);
  } else {
    above_target_.reset();
    note_answered_in_time(sample.offered_rps);
    if (base_) {
      // Faster than before at the same load, so it is to be searched for anew.
      base_.reset();
      climbing_ = true;
      above_ = 0;
      return;
    }
  }
  if (run_ != 0 && above != (run_ > 0)) {
    run_ = 0;
    step_ = std::max(step_ / kStepShrink, kStepMin * target_ms / 1e3 / options_.sample_s);
  }
  run_ += above ? 1 : -1;
  if (std::abs(run_) > kRun) step_ = std::min(step_ * kStepGrowth, kStepMax);
  centre_rps_ *= std::exp(-step_ * off);
  set_load();
}

void PeakFinder::add(const PeakSample& sample) {
  PeakPoint point;
  point.sample = sample;
  point.draining = draining_;
  const double limit_ms = kOverloadFactor * options_.window_max_ms;
  const double waiting_ms = little_ms(sample.unfinished, sample.offered_rps);
  point.judged_ms = sample.response_time_ms.value_or(0);
  if (!draining_ && static_cast<double>(sample.unfinished) > kHandful && waiting_ms > limit_ms) {
    point.judged_ms = std::max(point.judged_ms, waiting_ms);
  }
  point.failing = failed_share(sample) > kFailedShareMax;
  point.overload = point.failing || (!draining_ && overloaded(sample, point.judged_ms));
  points_.push_back(point);
  // A backlog that does not shrink is none: so slow is the system at any load.
  const bool backlog = draining_ && sample.unfinished < unfinished_ &&
                       little_ms(sample.unfinished, capacity_rps()) > options_.window_max_ms;
  unfinished_ = sample.unfinished;
  held_at_max_ = false;
  if (point.failing) failing_rps_ = sample.offered_rps;
  if (point.overload || backlog) return fall(sample);
  if (draining_) return drained(sample);
  if (rate_rps_ >= options_.max_rps * kAtMax && point.judged_ms <= options_.window_max_ms) {
    held_at_max_ = true;
    centre_rps_ = rate_rps_;
    return;
  }
  if (climbing_) return climb(point);
  steer(point);
}

std::optional<double> interpolate_rate(const std::vector<PeakPoint>& points,
                                       const PeakFinderOptions& options) {
  const std::vector<Level> levels = isotonic_levels(points);
  if (levels.empty()) return std::nullopt;
  const Crossing crossing = crossing_of(levels, options.target_ms());
  if (crossing.side == 0) return crossing.rate_rps;
  const Level& nearest = crossing.side < 0 ? levels.back() : levels.front();
  const bool in_window =
      nearest.response_ms >= options.window_min_ms && nearest.response_ms <= options.window_max_ms;
  // In a full system the rate hardly depends on the response time: one load, and points above and
  // below the target.
  const bool beyond = std::any_of(points.begin(), points.end(), [&](const PeakPoint& point) {
    return counts(point) && (point.judged_ms > options.target_ms()) == (crossing.side < 0);
  });
  return in_window || beyond ? std::optional(nearest.rate_rps) : std::nullopt;
}

PeakSummary PeakFinder::summary() const {
  PeakSummary summary;
  summary.target_ms = options_.target_ms();
  summary.samples = points_.size();
  if (base_) summary.base_response_time_ms = base_->response_ms;
  std::vector<PeakPoint> measured;
  double loads = 0;
  double sum_ms = 0;
  double squares = 0;
  for (const PeakPoint& point : points_) {
    if (point.overload) ++summary.overloads;
    if (!point.sample.measured) continue;
    measured.push_back(point);
    const double rate = point.sample.offered_rps;
    loads += rate;
    summary.load_low_rps = std::min(summary.load_low_rps.value_or(rate), rate);
    summary.load_high_rps = std::max(summary.load_high_rps.value_or(rate), rate);
    sum_ms += point.judged_ms;
    squares += point.judged_ms * point.judged_ms;
  }
  bool reached = false;
  for (const PeakPoint& point : recent()) {
    summary.failing = summary.failing || point.failing;
    reached = reached || point.overload || point.judged_ms >= summary.target_ms;
  }
  if (held_at_max_) {
    summary.limit = PeakLimit::kOffered;
  } else if (reached && !climbing_ && !base_) {
    summary.limit = PeakLimit::kSystem;
  }
  // The part that counts, where it lies on both sides of the target: earlier the cache was another.
  summary.rate_at_target_rps = interpolate_rate(measured, options_);
  if (!summary.rate_at_target_rps) {
    const size_t half = points_.size() / 2;
    summary.rate_at_target_rps = interpolate_rate(
        {points_.begin() + static_cast<std::ptrdiff_t>(half), points_.end()}, options_);
  }
  if (measured.empty()) return summary;
  const auto count = static_cast<double>(measured.size());
  const double mean = loads / count;
  summary.load_mean_rps = mean;
  const bool steady = *summary.load_low_rps >= mean * (1 - kSettledRange) &&
                      *summary.load_high_rps <= mean * (1 + kSettledRange);
  const double mean_ms = sum_ms / count;
  const double variance = std::max(0.0, squares / count - mean_ms * mean_ms);
  const double error_ms = kSignificant * std::sqrt(variance / count);
  const bool high_enough = summary.limit == PeakLimit::kOffered ||
                           mean_ms + error_ms >= options_.window_min_ms * (1 - kSettledWindowSlack);
  summary.settled = steady && high_enough &&
                    mean_ms - error_ms <= options_.window_max_ms * (1 + kSettledWindowSlack);
  return summary;
}

}  // namespace workload
