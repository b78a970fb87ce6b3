#include "workload/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "storage/base/random.h"

namespace workload {
namespace {

std::vector<double> around(double mean, double spread, size_t n, uint64_t seed) {
  storage::Random random(seed);
  std::vector<double> values(n);
  for (double& value : values) value = mean + spread * (random.uniform() - 0.5);
  return values;
}

TEST(Statistics, MeanAndMedianOfNothingAreNothing) {
  EXPECT_FALSE(mean_of({}));
  EXPECT_FALSE(median_of({}));
  const std::vector<double> odd{3, 1, 2};
  const std::vector<double> even{4, 1, 2, 3};
  EXPECT_EQ(median_of(odd), 2.0);
  EXPECT_EQ(median_of(even), 2.5);
  EXPECT_EQ(mean_of(even), 2.5);
}

TEST(Statistics, TooFewRunsGiveAMedianAndNoInterval) {
  for (size_t n = 0; n < kRunsForIntervalMin; ++n) {
    const Estimate estimate = estimate_median(around(100, 10, n, 1), 1);
    EXPECT_EQ(estimate.median.has_value(), n > 0);
    EXPECT_FALSE(estimate.low);
    EXPECT_FALSE(estimate.high);
    EXPECT_EQ(estimate.n, n);
    EXPECT_EQ(estimate.runs_missing, kRunsForIntervalMin - n);
  }
}

TEST(Statistics, IntervalHoldsTheMedianAndFollowsFromTheSeed) {
  const auto runs = around(100, 10, 10, 2);
  const Estimate estimate = estimate_median(runs, 42);
  ASSERT_TRUE(estimate.low && estimate.high);
  EXPECT_LE(*estimate.low, *estimate.median);
  EXPECT_GE(*estimate.high, *estimate.median);
  EXPECT_LT(*estimate.low, *estimate.high);
  EXPECT_EQ(estimate_median(runs, 42).low, estimate.low);
  EXPECT_EQ(estimate.runs_missing, 0U);
}

TEST(Statistics, IntervalCoversTheTrueMedianAboutAsOftenAsItSays) {
  int covered = 0;
  constexpr int kExperiments = 200;
  for (int i = 0; i < kExperiments; ++i) {
    const Estimate estimate = estimate_median(around(100, 20, 15, 1000 + i), 7);
    covered += *estimate.low <= 100 && *estimate.high >= 100;
  }
  EXPECT_GE(covered, kExperiments * 88 / 100);
}

TEST(Statistics, RatioOfMedians) {
  const auto fast = around(200, 4, 8, 3);
  const auto slow = around(100, 4, 8, 4);
  const Estimate ratio = estimate_ratio(fast, slow, 5);
  EXPECT_NEAR(*ratio.median, 2, 0.1);
  EXPECT_GT(*ratio.low, 1.8);
  EXPECT_LT(*ratio.high, 2.2);
  const std::vector<double> zeros(8, 0.0);
  EXPECT_FALSE(estimate_ratio(fast, zeros, 5).median);
  EXPECT_FALSE(estimate_ratio({}, slow, 5).median);
  const Estimate few = estimate_ratio(std::span(fast).first(3), slow, 5);
  EXPECT_TRUE(few.median);
  EXPECT_FALSE(few.low);
  EXPECT_EQ(few.runs_missing, kRunsForIntervalMin - 3);
}

TEST(Statistics, MannWhitneyIsExactForSmallGroups) {
  // Published table values: completely separated groups have p = 2 / C(m + n, m).
  const std::vector<double> low{1, 2, 3};
  const std::vector<double> high{4, 5, 6};
  EXPECT_NEAR(*mann_whitney_p(low, high), 2.0 / 20, 1e-12);
  EXPECT_NEAR(*mann_whitney_p(high, low), 2.0 / 20, 1e-12);
  const std::vector<double> five{1, 2, 3, 4, 5};
  const std::vector<double> other{6, 7, 8, 9, 10};
  EXPECT_NEAR(*mann_whitney_p(five, other), 2.0 / 252, 1e-12);
  // U = 5: 17 of 70 orders have at most that.
  const std::vector<double> left{1, 3, 5, 6};
  const std::vector<double> right{2, 4, 7, 8};
  EXPECT_NEAR(*mann_whitney_p(left, right), 2.0 * 17 / 70, 1e-12);
  EXPECT_FALSE(mann_whitney_p({}, high));
}

TEST(Statistics, ExactMannWhitneyAgreesWithCountingAllOrders) {
  // Every choice of 3 ranks of 7.
  std::vector<int> chosen{0, 0, 0, 0, 1, 1, 1};
  std::vector<double> u_values;
  do {
    double u = 0;
    for (size_t i = 0; i < 7; ++i) {
      for (size_t j = 0; j < i; ++j) u += chosen[i] == 1 && chosen[j] == 0;
    }
    u_values.push_back(u);
  } while (std::next_permutation(chosen.begin(), chosen.end()));
  const std::vector<double> left{1, 2, 5};
  const std::vector<double> right{3, 4, 6, 7};
  const auto tail = std::ranges::count_if(u_values, [](double u) { return u <= 2; });
  const double expected = 2.0 * static_cast<double>(tail) / static_cast<double>(u_values.size());
  EXPECT_NEAR(*mann_whitney_p(left, right), expected, 1e-12);
}

TEST(Statistics, MannWhitneyHandlesTiesAndLargeGroups) {
  const std::vector<double> same(10, 5.0);
  EXPECT_EQ(mann_whitney_p(same, same), 1.0);
  EXPECT_LT(*mann_whitney_p(around(100, 10, 40, 1), around(110, 10, 40, 2)), 1e-6);
  int significant = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    significant += *mann_whitney_p(around(100, 10, 25, i), around(100, 10, 25, 1000 + i)) < 0.05;
  }
  EXPECT_LE(significant, 25);  // 5 % of 200 is 10.
}

TEST(Statistics, HolmAdjustsStepDown) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> adjusted = holm_adjust(p);
  EXPECT_NEAR(adjusted[3], 0.02, 1e-12);
  EXPECT_NEAR(adjusted[0], 0.03, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.06, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.06, 1e-12);  // Never under the one before.
  EXPECT_TRUE(holm_adjust({}).empty());
  EXPECT_EQ(holm_adjust(std::vector<double>{0.9, 0.8}).front(), 1.0);
}

