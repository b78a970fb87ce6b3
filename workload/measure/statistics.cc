#include "workload/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "storage/base/random.h"

namespace workload {
namespace {

constexpr size_t kResamples = 10'000;
constexpr size_t kSamplesForBatchesMin = 50;
constexpr size_t kBatchSize = 5;
constexpr size_t kExactProductMax = 400;

double median_in_place(std::vector<double>& values) {
  const size_t middle = values.size() / 2;
  const auto at = values.begin() + static_cast<ptrdiff_t>(middle);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*std::max_element(values.begin(), at) + *at) / 2;
}

double resampled_median(std::span<const double> values, std::vector<double>& scratch,
                        storage::Random& random) {
  scratch.resize(values.size());
  for (double& value : scratch) value = values[random.below(values.size())];
  return median_in_place(scratch);
}

/// The 2.5th and 97.5th percentile of the resampled statistics.
void set_interval(Estimate& estimate, std::vector<double>& statistics) {
  std::ranges::sort(statistics);
  const double last = static_cast<double>(statistics.size() - 1);
  estimate.low = statistics[static_cast<size_t>(std::floor(0.025 * last))];
  estimate.high = statistics[static_cast<size_t>(std::ceil(0.975 * last))];
}

size_t missing_runs(size_t n) {
  return n >= kRunsForIntervalMin ? 0 : kRunsForIntervalMin - n;
}

struct Ranking {
  double left_rank_sum = 0;
  double tie_term = 0;  ///< Sum of t^3 - t over groups of equal values.
};

Ranking rank_groups(std::span<const double> left, std::span<const double> right) {
  std::vector<std::pair<double, bool>> all;
  for (double value : left) all.emplace_back(value, true);
  for (double value : right) all.emplace_back(value, false);
  std::ranges::sort(all, {}, [](const auto& entry) { return entry.first; });
  Ranking ranking;
  for (size_t start = 0; start < all.size();) {
    size_t end = start;
    while (end < all.size() && all[end].first == all[start].first) ++end;
    const double ties = static_cast<double>(end - start);
    const double rank = static_cast<double>(start + 1 + end) / 2;
    for (size_t index = start; index < end; ++index) {
      if (all[index].second) ranking.left_rank_sum += rank;
    }
    ranking.tie_term += ties * ties * ties - ties;
    start = end;
  }
  return ranking;
}

/// How many ways there are to choose `m` of `m + n` ranks so that U is each value 0 to m * n.
/// By recursion over the greatest rank: it belongs to the first group (U grows by n) or not.
std::vector<double> count_u_values(size_t m, size_t n) {
  // ways(chosen, others, u) = ways(chosen - 1, others, u - others) + ways(chosen, others - 1, u)
  std::vector<std::vector<double>> previous(m + 1, std::vector<double>(m * n + 1, 0.0));
  for (auto& row : previous) row[0] = 1;
  for (size_t others = 1; others <= n; ++others) {
    std::vector<std::vector<double>> current(m + 1, std::vector<double>(m * n + 1, 0.0));
    current[0][0] = 1;
    for (size_t chosen = 1; chosen <= m; ++chosen) {
      for (size_t u = 0; u <= m * n; ++u) {
        current[chosen][u] = previous[chosen][u];
        if (u >= others) current[chosen][u] += current[chosen - 1][u - others];
      }
    }
    previous = std::move(current);
  }
  return previous[m];
}

double exact_p(double u_smaller, size_t m, size_t n) {
  const std::vector<double> ways = count_u_values(m, n);
  const double all = std::accumulate(ways.begin(), ways.end(), 0.0);
  double tail = 0;
  for (size_t u = 0; static_cast<double>(u) <= u_smaller; ++u) tail += ways[u];
  return std::min(1.0, 2 * tail / all);
}

double normal_p(double u_smaller, double m, double n, double tie_term) {
  const double total = m + n;
  const double variance = m * n / 12 * (total + 1 - tie_term / (total * (total - 1)));
  if (variance <= 0) return 1;  // All values are equal.
  const double distance = std::max(0.0, m * n / 2 - u_smaller - 0.5);
  return std::min(1.0, std::erfc(distance / std::sqrt(variance) / std::sqrt(2.0)));
}

std::vector<double> batch_means(std::span<const double> samples, size_t batch_size) {
  std::vector<double> means;
  for (size_t start = 0; start + batch_size <= samples.size(); start += batch_size) {
    means.push_back(*mean_of(samples.subspan(start, batch_size)));
  }
  return means;
}

/// The number of batches to drop that makes the standard error of the rest's mean least.
size_t mser_truncation(std::span<const double> batches) {
  // Backwards, so that the sums of each tail come from the ones of the shorter tail.
  double sum = 0;
  double sum_of_squares = 0;
  double least = 0;
  size_t best = 0;
  const size_t tail_min = std::max<size_t>(3, batches.size() / 10);
  bool found = false;
  const double shift = batches.back();  // Keeps the squares small beside their differences.
  for (size_t index = batches.size(); index-- > 0;) {
    const double value = batches[index] - shift;
    sum += value;
    sum_of_squares += value * value;
    const double n = static_cast<double>(batches.size() - index);
    if (batches.size() - index < tail_min) continue;
    const double error = std::max(0.0, sum_of_squares - sum * sum / n) / (n * n);
    if (!found || error <= least) {
      found = true;
      least = error;
      best = index;
    }
  }
  return best;
}

/// Change along the least-squares line from the first to the last sample, in % of the mean.
double slope_percent_of(std::span<const double> samples) {
  const double n = static_cast<double>(samples.size());
  const double mean = *mean_of(samples);
  if (mean == 0) return 0;
  const double middle = (n - 1) / 2;
  double covariance = 0;
  double variance = 0;
  for (size_t index = 0; index < samples.size(); ++index) {
    const double x = static_cast<double>(index) - middle;
    covariance += x * (samples[index] - mean);
    variance += x * x;
  }
  if (variance == 0) return 0;
  return 100 * covariance / variance * (n - 1) / std::abs(mean);
}

}  // namespace

