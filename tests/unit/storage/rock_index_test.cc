#include "storage/layout/rock_index.h"

#include <gtest/gtest.h>

#include <map>

#include "storage/base/random.h"
#include "storage/layout/rock_slots.h"
#include "storage/replacement/lru.h"
#include "tests/support/seed.h"

namespace storage {
namespace {

RockVersion version_of(uint64_t number, uint64_t generation) {
  RockVersion version;
  version.hash = KeyHash{mix64(number + 1), mix64(number * 31 + 7)};
  version.generation = generation;
  version.head_slot = static_cast<uint32_t>(generation);
  return version;
}

const auto kNoneInUse = [](uint32_t) { return false; };

TEST(RockIndex, DoesAsAPlainMapDoes) {
  const uint64_t seed = testing_support::test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  Random random(seed);
  RockIndex index(std::make_unique<LruPolicy>(), 500, 128);
  std::map<uint64_t, uint64_t> model;
  for (uint64_t generation = 1; generation < 20'000; ++generation) {
    const uint64_t number = random.below(800);
    const RockVersion version = version_of(number, generation);
    const auto known = model.find(number);
    if (random.below(3) == 0) {
      const auto erased = index.erase(version.hash);
      ASSERT_EQ(erased.has_value(), known != model.end());
      if (erased) {
        EXPECT_EQ(erased->generation, known->second);
      }
      model.erase(number);
    } else {
      const auto replaced = index.put(version, 4096);
      ASSERT_EQ(replaced.has_value(), known != model.end());
      if (replaced) {
        EXPECT_EQ(replaced->generation, known->second);
      }
      model[number] = generation;
    }
    ASSERT_EQ(index.count(), model.size());
  }
  for (const auto& [number, generation] : model) {
    EXPECT_TRUE(index.current(version_of(number, generation)));
    EXPECT_FALSE(index.erase(version_of(number, generation - 1)));
  }
  EXPECT_EQ(index.size_bytes(), model.size() * 4096);
}

TEST(RockIndex, VictimsAreThoseOfThePolicyExceptWhatIsInUse) {
  RockIndex index(std::make_unique<LruPolicy>(), 100, 128);
  for (uint64_t i = 1; i <= 5; ++i) index.put(version_of(i, i), 4096);
  index.touch(version_of(1, 1).hash);
  const auto victim = index.take_victim([](uint32_t head_slot) { return head_slot == 2; });
  ASSERT_TRUE(victim.has_value());
  EXPECT_EQ(victim->generation, 3u);
  EXPECT_FALSE(index.take_victim([](uint32_t) { return true; }).has_value());
  EXPECT_EQ(index.count(), 4u);
  index.clear();
  EXPECT_FALSE(index.take_victim(kNoneInUse).has_value());
}

TEST(RockIndex, KeysThatShareTheirLowestBitsTakeEachOthersPlace) {
  RockIndex index(std::make_unique<LruPolicy>(), 100, 4);
  RockVersion one = version_of(1, 1);
  RockVersion two = version_of(2, 2);
  two.hash.low = one.hash.low;
  EXPECT_FALSE(index.put(one, 4096).has_value());
  const auto replaced = index.put(two, 8192);
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(replaced->hash, one.hash);
  EXPECT_EQ(index.find(one.hash)->hash, two.hash);
  EXPECT_EQ(index.size_bytes(), 8192u);
}

TEST(RockIndex, AFullStoreOfOneSlotObjectsTakesAtMostEightyFourBytesAnObject) {
  constexpr uint32_t kSlots = 100'000;
  RockIndex index(std::make_unique<LruPolicy>(), kSlots, 128);
  const RockSlots slots(kSlots);
  for (uint32_t i = 0; i < kSlots; ++i) index.put(version_of(i, i + 1), 16384);
  const double bytes = static_cast<double>(index.memory_bytes() + slots.memory_bytes()) / kSlots;
  ::testing::Test::RecordProperty("bytes_an_object", std::to_string(bytes));
  EXPECT_LE(bytes, 84.0);
}

TEST(RockSlots, ChainsKeepTheirOrderAndTheirParts) {
  RockSlots slots(10);
  std::vector<uint32_t> taken;
  for (int i = 0; i < 5; ++i) taken.push_back(*slots.take());
  EXPECT_EQ(taken, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  slots.link(std::span(taken).first(2), std::span(taken).subspan(2));
  const RockChain chain = slots.chain(0);
  EXPECT_EQ(chain.slots, taken);
  EXPECT_EQ(chain.head_count, 2u);
  EXPECT_EQ(chain.first_body_slot(), 2u);
  EXPECT_EQ(slots.free_count(), 5u);
  slots.let_go(0);
  EXPECT_EQ(slots.free_count(), 7u);
  slots.let_go(2);
  EXPECT_EQ(slots.free_count(), 10u);
}

TEST(RockSlots, APartThatIsReadIsFreeWhenTheLastReaderHasGone) {
  RockSlots slots(10);
  std::vector<uint32_t> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(*slots.take());
  slots.link(std::span(taken).first(1), std::span(taken).subspan(1));
  slots.pin(1);
  slots.pin(1);
  EXPECT_TRUE(slots.pinned(0));
  slots.let_go(0);
  slots.let_go(1);
  EXPECT_EQ(slots.free_count(), 7u);
  slots.unpin(1);
  EXPECT_EQ(slots.free_count(), 7u);
  slots.unpin(1);
  EXPECT_EQ(slots.free_count(), 10u);
  slots.pin(5);
  slots.unpin(5);
  EXPECT_EQ(slots.free_count(), 10u);
}

TEST(RockSlots, EverySlotIsTakenOnceAndNoMore) {
  RockSlots slots(100);
  std::vector<bool> seen(100);
  while (const auto slot = slots.take()) {
    EXPECT_FALSE(seen[*slot]);
    seen[*slot] = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 100);
}

}  // namespace
}  // namespace storage
