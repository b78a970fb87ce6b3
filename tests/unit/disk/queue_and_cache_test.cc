// Which command is next, and what the write cache knows of.
#include <gtest/gtest.h>

#include "workload/disk/command_queue.h"
#include "workload/disk/write_cache.h"

namespace workload::disk {
namespace {

using std::chrono::milliseconds;

class CommandQueueTest : public ::testing::Test {
 protected:
  void push(uint64_t offset, Operation operation = Operation::kRead, DiskTime now = DiskTime(0)) {
    queue().push({offset, operation, offset, 4096}, now);
  }
  CommandQueue& queue() {
    if (!queue_) queue_.emplace(profile_);
    return *queue_;
  }
  // Offsets in the order in which an arm that ends where it served takes them.
  std::vector<uint64_t> served(uint64_t head, DiskTime now = DiskTime(0)) {
    std::vector<uint64_t> offsets;
    while (const auto choice = queue().choose(head, std::nullopt, false, now)) {
      offsets.push_back(head = queue().take(choice->index).offset_bytes);
    }
    return offsets;
  }

  DiskProfile profile_ = *built_in_profile("scsi-2003");
  std::optional<CommandQueue> queue_;
};

TEST_F(CommandQueueTest, TheElevatorGoesUpAndThenBeginsAtTheLowest) {
  for (const uint64_t offset : {50u, 10u, 90u, 70u, 30u}) push(offset);
  EXPECT_EQ(served(60), (std::vector<uint64_t>{70, 90, 10, 30, 50}));
}

TEST_F(CommandQueueTest, WhatLiesAtTheHeadIsNext) {
  for (const uint64_t offset : {61u, 60u, 59u}) push(offset);
  EXPECT_EQ(served(60), (std::vector<uint64_t>{60, 61, 59}));
}

TEST_F(CommandQueueTest, FifoTakesThemAsTheyCame) {
  profile_.scheduling = Scheduling::kFifo;
  for (const uint64_t offset : {50u, 10u, 90u}) push(offset);
  EXPECT_EQ(served(60), (std::vector<uint64_t>{50, 10, 90}));
}

TEST_F(CommandQueueTest, ReadsGoFirstIfTheProfileSaysSo) {
  profile_.read_priority = true;
  push(70, Operation::kWrite);
  push(10);
  push(80);
  EXPECT_EQ(served(60), (std::vector<uint64_t>{80, 10, 70}));
}

TEST_F(CommandQueueTest, WhatWaitedTooLongGoesFirst) {
  profile_.starvation_limit = milliseconds(100);
  push(10, Operation::kRead, milliseconds(0));
  push(70, Operation::kRead, milliseconds(50));
  EXPECT_EQ(queue().choose(60, std::nullopt, false, milliseconds(99))->index, 1u);
  EXPECT_EQ(queue().choose(60, std::nullopt, false, milliseconds(100))->index, 0u);
}

TEST_F(CommandQueueTest, TheCacheTakesPartInTheElevatorAndWaitsForPreferredReads) {
  push(80);
  EXPECT_TRUE(queue().choose(60, 70, false, DiskTime(0))->destage);
  EXPECT_FALSE(queue().choose(60, 90, false, DiskTime(0))->destage);
  profile_.read_priority = true;
  queue_.reset();
  push(80);
  EXPECT_FALSE(queue().choose(60, 70, false, DiskTime(0))->destage);
  EXPECT_TRUE(queue().choose(60, 70, true, DiskTime(0))->destage);
}

TEST_F(CommandQueueTest, NothingIsNextInAnEmptyQueue) {
  EXPECT_FALSE(queue().choose(0, std::nullopt, true, DiskTime(0)).has_value());
  EXPECT_TRUE(queue().choose(0, 5, false, DiskTime(0))->destage);
}

TEST(WriteCacheTest, JoinsWhatTouchesAndCountsWhatOverlapsOnce) {
  WriteCache cache;
  cache.insert({100, 50}, 0);
  cache.insert({200, 50}, 0);
  cache.insert({150, 50}, 0);
  EXPECT_EQ(cache.dirty_bytes(), 150u);
  EXPECT_EQ(cache.next(0)->offset_bytes, 100u);
  EXPECT_EQ(cache.next(0)->length_bytes, 150u);
  cache.insert({120, 10}, 0);
  EXPECT_EQ(cache.dirty_bytes(), 150u);
  EXPECT_TRUE(cache.covers(100, 250));
  EXPECT_FALSE(cache.covers(99, 101));
  EXPECT_FALSE(cache.covers(249, 251));
}

TEST(WriteCacheTest, TheNextOneIsThatAtOrBehindAndElseTheLowest) {
  WriteCache cache;
  EXPECT_FALSE(cache.next(0).has_value());
  cache.insert({100, 10}, 0);
  cache.insert({300, 10}, 0);
  EXPECT_EQ(cache.next(100)->offset_bytes, 100u);
  EXPECT_EQ(cache.next(101)->offset_bytes, 300u);
  EXPECT_EQ(cache.next(301)->offset_bytes, 100u);
}

TEST(WriteCacheTest, WhatIsTakenLeavesTheRest) {
  WriteCache cache;
  cache.insert({100, 100}, 3);
  uint64_t generation = 0;
  const Extent taken = cache.take(100, 30, generation);
  EXPECT_EQ(taken.length_bytes, 30u);
  EXPECT_EQ(generation, 3u);
  EXPECT_EQ(cache.next(0)->offset_bytes, 130u);
  EXPECT_EQ(cache.take(130, 1000, generation).length_bytes, 70u);
  EXPECT_TRUE(cache.clean());
  EXPECT_EQ(cache.dirty_bytes(), 0u);
}

TEST(WriteCacheTest, FlushesWaitForWhatWasWrittenBeforeThem) {
  WriteCache cache;
  cache.insert({100, 50}, 1);
  cache.insert({150, 50}, 2);  // touches, but a later flush waits for it
  EXPECT_EQ(cache.next(0)->length_bytes, 50u);
  EXPECT_TRUE(cache.covers(100, 200));
  EXPECT_EQ(cache.oldest_generation(), 1u);
  uint64_t generation = 0;
  cache.take(100, 50, generation);
  EXPECT_EQ(cache.oldest_generation(), 2u);
  // A newer write over an older one: the flush of the older one has to wait for both.
  cache.insert({160, 10}, 5);
  EXPECT_EQ(cache.oldest_generation(), 2u);
  EXPECT_EQ(cache.dirty_bytes(), 50u);
  cache.clear();
  EXPECT_FALSE(cache.oldest_generation().has_value());
}

}  // namespace
}  // namespace workload::disk
