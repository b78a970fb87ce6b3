#include "storage/replacement/lru.h"

#include <gtest/gtest.h>

#include <vector>

namespace storage {
namespace {

class LruTest : public ::testing::Test {
 protected:
  LruTest() {
    entries_.reserve(4);  // Their addresses must not change.
    for (uint64_t i = 0; i < 4; ++i) entries_.emplace_back(KeyHash{0, i}, 10 + i);
    for (PolicyEntry& entry : entries_) policy_.insert(entry);
  }
  /// Evicts everything and returns the order in which it went.
  std::vector<uint64_t> evicted() {
    std::vector<uint64_t> order;
    while (const PolicyEntry* victim = policy_.take_victim()) order.push_back(victim->hash.low);
    return order;
  }
  std::vector<PolicyEntry> entries_;
  LruPolicy policy_;
};

using Order = std::vector<uint64_t>;

TEST_F(LruTest, EvictsInOrderOfArrivalWhereNothingIsUsed) {
  EXPECT_EQ(policy_.count(), 4u);
  EXPECT_EQ(policy_.size_bytes(), 46u);
  EXPECT_EQ(evicted(), (Order{0, 1, 2, 3}));
  EXPECT_EQ(policy_.count(), 0u);
  EXPECT_EQ(policy_.size_bytes(), 0u);
  EXPECT_EQ(policy_.take_victim(), nullptr);
}

TEST_F(LruTest, AUseMakesAnEntryTheNewest) {
  policy_.touch(entries_[0]);
  policy_.touch(entries_[2]);
  policy_.touch(entries_[2]);
  EXPECT_EQ(evicted(), (Order{1, 3, 0, 2}));
}

TEST_F(LruTest, RemovalAtEitherEndAndInTheMiddle) {
  policy_.remove(entries_[0]);
  policy_.remove(entries_[2]);
  policy_.remove(entries_[3]);
  EXPECT_EQ(policy_.size_bytes(), 11u);
  EXPECT_EQ(evicted(), (Order{1}));
}

TEST_F(LruTest, AVictimMayComeBack) {
  policy_.insert(*policy_.take_victim());
  EXPECT_EQ(evicted(), (Order{1, 2, 3, 0}));
}

TEST_F(LruTest, ANewSizeIsNoUse) {
  policy_.resize(entries_[0], 100);
  EXPECT_EQ(policy_.size_bytes(), 136u);
  EXPECT_EQ(evicted(), (Order{0, 1, 2, 3}));
}

}  // namespace
}  // namespace storage
