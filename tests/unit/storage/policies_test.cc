#include "storage/replacement/policies.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "storage/base/random.h"
#include "storage/replacement/frequency_sketch.h"
#include "storage/replacement/s3_fifo.h"

namespace storage {
namespace {

std::unique_ptr<ReplacementPolicy> made(std::string_view name, uint64_t capacity_bytes) {
  std::string error;
  auto policy = make_policy(name, capacity_bytes, error);
  EXPECT_NE(policy, nullptr) << error;
  return policy;
}

TEST(Policies, EachIsMadeByItsNameAndListedForUsers) {
  std::string listed(kPolicyMeaning.substr(kPolicyMeaning.find(':') + 2));
  for (const PolicyRow& row : policies()) {
    EXPECT_EQ(made(row.name, 1000)->name(), row.name);
    EXPECT_FALSE(row.summary.empty());
    const std::string item(row.name);
    ASSERT_EQ(listed.substr(0, item.size()), item);
    listed.erase(0, std::min(listed.size(), item.size() + 2));
  }
  EXPECT_EQ(listed, "");
}

TEST(Policies, AnUnknownNameIsToldWithAllThatAreKnown) {
  std::string error;
  EXPECT_EQ(make_policy("clock", 1000, error), nullptr);
  EXPECT_EQ(error,
            "unknown replacement policy 'clock': known are lru, heap-gdsf, heap-lfuda, sieve, "
            "s3-fifo, w-tinylfu");
}

TEST(Policies, EveryEntryIsAVictimOnceAndSizesAddUp) {
  for (const PolicyRow& row : policies()) {
    SCOPED_TRACE(row.name);
    const auto policy = made(row.name, 10'000);
    std::deque<PolicyEntry> entries;
    uint64_t total = 0;
    for (uint64_t i = 0; i < 200; ++i) {
      total += 1 + i;
      policy->insert(entries.emplace_back(KeyHash{0, i}, 1 + i));
      if (i % 3 == 0) policy->touch(entries[i / 2]);
      EXPECT_EQ(policy->size_bytes(), total);
    }
    policy->resize(entries[7], 1000);
    EXPECT_EQ(policy->size_bytes(), total + 1000 - 8);
    policy->remove(entries[7]);
    policy->remove(entries[199]);
    EXPECT_EQ(policy->count(), 198u);
    std::set<uint64_t> victims;
    while (const PolicyEntry* const victim = policy->take_victim()) {
      EXPECT_TRUE(victims.insert(victim->hash.low).second);
      EXPECT_EQ(policy->count(), 198 - victims.size());
    }
    EXPECT_EQ(victims.size(), 198u);
    EXPECT_FALSE(victims.contains(7) || victims.contains(199));
    EXPECT_EQ(policy->size_bytes(), 0u);
  }
}

TEST(Policies, WhatIsPutBackIsNotTheNextVictimAndIsFoundLater) {
  for (const PolicyRow& row : policies()) {
    SCOPED_TRACE(row.name);
    const auto policy = made(row.name, 100);
    std::deque<PolicyEntry> entries;
    for (uint64_t i = 0; i < 100; ++i) policy->insert(entries.emplace_back(KeyHash{0, i}, 1));
    PolicyEntry* const first = policy->take_victim();
    policy->put_back(*first);
    EXPECT_EQ(policy->count(), 100u);
    EXPECT_NE(policy->take_victim(), first);
    bool found = false;
    while (const PolicyEntry* const victim = policy->take_victim()) found |= victim == first;
    EXPECT_TRUE(found);
  }
}

TEST(Policies, WhatWasEvictedMayComeAgain) {
  for (const PolicyRow& row : policies()) {
    SCOPED_TRACE(row.name);
    const auto policy = made(row.name, 10);
    std::deque<PolicyEntry> entries;
    Random random(1);
    for (uint64_t i = 0; i < 30; ++i) entries.emplace_back(KeyHash{0, i}, 1);
    std::set<uint64_t> inside;
    for (int turn = 0; turn < 10'000; ++turn) {
      PolicyEntry& entry = entries[random.below(30)];
      if (inside.contains(entry.hash.low)) {
        policy->touch(entry);
        continue;
      }
      if (inside.size() == 10) inside.erase(policy->take_victim()->hash.low);
      policy->insert(entry);
      inside.insert(entry.hash.low);
      ASSERT_EQ(policy->count(), inside.size());
    }
  }
}

TEST(S3Fifo, RemembersNoMoreOfWhatHasGoneThanItsMainQueueCouldHold) {
  S3FifoPolicy policy(100);
  std::deque<PolicyEntry> entries;
  for (uint64_t i = 0; i < 10'000; ++i) {
    if (policy.count() == 10) static_cast<void>(policy.take_victim());
    policy.insert(entries.emplace_back(KeyHash{0, i}, 10));
  }
  EXPECT_EQ(policy.ghost_count(), 9u);
}

TEST(FrequencySketch, CountsToItsLimitAndGrowsWithoutForgetting) {
  FrequencySketch sketch;
  const KeyHash often{1, 2};
  const KeyHash twice{3, 4};
  for (int i = 0; i < 100; ++i) sketch.record(often);
  for (int i = 0; i < 2; ++i) sketch.record(twice);
  EXPECT_EQ(sketch.estimate(often), 15u);
  EXPECT_EQ(sketch.estimate(twice), 2u);
  EXPECT_EQ(sketch.estimate(KeyHash{5, 6}), 0u);
  sketch.grow_for(5000);
  EXPECT_EQ(sketch.columns(), 8192u);
  EXPECT_EQ(sketch.estimate(often), 15u);
  EXPECT_EQ(sketch.estimate(twice), 2u);
}

TEST(FrequencySketch, HalvesWhatItKnowsAfterTenUsesAColumn) {
  FrequencySketch sketch;
  const KeyHash early{1, 2};
  for (int i = 0; i < 12; ++i) sketch.record(early);
  const uint64_t uses = FrequencySketch::kUsesPerColumn * sketch.columns();
  for (uint64_t i = 12; i < uses; ++i) {
    EXPECT_EQ(sketch.estimate(early), 12u);
    sketch.record(KeyHash{7, 8});
  }
  EXPECT_EQ(sketch.estimate(early), 6u);
  EXPECT_EQ(sketch.estimate(KeyHash{7, 8}), 7u);
}

}  // namespace
}  // namespace storage
