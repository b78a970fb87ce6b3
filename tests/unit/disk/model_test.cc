// The time of each command on a turning disk, event by event, on a clock that the test holds.
#include "workload/disk/model.h"

#include <gtest/gtest.h>

#include <map>

namespace workload::disk {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint64_t kSize = 202'000'000;

// A turn of 10 ms, 100 bytes a microsecond, cylinders of 2,000,000 bytes, and no overheads.
DiskProfile plain_disk() {
  DiskProfile disk;
  disk.name = "plain";
  disk.size_bytes = kSize;
  disk.command_overhead = DiskTime(0);
  disk.interface_rate = 1'000'000'000;
  RotatingMedium medium;
  medium.rpm = 6000;
  medium.track_bytes = 1'000'000;
  medium.tracks_per_cylinder = 2;
  medium.seek_settle = milliseconds(1);
  medium.seek_stroke = milliseconds(8);
  medium.read_ahead_bytes = 0;
  disk.medium = medium;
  return disk;
}

class DiskModelTest : public ::testing::Test {
 protected:
  void read(uint64_t id, uint64_t offset, uint64_t length, DiskTime at) {
    model().submit({id, Operation::kRead, offset, length}, at);
  }
  void write(uint64_t id, uint64_t offset, uint64_t length, DiskTime at) {
    model().submit({id, Operation::kWrite, offset, length}, at);
  }
  void flush(uint64_t id, DiskTime at) { model().submit({id, Operation::kFlush, 0, 0}, at); }

  // Lets everything happen, and notes when each command was done and each byte durable.
  void run_until(DiskTime end) {
    model().advance(end);
    for (const Outcome& outcome : model().take_outcomes()) {
      if (outcome.kind == Outcome::Kind::kCompleted) {
        done_[outcome.id] = outcome.at;
        order_.push_back(outcome.id);
      } else {
        durable_.push_back({outcome.at, outcome.offset_bytes, outcome.length_bytes});
      }
    }
  }
  void run() { run_until(std::chrono::seconds(100)); }
  DiskModel& model() {
    if (!model_) model_ = std::make_unique<DiskModel>(profile_, kSize);
    return *model_;
  }
  RotatingMedium& medium() { return std::get<RotatingMedium>(profile_.medium); }

