// Two samples of one figure: their ratio, and whether anything may be said about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/measure/statistics.h"

namespace workload {

/// A run's figure. Runs of one seed did the same work.
struct SampleValue {
  std::optional<uint64_t> seed;
  double value = 0;
};

using Sample = std::vector<SampleValue>;

/// The values alone.
std::vector<double> values_of(const Sample& sample);

/// What is said about two samples.
enum class Standing {
  kDifferent,   ///< They are told apart at 5 % for the whole comparison.
  kSame,        ///< No difference is seen.
  kBelowFloor,  ///< There may be one, but no larger than what the rounds differ by themselves.
  kTooFew,      ///< Too few runs to tell.
  kNoResult,    ///< A side has none.
};

/// `different`, `same`, `below_noise_floor`, `too_few_runs`, `no_result`.
std::string_view standing_name(Standing standing);

/// A figure's words: `B is 5.1 % slower`.
struct FigureWords {
  std::string_view name;   ///< Key of results.json.
  std::string_view title;  ///< For tables: `throughput, responses/s`.
  std::string_view verb;   ///< `is`.
  std::string_view more;   ///< `faster`, where the second side's figure is the greater.
  std::string_view less;   ///< `slower`.
};

/// Two samples compared. Percentages are of the first side.
struct SampleComparison {
  Estimate first;
  Estimate second;
  Estimate ratio;          ///< Second to first, with its 95 % interval where runs are enough.
  bool paired = false;     ///< Round by round, over the rounds of one seed.
  size_t runs = 0;         ///< Of the side with fewer runs.
  size_t runs_needed = 0;  ///< To be told apart at all; set by judge_all().
  std::optional<double> p;
  std::optional<double> adjusted_p;  ///< Holm's, over the whole comparison.
  double noise_floor_percent = 0;    ///< Nothing smaller is claimed.
  Standing standing = Standing::kNoResult;
};

/// Medians, ratio and p-value. Where each run of a side has a partner of the same seed on the other
/// and no value is 0, it is done round by round: the median of the rounds' ratios with its
/// bootstrap interval, and Student's t test on their logarithms. Otherwise the ratio of the
/// medians, both sides resampled, and Mann-Whitney. The noise floor is the spread between rounds:
/// the median distance of the rounds' ratios from their median, or the larger of both sides' own.
SampleComparison compare_samples(const Sample& first, const Sample& second);

/// Adjusts the p-values of a whole comparison (Holm) and sets each standing. A difference needs an
/// adjusted p below 5 %, an interval without 1, and a size of at least the noise floor.
void judge_all(std::span<SampleComparison* const> all);

/// What the second side is to the first: `+7.1 % [5.9, 8.2]`, or without the interval; empty where
/// there is no ratio.
std::string effect_text(const Estimate& ratio);

/// The verdict in plain words; `first` and `second` name the sides, e.g. `A` and `B`.
std::string verdict_text(const SampleComparison& comparison, const FigureWords& words,
                         const std::string& first, const std::string& second);

}  // namespace workload