TEST(Statistics, RunsThatSignificanceNeeds) {
  EXPECT_EQ(runs_for_significance_min(1), 4U);  // 2 / C(8, 4) = 0.029
  EXPECT_EQ(runs_for_significance_min(5), 5U);  // 5 * 2 / C(10, 5) = 0.040
  EXPECT_EQ(runs_for_significance_min(7), 6U);  // 7 * 2 / C(10, 5) = 0.056
}

TEST(SteadyState, FlatNoiseIsSteady) {
  const SteadyState state = detect_steady_state(around(1000, 20, 60, 9));
  EXPECT_TRUE(state.steady);
  EXPECT_LT(std::abs(state.slope_percent), 2);
}

TEST(SteadyState, AnInitialTransientIsCutOff) {
  std::vector<double> samples = around(1000, 20, 100, 10);
  for (size_t i = 0; i < 20; ++i) samples[i] = 50.0 * static_cast<double>(i);
  const SteadyState state = detect_steady_state(samples);
  EXPECT_TRUE(state.steady);
  EXPECT_GE(state.truncate, 15U);
  EXPECT_LE(state.truncate, 35U);
}

TEST(SteadyState, ATrendIsNotSteady) {
  std::vector<double> samples = around(0, 5, 60, 11);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] += 100 + 5 * static_cast<double>(i);
  EXPECT_FALSE(detect_steady_state(samples).steady);
}

TEST(SteadyState, TooFewSamplesAreNotSteady) {
  EXPECT_FALSE(detect_steady_state(around(100, 0, kSamplesForSteadyMin - 1, 1)).steady);
  EXPECT_TRUE(detect_steady_state(around(100, 0, kSamplesForSteadyMin, 1)).steady);
  EXPECT_FALSE(detect_steady_state({}).steady);
}

}  // namespace
}  // namespace workload
