#include "workload/model/infinite_cache.h"

#include <gtest/gtest.h>

#include <map>

#include "storage/base/random.h"

namespace workload {
namespace {

TEST(InfiniteCache, HoldsWhatWasStored) {
  InfiniteCache cache;
  EXPECT_FALSE(cache.holds(1));
  cache.invalidate(1);
  EXPECT_FALSE(cache.get(1, true));
  EXPECT_TRUE(cache.get(1, true));
  EXPECT_FALSE(cache.get(1, false));
  EXPECT_EQ(cache.objects(), 1u);
  EXPECT_FALSE(cache.get(0, false));
  EXPECT_FALSE(cache.get(0, true));
  EXPECT_TRUE(cache.get(0, true));
}

TEST(InfiniteCache, AnotherVersionIsAMissAndTakesThePlace) {
  InfiniteCache cache;
  cache.store(5, 1);
  EXPECT_TRUE(cache.holds(5, 1));
  EXPECT_FALSE(cache.get(5, true, 2));
  EXPECT_TRUE(cache.get(5, true, 2));
  EXPECT_FALSE(cache.holds(5, 1));
  EXPECT_EQ(cache.objects(), 1u);
}

TEST(InfiniteCache, AgreesWithAMapUnderRandomOperations) {
  InfiniteCache cache;
  std::map<uint64_t, uint64_t> model;
  storage::Random random(3);
  for (int i = 0; i < 200000; ++i) {
    const uint64_t key = random.below(1 + static_cast<uint64_t>(i) / 8);
    const uint64_t version = random.below(3);
    switch (random.below(4)) {
      case 0:
        cache.invalidate(key);
        model.erase(key);
        break;
      case 1:
        cache.store(key, version);
        model[key] = version;
        break;
      default: {
        const auto held = model.find(key);
        const bool hit = held != model.end() && held->second == version;
        ASSERT_EQ(cache.holds(key, version), hit);
        ASSERT_EQ(cache.get(key, true, version), hit);
        model[key] = version;
      }
    }
    ASSERT_EQ(cache.objects(), model.size());
  }
}

TEST(InfiniteCache, StoringAndForgettingForEverStaysSmall) {
  InfiniteCache cache;
  for (uint64_t key = 0; key < 1000000; ++key) {
    cache.store(key);
    cache.invalidate(key);
  }
  EXPECT_EQ(cache.objects(), 0u);
  EXPECT_FALSE(cache.holds(999999));
}

}  // namespace
}  // namespace workload
