#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/compare/sample_comparison.h"

namespace workload {
namespace {

using testing::HasSubstr;

constexpr FigureWords kSpeed{"throughput_rps", "throughput", "is", "faster", "slower"};

Sample sample(const std::vector<double>& values, bool seeds = true) {
  Sample out;
  uint64_t seed = 0;
  for (const double value : values) {
    ++seed;
    out.push_back({seeds ? std::optional(seed) : std::nullopt, value});
  }
  return out;
}

SampleComparison judged(const Sample& first, const Sample& second) {
  SampleComparison comparison = compare_samples(first, second);
  SampleComparison* const one[] = {&comparison};
  judge_all(one);
  return comparison;
}

std::string verdict(const Sample& first, const Sample& second) {
  return verdict_text(judged(first, second), kSpeed, "A", "B");
}

const std::vector<double> kBase{100, 120, 90, 110, 105, 95};

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] *= factor * (1 + 0.002 * static_cast<double>(i % 3));
  }
  return values;
}

TEST(CompareSamples, ADifferenceThatTheRoundsHideIsSeenRoundByRound) {
  const auto slower = scaled(kBase, 0.95);
  const auto paired = judged(sample(kBase), sample(slower));
  EXPECT_TRUE(paired.paired);
  EXPECT_EQ(paired.standing, Standing::kDifferent);
  EXPECT_THAT(verdict(sample(kBase), sample(slower)), HasSubstr("B is 4.8 % slower [4.6, 5.0]"));
  EXPECT_THAT(verdict(sample(slower), sample(kBase)), HasSubstr("B is 5.1 % faster ["));
  // Without seeds the spread between the rounds hides it.
  const auto apart = judged(sample(kBase, false), sample(slower, false));
  EXPECT_FALSE(apart.paired);
  EXPECT_EQ(apart.standing, Standing::kSame);
}

TEST(CompareSamples, FewRunsTellNothing) {
  const Sample few = sample({100, 101, 102});
  EXPECT_EQ(verdict(few, sample({50, 51, 52})), "not told apart: too few runs (3 of 6 needed)");
  EXPECT_EQ(verdict(sample({100}, false), sample({102}, false)),
            "not told apart: too few runs (1 of 6 needed)");
  EXPECT_EQ(verdict(few, {}), "no valid result in B");
  EXPECT_EQ(verdict({}, few), "no valid result in A");
}

TEST(CompareSamples, EqualSidesAreNoDifference) {
  EXPECT_EQ(verdict(sample(kBase), sample(kBase)), "no difference seen");
  EXPECT_EQ(verdict(sample(kBase, false), sample(kBase, false)), "no difference seen");
  const Sample zeros = sample({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(verdict(zeros, zeros), "no difference seen");
}

TEST(CompareSamples, ASideThatHasNoneIsSaidWithoutARatio) {
  const Sample zeros = sample({0, 0, 0, 0, 0, 0});
  EXPECT_EQ(verdict(zeros, sample({50, 51, 52, 53, 54, 55})), "B has 52.5 where A has 0");
}

TEST(CompareSamples, NothingBelowTheNoiseIsClaimed) {
  auto comparison = compare_samples(sample(kBase), sample(scaled(kBase, 0.95)));
  comparison.noise_floor_percent = 6;
  SampleComparison* const one[] = {&comparison};
  judge_all(one);
  EXPECT_EQ(comparison.standing, Standing::kBelowFloor);
  EXPECT_EQ(verdict_text(comparison, kSpeed, "A", "B"),
            "no difference seen above the noise of 6.0 %");
}

TEST(CompareSamples, ManyComparisonsByRankNeedMoreRuns) {
  const Sample fast = sample({200, 201, 202, 203, 204, 205}, false);
  const Sample slow = sample({100, 101, 102, 103, 104, 105}, false);
  EXPECT_EQ(judged(fast, slow).standing, Standing::kDifferent);
  // 2 / C(12, 6) times 30 is above 5 %.
  std::vector<SampleComparison> all(30, compare_samples(fast, slow));
  std::vector<SampleComparison*> pointers;
  for (auto& one : all) pointers.push_back(&one);
  judge_all(pointers);
  EXPECT_EQ(all.front().standing, Standing::kTooFew);
  EXPECT_EQ(verdict_text(all.front(), kSpeed, "A", "B"),
            "not told apart: too few runs (6 of 7 needed)");
}

TEST(CompareSamples, PartnersAreFoundBySeedAndNotByPlace) {
  Sample turned = sample(scaled(kBase, 0.95));
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(judged(sample(kBase), turned).standing, Standing::kDifferent);
  Sample twice = sample(kBase);
  twice[1].seed = twice[0].seed;
  EXPECT_FALSE(compare_samples(twice, sample(kBase)).paired);
}

}  // namespace
}  // namespace workload
