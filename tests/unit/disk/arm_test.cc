// Seek, rotation and transfer of a turning disk, against the formulas worked out by hand.
#include "workload/disk/arm.h"

#include <gtest/gtest.h>

#include "workload/disk/read_buffer.h"

namespace workload::disk {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A turn of 10 ms, 100 bytes a microsecond and a half cylinder a track.
RotatingMedium plain_medium() {
  RotatingMedium medium;
  medium.rpm = 6000;
  medium.track_bytes = 1'000'000;
  medium.tracks_per_cylinder = 2;
  medium.seek_settle = milliseconds(1);
  medium.seek_stroke = milliseconds(8);
  medium.read_ahead_bytes = 100'000;
  return medium;
}
constexpr uint64_t kDisk = 202'000'000;  // cylinders 0 to 100

TEST(Arm, SeeksByTheRootOfTheDistanceAndNotWithinACylinder) {
  const Arm arm(plain_medium(), kDisk);
  EXPECT_EQ(arm.seek_time(0, 1'999'999), DiskTime(0));
  EXPECT_EQ(arm.seek_time(0, 2'000'000), milliseconds(1) + microseconds(800));  // 1/100
  EXPECT_EQ(arm.seek_time(0, 50'000'000), milliseconds(1) + milliseconds(4));   // 25/100
  EXPECT_EQ(arm.seek_time(50'000'000, 0), milliseconds(1) + milliseconds(4));
  EXPECT_EQ(arm.seek_time(0, 201'000'000), milliseconds(1) + milliseconds(8));
}

TEST(Arm, WaitsUntilTheByteComesRound) {
  const Arm arm(plain_medium(), kDisk);
  EXPECT_EQ(arm.rotation_wait(0, DiskTime(0)), DiskTime(0));
  EXPECT_EQ(arm.rotation_wait(250'000, DiskTime(0)), microseconds(2500));
  EXPECT_EQ(arm.rotation_wait(250'000, microseconds(2500)), DiskTime(0));
  EXPECT_EQ(arm.rotation_wait(250'000, microseconds(2600)), microseconds(9900));
  EXPECT_EQ(arm.rotation_wait(5'250'000, milliseconds(70)), microseconds(2500));
}

TEST(Arm, ANanosecondTooLateByRoundingLosesNoTurn) {
  const Arm arm(plain_medium(), kDisk);
  EXPECT_EQ(arm.rotation_wait(250'000, microseconds(2500) + DiskTime(1)), DiskTime(0));
}

TEST(Arm, TransfersAtTheRateOfTheTrackOverAllTracks) {
  const Arm arm(plain_medium(), kDisk);
  EXPECT_EQ(arm.transfer_time(1'000'000), milliseconds(10));
  EXPECT_EQ(arm.transfer_time(5'500'000), milliseconds(55));
  EXPECT_EQ(arm.bytes_in(milliseconds(55)), 5'500'000u);
  EXPECT_EQ(arm.bytes_in(DiskTime(-5)), 0u);
  // The whole of the largest disk is no overflow.
  EXPECT_EQ(arm.transfer_time(kDiskSizeBytesMax / 1'000'000 * 1'000'000),
            milliseconds(10) * static_cast<int64_t>(kDiskSizeBytesMax / 1'000'000));
}

TEST(Arm, AMovementIsTheSumOfItsParts) {
  Arm arm(plain_medium(), kDisk);
  arm.set_head(50'000'000);
  const Movement movement = arm.movement(500'000, 100'000, milliseconds(2));
  EXPECT_EQ(movement.seek, milliseconds(5));
  EXPECT_EQ(movement.rotation, milliseconds(8));  // it is 7 ms, and at 15 ms byte 500,000 comes
  EXPECT_EQ(movement.transfer, milliseconds(1));
  EXPECT_EQ(movement.total(), milliseconds(14));
}

class ReadBufferTest : public ::testing::Test {
 protected:
  const Arm arm_{plain_medium(), kDisk};
  ReadBuffer buffer_{arm_, 100'000, kDisk};
};

TEST_F(ReadBufferTest, FillsAsThePlatterTurnsUpToItsLimit) {
  EXPECT_FALSE(buffer_.holds(0, 1, DiskTime(0)));
  buffer_.begin(0, 50'000, microseconds(500));
  EXPECT_TRUE(buffer_.holds(0, 50'000, microseconds(500)));
  EXPECT_FALSE(buffer_.holds(50'000, 60'000, microseconds(500)));
  EXPECT_TRUE(buffer_.holds(50'000, 60'000, microseconds(600)));
  EXPECT_EQ(buffer_.end(milliseconds(9)), 150'000u);
}

TEST_F(ReadBufferTest, StopsWhenTheArmLeavesAndKeepsWhatItHas) {
  buffer_.begin(0, 50'000, microseconds(500));
  buffer_.leave(microseconds(800));
  EXPECT_TRUE(buffer_.holds(50'000, 80'000, milliseconds(9)));
  EXPECT_FALSE(buffer_.holds(50'000, 80'001, milliseconds(9)));
  EXPECT_FALSE(buffer_.follow(80'000, 90'000, milliseconds(9)).has_value());
}

TEST_F(ReadBufferTest, AReadThatFollowsEndsWhenItsLastBytePasses) {
  buffer_.begin(0, 50'000, microseconds(500));
  EXPECT_EQ(buffer_.follow(50'000, 90'000, microseconds(600)), microseconds(900));
  // And the arm goes on to as far behind that one.
  EXPECT_EQ(buffer_.end(milliseconds(9)), 190'000u);
  EXPECT_FALSE(buffer_.follow(200'000, 210'000, microseconds(700)).has_value());
}

TEST_F(ReadBufferTest, AnArmThatReadEnoughHasToWaitForTheNextTurn) {
  buffer_.begin(0, 50'000, microseconds(500));  // full at 1.5 ms, with byte 150,000
  EXPECT_EQ(buffer_.follow(150'000, 160'000, microseconds(2000)), microseconds(11'600));
}

TEST_F(ReadBufferTest, WhatIsWrittenIsForgotten) {
  buffer_.begin(0, 50'000, microseconds(500));
  buffer_.forget(150'000, 160'000, microseconds(600));
  EXPECT_TRUE(buffer_.reading_on());
  buffer_.forget(149'000, 149'001, microseconds(600));
  EXPECT_FALSE(buffer_.holds(0, 10, microseconds(600)));
}

}  // namespace
}  // namespace workload::disk
