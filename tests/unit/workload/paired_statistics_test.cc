#include "workload/measure/paired_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace workload {
namespace {

TEST(PairedStatistics, PIsStudentsOfTheLogarithms) {
  // Logarithms 0.01 to 0.05: mean 0.03, standard error 0.00707, t = 4.243 with 4 degrees of
  // freedom.
  std::vector<double> ratios;
  for (int i = 1; i <= 5; ++i) ratios.push_back(std::exp(0.01 * i));
  EXPECT_NEAR(*paired_p(ratios), 0.01324, 1e-5);
  // The same the other way round.
  for (double& ratio : ratios) ratio = 1 / ratio;
  EXPECT_NEAR(*paired_p(ratios), 0.01324, 1e-5);
}

TEST(PairedStatistics, EqualRatiosNeedNoTest) {
  EXPECT_EQ(paired_p(std::vector<double>{1, 1, 1}), 1.0);
  EXPECT_EQ(paired_p(std::vector<double>{1.1, 1.1, 1.1}), 0.0);
  EXPECT_FALSE(paired_p(std::vector<double>{1.1}));
}

TEST(PairedStatistics, SpreadIsTheMedianDistanceFromTheMedian) {
  EXPECT_DOUBLE_EQ(*relative_spread(std::vector<double>{90, 100, 104, 100, 1000}), 0.04);
  EXPECT_FALSE(relative_spread(std::vector<double>{1}));
  EXPECT_FALSE(relative_spread(std::vector<double>{-1, 0, 1}));
}

}  // namespace
}  // namespace workload