std::optional<double> mean_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

Estimate estimate_median(std::span<const double> runs, uint64_t seed) {
  Estimate estimate;
  estimate.median = median_of(runs);
  estimate.n = runs.size();
  estimate.runs_missing = missing_runs(runs.size());
  if (estimate.runs_missing > 0) return estimate;
  storage::Random random(seed);
  std::vector<double> scratch;
  std::vector<double> medians(kResamples);
  for (double& median : medians) median = resampled_median(runs, scratch, random);
  set_interval(estimate, medians);
  return estimate;
}

Estimate estimate_ratio(std::span<const double> numerator, std::span<const double> denominator,
                        uint64_t seed) {
  Estimate estimate;
  estimate.n = std::min(numerator.size(), denominator.size());
  estimate.runs_missing = missing_runs(estimate.n);
  const std::optional<double> top = median_of(numerator);
  const std::optional<double> bottom = median_of(denominator);
  if (!top || !bottom || *bottom == 0) return estimate;
  estimate.median = *top / *bottom;
  if (estimate.runs_missing > 0) return estimate;
  storage::Random random(seed);
  std::vector<double> scratch;
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    const double resampled_top = resampled_median(numerator, scratch, random);
    const double resampled_bottom = resampled_median(denominator, scratch, random);
    if (resampled_bottom == 0) return estimate;
    ratio = resampled_top / resampled_bottom;
  }
  set_interval(estimate, ratios);
  return estimate;
}

std::optional<double> mann_whitney_p(std::span<const double> left, std::span<const double> right) {
  if (left.empty() || right.empty()) return std::nullopt;
  const Ranking ranking = rank_groups(left, right);
  const double m = static_cast<double>(left.size());
  const double n = static_cast<double>(right.size());
  const double u_left = ranking.left_rank_sum - m * (m + 1) / 2;
  const double u_smaller = std::min(u_left, m * n - u_left);
  if (ranking.tie_term == 0 && left.size() * right.size() <= kExactProductMax) {
    return exact_p(u_smaller, left.size(), right.size());
  }
  return normal_p(u_smaller, m, n, ranking.tie_term);
}

std::vector<double> holm_adjust(std::span<const double> p_values) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t index) { return p_values[index]; });
  std::vector<double> adjusted(p_values.size());
  double running_max = 0;
  for (size_t step = 0; step < order.size(); ++step) {
    const double factor = static_cast<double>(order.size() - step);
    running_max = std::max(running_max, std::min(1.0, factor * p_values[order[step]]));
    adjusted[order[step]] = running_max;
  }
  return adjusted;
}

size_t runs_for_significance_min(size_t comparisons, double alpha) {
  // The least p of two groups of n is 2 / C(2n, n).
  double ways = 1;
  size_t n = 0;
  do {
    ++n;
    const double k = static_cast<double>(n);
    ways *= (2 * k) * (2 * k - 1) / (k * k);
  } while (2 / ways * static_cast<double>(std::max<size_t>(comparisons, 1)) >= alpha);
  return n;
}

SteadyState detect_steady_state(std::span<const double> samples, double slope_percent_max) {
  SteadyState state;
  if (samples.size() < kSamplesForSteadyMin) return state;
  const size_t batch_size = samples.size() >= kSamplesForBatchesMin ? kBatchSize : 1;
  const std::vector<double> batches = batch_means(samples, batch_size);
  const size_t truncate = mser_truncation(batches) * batch_size;
  state.truncate = truncate;
  state.slope_percent = slope_percent_of(samples.subspan(truncate));
  state.steady =
      truncate <= samples.size() / 2 && std::abs(state.slope_percent) <= slope_percent_max;
  return state;
}

}  // namespace workload
