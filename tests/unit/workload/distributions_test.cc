#include "workload/model/distributions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/goodness_of_fit.h"

namespace workload {
namespace {

using testing_support::chi_square;
using testing_support::chi_square_max;
using testing_support::ks_distance;
using testing_support::moments_of;
using testing_support::normal_cumulated;

constexpr size_t kSamples = 200000;
constexpr double kNsPerMs = 1e6;

std::vector<double> samples_of(const Distribution& distribution, uint64_t seed) {
  storage::Random random(seed);
  std::vector<double> samples(kSamples);
  for (auto& sample : samples) sample = distribution.sample(random);
  return samples;
}

const double kDistanceMax = testing_support::ks_distance_max(kSamples);

TEST(Distribution, UniformFits) {
  const auto samples = samples_of(Distribution::uniform(10, 30), 1);
  EXPECT_NEAR(moments_of(samples).mean, 20, 0.05);
  EXPECT_NEAR(moments_of(samples).deviation, 20 / std::sqrt(12.0), 0.05);
  EXPECT_LT(ks_distance(samples, [](double x) { return (x - 10) / 20; }), kDistanceMax);
}

TEST(Distribution, ExponentialFits) {
  const auto samples = samples_of(Distribution::exponential(4608), 2);
  EXPECT_NEAR(moments_of(samples).mean, 4608, 46);
  EXPECT_NEAR(moments_of(samples).deviation, 4608, 60);
  EXPECT_LT(ks_distance(samples, [](double x) { return 1 - std::exp(-x / 4608); }), kDistanceMax);
}

TEST(Distribution, NormalFits) {
  const auto samples = samples_of(Distribution::normal(2500, 1000), 3);
  EXPECT_NEAR(moments_of(samples).mean, 2500, 10);
  EXPECT_NEAR(moments_of(samples).deviation, 1000, 8);
  EXPECT_LT(ks_distance(samples, [](double x) { return normal_cumulated((x - 2500) / 1000); }),
            kDistanceMax);
}

TEST(Distribution, LogNormalTakesMeanAndDeviationOfTheVariateItself) {
  const double size = 300 * 1024;
  const auto samples = samples_of(Distribution::log_normal(size, size), 4);
  EXPECT_NEAR(moments_of(samples).mean / size, 1, 0.01);
  EXPECT_NEAR(moments_of(samples).deviation / size, 1, 0.04);
  const double sigma = std::sqrt(std::log(2.0));
  const double mu = std::log(size) - sigma * sigma / 2;
  EXPECT_LT(
      ks_distance(samples, [&](double x) { return normal_cumulated((std::log(x) - mu) / sigma); }),
      kDistanceMax);
}

TEST(Distribution, LogNormalWithoutSpreadIsConstant) {
  storage::Random random(1);
  EXPECT_NEAR(Distribution::log_normal(100, 0).sample(random), 100, 1e-9);
}

TEST(Distribution, ZipfFitsItsProbabilities) {
  for (const uint64_t n : {1u, 2u, 13u, 16u, 64u}) {
    std::vector<double> counts(n + 1);
    storage::Random random(5 + n);
    const auto zipf = Distribution::zipf(n);
    for (size_t i = 0; i < kSamples; ++i) {
      const uint64_t rank = zipf.sample_count(random);
      ASSERT_GE(rank, 1u);
      ASSERT_LE(rank, n);
      counts[rank] += 1;
    }
    std::vector<double> wanted;
    for (uint64_t rank = 1; rank <= n; ++rank) {
      const double k = static_cast<double>(rank);
      wanted.push_back(kSamples * std::log((k + 1) / k) / std::log(static_cast<double>(n) + 1));
    }
    counts.erase(counts.begin());
    EXPECT_LE(chi_square(counts, wanted), chi_square_max(n)) << n;
  }
}

TEST(Distribution, ZipfRanksFollowTheirExponent) {
  for (const double exponent : {0.1, 0.6, 0.8, 1.0, 1.3, 2.5}) {
    for (const uint64_t n : {1u, 2u, 50u, 400u}) {
      std::vector<double> counts(n);
      storage::Random random(900 + n);
      for (size_t i = 0; i < kSamples; ++i) {
        const uint64_t rank = zipf_rank(n, exponent, random);
        ASSERT_GE(rank, 1u);
        ASSERT_LE(rank, n);
        counts[rank - 1] += 1;
      }
      // The integral of x^-exponent over [k, k + 1), as the law is stated.
      const auto integral = [&](double to) {
        return exponent == 1 ? std::log(to) : (std::pow(to, 1 - exponent) - 1) / (1 - exponent);
      };
      std::vector<double> wanted;
      for (uint64_t rank = 1; rank <= n; ++rank) {
        const double k = static_cast<double>(rank);
        wanted.push_back(kSamples * (integral(k + 1) - integral(k)) /
                         integral(static_cast<double>(n) + 1));
      }
      EXPECT_LE(chi_square(counts, wanted), chi_square_max(n)) << n << ' ' << exponent;
    }
  }
}

TEST(Distribution, ZipfRanksOfHugeSetsAreInside) {
  storage::Random random(3);
  const uint64_t n = uint64_t{1} << 36;
  for (const double exponent : {0.0, 0.8, 1.0 - 1e-12, 1.0, 1.0 + 1e-7, 10.0}) {
    for (int i = 0; i < 1000; ++i) {
      const uint64_t rank = zipf_rank(n, exponent, random);
      ASSERT_GE(rank, 1u);
      ASSERT_LE(rank, n);
    }
  }
}

TEST(Distribution, ZipfMeansAreThoseOfTheReference) {
  EXPECT_NEAR(Distribution::zipf(64).mean(), 14.9, 0.05);
  EXPECT_NEAR(Distribution::zipf(16).mean(), 5.2, 0.05);
  EXPECT_NEAR(Distribution::zipf(13).mean(), 4.45, 0.01);
  EXPECT_NEAR(moments_of(samples_of(Distribution::zipf(64), 6)).mean, Distribution::zipf(64).mean(),
              0.15);
}

TEST(Distribution, SamplesAreClampedToWhatTheyStandFor) {
  storage::Random random(7);
  const auto below_zero = Distribution::normal(0, 1000);
  bool some_are_zero = false;
  for (int i = 0; i < 1000; ++i) {
    some_are_zero |= below_zero.sample_duration(random).count() == 0;
    ASSERT_GE(below_zero.sample_duration(random).count(), 0);
  }
  EXPECT_TRUE(some_are_zero);
  EXPECT_EQ(Distribution::constant(0).sample_size_bytes(random), 0u);
  EXPECT_EQ(Distribution::constant(0.001).sample_size_bytes(random), 1u);
  EXPECT_EQ(Distribution::constant(2.9).sample_count(random), 2u);
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(Distribution::constant(huge).sample_size_bytes(random), uint64_t{1} << 40);
  EXPECT_GT(Distribution::constant(huge).sample_duration(random).count(), 0);
  EXPECT_EQ(Distribution::constant(huge).sample_count(random), uint64_t{1} << 53);
}

TEST(Distribution, ExtremesOfTheRandomSourceAreFinite) {
  // SplitMix64 hands out mix64(state + golden): these two states give the smallest and the largest
  // uniform number first.
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const storage::Random smallest(0 - kGolden);
  storage::Random probe = smallest;
  ASSERT_EQ(probe.uniform(), 0.0);
  for (const auto& distribution :
       {Distribution::exponential(5), Distribution::normal(5, 1), Distribution::log_normal(5, 1),
        Distribution::zipf(9), Distribution::uniform(0, 1)}) {
    storage::Random random = smallest;
    EXPECT_TRUE(std::isfinite(distribution.sample(random)));
  }
  storage::Random random = smallest;
  EXPECT_EQ(Distribution::exponential(5).sample(random), 0.0);
  random = smallest;
  EXPECT_EQ(Distribution::zipf(9).sample(random), 1.0);
}

TEST(DistributionText, ReadsAndWritesBack) {
  const std::vector<std::pair<std::string, Quantity>> texts{
      {"constant:0B", Quantity::kSizeBytes},       {"uniform:0B,8KB", Quantity::kSizeBytes},
      {"exponential:4.5KB", Quantity::kSizeBytes}, {"lognormal:300KB,300KB", Quantity::kSizeBytes},
      {"normal:2.5s,1s", Quantity::kDuration},     {"lognormal:182.5d,30d", Quantity::kDuration},
      {"constant:250us", Quantity::kDuration},     {"zipf:64", Quantity::kCount},
      {"constant:5.25", Quantity::kCount}};
  for (const auto& [text, quantity] : texts) {
    std::string error;
    const auto distribution = parse_distribution(text, quantity, error);
    ASSERT_TRUE(distribution) << text << ": " << error;
    EXPECT_EQ(distribution->text(quantity), text);
  }
  std::string error;
  const auto think = parse_distribution("normal:2500ms,1000ms", Quantity::kDuration, error);
  ASSERT_TRUE(think);
  EXPECT_EQ(*think, Distribution::normal(2500 * kNsPerMs, 1000 * kNsPerMs));
}

TEST(DistributionText, AnySizeAndTimeSurvivesTheRoundTrip) {
  storage::Random random(8);
  for (int i = 0; i < 2000; ++i) {
    const auto size = Distribution::constant(static_cast<double>(random() >> (12 + i % 50)));
    const auto time = Distribution::exponential(static_cast<double>(random() >> (12 + i % 50)));
    std::string error;
    EXPECT_EQ(parse_distribution(size.text(Quantity::kSizeBytes), Quantity::kSizeBytes, error),
              size);
    EXPECT_EQ(parse_distribution(time.text(Quantity::kDuration), Quantity::kDuration, error), time)
        << time.text(Quantity::kDuration);
  }
}

TEST(DistributionText, RefusesWhatItCannotMean) {
  const std::vector<std::pair<std::string, Quantity>> texts{
      {"", Quantity::kCount},
      {"normal", Quantity::kCount},
      {"normal:", Quantity::kCount},
      {"normal:1", Quantity::kCount},
      {"normal:1,2,3", Quantity::kCount},
      {"normal:1,", Quantity::kCount},
      {"gauss:1,2", Quantity::kCount},
      {"constant:-1", Quantity::kCount},
      {"constant:nan", Quantity::kCount},
      {"constant:inf", Quantity::kCount},
      {"constant:1e300", Quantity::kCount},
      {"constant:5 ", Quantity::kCount},
      {"uniform:2,1", Quantity::kCount},
      {"lognormal:0,1", Quantity::kCount},
      {"zipf:0", Quantity::kCount},
      {"zipf:1.5", Quantity::kCount},
      {"zipf:64", Quantity::kSizeBytes},
      {"exponential:5ms", Quantity::kSizeBytes},
      {"exponential:5KB", Quantity::kDuration},
      {"exponential:5KB", Quantity::kCount}};
  for (const auto& [text, quantity] : texts) {
    std::string error;
    EXPECT_FALSE(parse_distribution(text, quantity, error)) << text;
    EXPECT_NE(error.find("'" + text + "'"), std::string::npos) << error;
    EXPECT_NE(error.find("right would be"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace workload
