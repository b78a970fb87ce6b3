// What may be said about repeated runs and about a run over time, and when nothing may be said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace workload {

/// Mean and median; nothing of nothing.
std::optional<double> mean_of(std::span<const double> values);
std::optional<double> median_of(std::span<const double> values);

/// The fewest runs for which a percentile bootstrap interval of the median is given: with fewer
/// than 6 values not even the whole range from the least to the greatest covers the median with
/// 95 % (1 - 2 * 0.5^n).
inline constexpr size_t kRunsForIntervalMin = 6;

/// A median over runs with its 95 % interval.
struct Estimate {
  std::optional<double> median;  ///< Nothing only where n = 0.
  std::optional<double> low;     ///< Both nothing where there are too few runs.
  std::optional<double> high;
  size_t n = 0;
  size_t runs_missing = 0;  ///< How many more runs an interval needs; 0 where it is there.
};

/// Median over runs with its 95 % percentile bootstrap interval (Efron, Tibshirani: "An
/// Introduction to the Bootstrap", 1993, chapter 13), from 10,000 resamples of the seed.
Estimate estimate_median(std::span<const double> runs, uint64_t seed);

/// The ratio of two medians, numerator over denominator, with its 95 % bootstrap interval (both
/// sides resampled independently). `median` is nothing where a side is empty or the denominator's
/// median is 0; the interval is nothing where either side has too few runs, or where resampled
/// denominators are 0. `n` is the smaller side's number.
Estimate estimate_ratio(std::span<const double> numerator, std::span<const double> denominator,
                        uint64_t seed);

/// The two-sided p-value of the Mann-Whitney U test (Mann, Whitney 1947): exact for small groups
/// without ties (product of sizes up to 400), else the normal approximation with corrections for
/// ties and continuity. Nothing where a group is empty.
std::optional<double> mann_whitney_p(std::span<const double> left, std::span<const double> right);

/// Holm's step-down adjustment of a family of p-values (Holm 1979), in the order given: an
/// adjusted value under 0.05 is significant at 5 % for the whole family.
std::vector<double> holm_adjust(std::span<const double> p_values);

/// The fewest runs a side for which a Mann-Whitney test can fall under `alpha` at all when
/// `comparisons` (at least 1) are made and Holm-corrected.
size_t runs_for_significance_min(size_t comparisons, double alpha = 0.05);

/// The fewest samples that steadiness is judged by.
inline constexpr size_t kSamplesForSteadyMin = 10;

/// Where a series of sample means becomes steady, if it does.
struct SteadyState {
  bool steady = false;
  size_t truncate = 0;       ///< Samples to leave out at the start; valid where steady.
  double slope_percent = 0;  ///< Change over the kept part along its fitted line, % of its mean.
};

/// Finds the truncation that minimises the marginal standard error (MSER-5: White, "An effective
/// truncation heuristic for bias reduction in simulation output", 1997; batches of 5 where there
/// are 50 samples or more). Not steady where fewer than kSamplesForSteadyMin samples are there,
/// where the minimum lies in the second half, or where the line through the kept part changes by
/// more than `slope_percent_max` of the mean from its start to its end.
SteadyState detect_steady_state(std::span<const double> samples, double slope_percent_max = 10);

}  // namespace workload