  struct Durable {
    DiskTime at;
    uint64_t offset;
    uint64_t length;
    bool operator==(const Durable&) const = default;
  };
  DiskProfile profile_ = plain_disk();
  std::unique_ptr<DiskModel> model_;
  std::map<uint64_t, DiskTime> done_;
  std::vector<uint64_t> order_;
  std::vector<Durable> durable_;
};

TEST_F(DiskModelTest, AReadTakesSeekRotationAndTransfer) {
  read(1, 50'000'000, 100'000, milliseconds(2));
  run();
  // Seek 5 ms until 7 ms; byte 0 of a track comes at 10 ms; 1 ms of transfer.
  EXPECT_EQ(done_[1], milliseconds(11));
  const DiskCounters& counters = model().counters();
  EXPECT_EQ(counters.seek_time, milliseconds(5));
  EXPECT_EQ(counters.rotation_time, milliseconds(3));
  EXPECT_EQ(counters.transfer_time, milliseconds(1));
  EXPECT_EQ(counters.busy_time, milliseconds(9));
  EXPECT_EQ(counters.reads, 1u);
  EXPECT_EQ(counters.read_bytes, 100'000u);
  EXPECT_EQ(counters.seeks, 1u);
}

TEST_F(DiskModelTest, OverheadAndTurnaroundComeBeforeTheArmMoves) {
  profile_.command_overhead = microseconds(200);
  profile_.turnaround = microseconds(800);
  read(1, 200'000, 100'000, DiskTime(0));
  read(2, 400'000, 100'000, DiskTime(0));
  run();
  EXPECT_EQ(done_[1], milliseconds(3));  // ready at 1 ms, byte at 2 ms
  EXPECT_EQ(done_[2], milliseconds(5));  // ready at 1.2 ms, while the arm was busy: nothing is lost
}

TEST_F(DiskModelTest, TheArmTakesTheNextOneOnItsWayAndNotTheNextToCome) {
  read(1, 100'000'000, 100'000, DiskTime(0));
  read(2, 50'000'000, 100'000, microseconds(10));
  read(3, 180'000'000, 100'000, microseconds(20));
  read(4, 120'000'000, 100'000, microseconds(30));
  run();
  EXPECT_EQ(order_, (std::vector<uint64_t>{1, 4, 3, 2}));
}

TEST_F(DiskModelTest, WhatTheDriveDoesNotHaveYetItCannotSort) {
  profile_.queue_depth = 2;
  read(1, 100'000'000, 100'000, DiskTime(0));
  read(2, 50'000'000, 100'000, microseconds(10));
  read(3, 120'000'000, 100'000, microseconds(20));
  run();
  // 3 lies on the arm's way, but comes to the drive only when 1 ends and the arm sets out for 2.
  EXPECT_EQ(order_, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(model().counters().commands_max, 3u);
}

TEST_F(DiskModelTest, SequentialWritesAtDepthOneLoseATurnEach) {
  write(1, 0, 100'000, DiskTime(0));
  run_until(milliseconds(1));
  EXPECT_EQ(done_[1], milliseconds(1));
  write(2, 100'000, 100'000, milliseconds(1) + microseconds(50));
  run();
  EXPECT_EQ(done_[2], milliseconds(12));
}

TEST_F(DiskModelTest, SequentialWritesInTheQueueLoseNothing) {
  for (uint64_t i = 0; i < 16; ++i) write(i, i * 100'000, 100'000, DiskTime(0));
  run();
  EXPECT_EQ(done_[15], milliseconds(16));
  ASSERT_EQ(durable_.size(), 16u);
  EXPECT_EQ(durable_[15], (Durable{milliseconds(16), 1'500'000, 100'000}));
}

TEST_F(DiskModelTest, AReadThatFollowsTheLastOneComesFromTheReadBuffer) {
  medium().read_ahead_bytes = 500'000;
  read(1, 0, 100'000, DiskTime(0));
  run_until(milliseconds(1));
  // At 3 ms the head is at 300,000. All of it is there: the bus alone, 100 us.
  read(2, 100'000, 100'000, milliseconds(3));
  run_until(milliseconds(4));
  EXPECT_EQ(done_[2], milliseconds(3) + microseconds(100));
  // At 4 ms the end of this one has yet to pass.
  read(3, 350'000, 100'000, milliseconds(4));
  run();
  EXPECT_EQ(done_[3], microseconds(4500));
  EXPECT_EQ(model().counters().read_buffer_hits, 2u);
}

TEST_F(DiskModelTest, ACachedWriteIsDoneOverTheBusAndDurableLater) {
  profile_.write_cache_bytes = 1'000'000;
  write(1, 50'000'000, 100'000, DiskTime(0));
  run_until(milliseconds(1));
  EXPECT_EQ(done_[1], microseconds(100));
  EXPECT_TRUE(durable_.empty());
  run();
  ASSERT_EQ(durable_.size(), 1u);  // seek until 5.1 ms, byte at 10 ms, transfer
  EXPECT_EQ(durable_[0], (Durable{milliseconds(11), 50'000'000, 100'000}));
  EXPECT_EQ(model().counters().destages, 1u);
}

TEST_F(DiskModelTest, AFlushWaitsForAllThatTheCacheHadAndForNothingElse) {
  profile_.write_cache_bytes = 1'000'000;
  profile_.destage_delay = std::chrono::seconds(10);
  write(1, 50'000'000, 100'000, DiskTime(0));
  flush(2, milliseconds(1));
  run_until(milliseconds(1) + microseconds(1));
  write(3, 100'000'000, 100'000, milliseconds(2));
  run_until(std::chrono::seconds(1));
  EXPECT_EQ(done_[2], milliseconds(11));
  ASSERT_FALSE(durable_.empty());
  EXPECT_EQ(durable_[0].offset, 50'000'000u);
}

TEST_F(DiskModelTest, AFlushOfACleanCacheAndOfNoCacheTakesTheOverhead) {
  profile_.command_overhead = microseconds(200);
  flush(1, milliseconds(1));
  run();
  EXPECT_EQ(done_[1], milliseconds(1) + microseconds(200));
}

TEST_F(DiskModelTest, WritesStayInTheCacheForAsLongAsTheProfileSays) {
  profile_.write_cache_bytes = 1'000'000;
  profile_.destage_delay = milliseconds(500);
  write(1, 0, 100'000, DiskTime(0));
  run_until(milliseconds(499));
  EXPECT_TRUE(durable_.empty());
  run();
  ASSERT_EQ(durable_.size(), 1u);
  EXPECT_GE(durable_[0].at, milliseconds(500));
}

TEST_F(DiskModelTest, AFullCacheMakesWritesWaitForTheArm) {
  profile_.write_cache_bytes = 200'000;
  for (uint64_t i = 0; i < 3; ++i) write(i, i * 50'000'000, 100'000, DiskTime(0));
  run();
  EXPECT_LT(done_[1], milliseconds(1));
  // There is room again when the first is on the medium, and no sooner.
  EXPECT_EQ(done_[2], durable_[0].at + microseconds(100));
  EXPECT_EQ(durable_.size(), 3u);
}

TEST_F(DiskModelTest, AWriteThatTheCacheCouldNeverHoldGoesPastIt) {
  profile_.write_cache_bytes = 50'000;
  write(1, 0, 100'000, DiskTime(0));
  run();
  EXPECT_EQ(done_[1], milliseconds(1));
  EXPECT_EQ(model().counters().cached_writes, 0u);
}

TEST_F(DiskModelTest, AReadOfWhatIsInTheWriteCacheDoesNotMoveTheArm) {
  profile_.write_cache_bytes = 1'000'000;
  profile_.destage_delay = std::chrono::seconds(10);
  write(1, 50'000'000, 100'000, DiskTime(0));
  read(2, 50'020'000, 50'000, milliseconds(1));
  run_until(milliseconds(5));
  EXPECT_EQ(done_[2], milliseconds(1) + microseconds(50));
  EXPECT_EQ(model().counters().write_cache_hits, 1u);
}

TEST_F(DiskModelTest, FinishingPutsEverythingOnTheMediumAtOnce) {
  profile_.write_cache_bytes = 150'000;
  profile_.queue_depth = 3;
  write(1, 0, 100'000, DiskTime(0));
  run_until(milliseconds(0) + microseconds(150));
  write(2, 20'000'000, 100'000, microseconds(160));
  read(3, 40'000'000, 100'000, microseconds(160));
  flush(4, microseconds(160));
  write(5, 60'000'000, 100'000, microseconds(160));
  model().finish_all(microseconds(200));
  run_until(microseconds(200));
  EXPECT_EQ(done_.size(), 5u);
  uint64_t bytes = 0;
  for (const Durable& each : durable_) bytes += each.length;
  EXPECT_EQ(bytes, 300'000u);
  EXPECT_FALSE(model().next_event().has_value());
  // And it goes on as new.
  read(6, 0, 100'000, milliseconds(10));
  run();
  EXPECT_GT(done_[6], milliseconds(10));
}

TEST_F(DiskModelTest, WithoutPowerNothingComesOfWhatWasUnderWay) {
  profile_.write_cache_bytes = 1'000'000;
  write(1, 0, 100'000, DiskTime(0));
  read(2, 0, 4096, DiskTime(0));
  model().lose_power(DiskTime(1));
  run();
  EXPECT_TRUE(done_.empty());
  EXPECT_TRUE(durable_.empty());
}

TEST_F(DiskModelTest, TheDepthIsCountedOverTime) {
  read(1, 900'000, 100'000, DiskTime(0));  // 10 ms
  read(2, 1'900'000, 100'000, DiskTime(0));
  run_until(milliseconds(40));
  EXPECT_EQ(model().counters().commands_time, milliseconds(30));
  EXPECT_EQ(model().counters().busy_time, milliseconds(20));
  EXPECT_DOUBLE_EQ(model().counters().commands_mean(), 0.75);
}

// Flash: 2 channels, pages of 4 KiB, 100 us a read and 500 us a program, 41 us a page on the bus.
class FlashModelTest : public DiskModelTest {
 protected:
  FlashModelTest() {
    FlashMedium flash;
    flash.channels = 2;
    flash.page_bytes = 4096;
    flash.page_read = microseconds(100);
    flash.page_program = microseconds(500);
    profile_.medium = flash;
    profile_.interface_rate = 4096 * 25'000;  // 40 us a page
  }
};

TEST_F(FlashModelTest, ChannelsRunSideBySideAndTheBusOneByOne) {
  read(1, 0, 4096, DiskTime(0));
  read(2, 4096, 4096, DiskTime(0));
  run();
  EXPECT_EQ(done_[1], microseconds(140));
  EXPECT_EQ(done_[2], microseconds(180));
}

TEST_F(FlashModelTest, PagesOfOneChannelFollowEachOther) {
  read(1, 0, 4096, DiskTime(0));
  read(2, 8192, 4096, DiskTime(0));
  run();
  EXPECT_EQ(done_[2], microseconds(240));
  read(3, 0, 16'384, std::chrono::seconds(101));  // two pages each, and four over the bus
  run_until(std::chrono::seconds(102));
  EXPECT_EQ(done_[3], std::chrono::seconds(101) + microseconds(360));
  EXPECT_EQ(model().counters().page_reads, 6u);
}

TEST_F(FlashModelTest, WritesWithoutACacheEndWhenTheyAreProgrammed) {
  write(1, 0, 4096, DiskTime(0));
  run();
  EXPECT_EQ(done_[1], microseconds(540));
  EXPECT_EQ(durable_[0].at, microseconds(540));
}

TEST_F(FlashModelTest, TheCacheProgramsWhicheverChannelIsFree) {
  profile_.write_cache_bytes = 1'000'000;
  // All of channel 0, if they kept to it.
  for (uint64_t i = 0; i < 4; ++i) write(i, i * 8192, 4096, DiskTime(0));
  flush(9, microseconds(161));
  run();
  EXPECT_EQ(done_[3], microseconds(160));
  // Begun at 40, 80, 540 and 580 us.
  EXPECT_EQ(done_[9], microseconds(1080));
}

}  // namespace
}  // namespace workload::disk
