#include "workload/measure/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "storage/base/random.h"
#include "tests/support/seed.h"

namespace workload {
namespace {

TEST(Histogram, IsEmptyAndSaysNothingAtFirst) {
  const Histogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_FALSE(histogram.mean_ns());
  EXPECT_FALSE(histogram.max_ns());
  EXPECT_FALSE(histogram.min_ns());
  EXPECT_FALSE(histogram.percentile_ns(50));
}

TEST(Histogram, EveryCounterFollowsTheOneBefore) {
  for (size_t index = 0; index + 1 < Histogram::counter_count_max(); ++index) {
    ASSERT_EQ(Histogram::lowest_of(index + 1), Histogram::highest_of(index) + 1) << index;
    ASSERT_EQ(Histogram::index_of(Histogram::lowest_of(index)), index);
    ASSERT_EQ(Histogram::index_of(Histogram::highest_of(index)), index);
  }
}

TEST(Histogram, KeepsThreeDigitsOverItsWholeRange) {
  for (uint64_t value = 1; value < Histogram::kHighestNs; value = value * 11 / 10 + 1) {
    Histogram histogram;
    histogram.record(value);
    const double error = static_cast<double>(*histogram.max_ns() - *histogram.min_ns());
    ASSERT_LE(error, static_cast<double>(value) / 1000) << value;
    ASSERT_LE(*histogram.min_ns(), value);
    ASSERT_GE(*histogram.max_ns(), value);
    ASSERT_NEAR(*histogram.mean_ns(), static_cast<double>(value),
                static_cast<double>(value) / 2000);
  }
}

TEST(Histogram, ClampsAndCountsWhatIsPastTheEnd) {
  Histogram histogram;
  histogram.record(Histogram::kHighestNs);
  EXPECT_EQ(histogram.clamped_count(), 0U);
  histogram.record(Histogram::kHighestNs + 1, 2);
  EXPECT_EQ(histogram.clamped_count(), 2U);
  EXPECT_EQ(histogram.count(), 3U);
}

TEST(Histogram, AgreesWithSortedValues) {
  const uint64_t seed = testing_support::test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random random(seed);
  std::vector<uint64_t> values;
  Histogram histogram;
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double exponent = 3 + 8 * random.uniform();  // 1 us to 100 s.
    values.push_back(static_cast<uint64_t>(std::pow(10, exponent)));
    histogram.record(values.back());
    sum += static_cast<double>(values.back());
  }
  std::ranges::sort(values);
  for (double percent : {0.0, 1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 100.0}) {
    const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
    const uint64_t exact = values[static_cast<size_t>(std::max(1.0, rank)) - 1];
    const uint64_t got = *histogram.percentile_ns(percent);
    EXPECT_GE(got, exact) << percent;
    EXPECT_LE(static_cast<double>(got), static_cast<double>(exact) * 1.001 + 1) << percent;
  }
  const double mean = sum / static_cast<double>(values.size());
  EXPECT_NEAR(*histogram.mean_ns(), mean, mean / 1000);
}

TEST(Histogram, MergingIsRecordingBoth) {
  storage::Random random(7);
  Histogram all;
  Histogram left;
  Histogram right;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t value = random.below(1'000'000'000);
    all.record(value);
    (i % 3 == 0 ? left : right).record(value);
  }
  EXPECT_FALSE(left == right);
  left.merge(right);
  EXPECT_EQ(left, all);
  left.merge(Histogram());
  EXPECT_EQ(left, all);
}

TEST(Histogram, ClearingForgetsValuesOnly) {
  Histogram histogram;
  histogram.record(5'000'000, 3);
  histogram.clear();
  EXPECT_EQ(histogram, Histogram());
  histogram.record(1000);
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(*histogram.max_ns(), 1000U);
}

TEST(Histogram, RefusesCountersPastTheEndAndCountsThatOverflow) {
  Histogram histogram;
  EXPECT_FALSE(histogram.add_to_counter(Histogram::counter_count_max(), 1));
  EXPECT_TRUE(histogram.add_to_counter(0, ~0ULL));
  EXPECT_FALSE(histogram.add_to_counter(1, 1));
  EXPECT_EQ(histogram.count(), ~0ULL);
}

}  // namespace
}  // namespace workload
