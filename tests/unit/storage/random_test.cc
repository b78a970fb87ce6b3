#include "storage/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace storage {
namespace {

TEST(Random, IsSplitMix64) {
  // The first outputs of the published algorithm for the seed 1234567.
  Random random(1234567);
  EXPECT_EQ(random(), 6457827717110365317ull);
  EXPECT_EQ(random(), 3203168211198807973ull);
  EXPECT_EQ(random(), 9817491932198370423ull);
}

TEST(Random, StaysBelowItsBoundAndReachesAllOfIt) {
  Random random(1);
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) {
    const uint64_t value = random.below(counts.size());
    ASSERT_LT(value, counts.size());
    ++counts[value];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, UniformIsInTheHalfOpenUnitInterval) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, ForksAreStreamsOfTheirOwnAndRepeatable) {
  const Random parent(3);
  std::set<uint64_t> firsts;
  for (uint64_t label = 0; label < 1000; ++label) firsts.insert(parent.fork(label)());
  EXPECT_EQ(firsts.size(), 1000u);
  EXPECT_EQ(parent.fork(5)(), parent.fork(5)());
}

}  // namespace
}  // namespace storage
