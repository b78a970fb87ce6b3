#include "storage/layout/coss_log.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace storage {
namespace {

constexpr uint32_t kStripeSize = 64 * 1024;
// Two of them fill a stripe.
constexpr uint32_t kRecordSize = 30'000;

// A log whose stripes reach the disk when the test says so.
class CossLogTest : public ::testing::Test {
 protected:
  explicit CossLogTest(uint32_t stripes = 4, unsigned membufs = 3) {
    geometry_.store_id = 7;
    geometry_.stripe_size_bytes = kStripeSize;
    geometry_.block_size_bytes = 512;
    geometry_.stripe_count = stripes;
    index_ = std::make_unique<CossIndex>(geometry_, 128);
    log_ = std::make_unique<CossLog>(
        geometry_, membufs, io_.get_executor(), *index_,
        [this](uint32_t stripe) { flushing_.push_back(stripe); }, [] {});
    log_->begin(stripes - 1, 1, 1);
  }

  bool put(uint64_t key) {
    const auto place = log_->try_place(kRecordSize);
    if (!place) return false;
    std::ranges::fill(place->bytes, static_cast<std::byte>(key));
    log_->publish(*place, KeyHash{0, key});
    return true;
  }
  bool has(uint64_t key) const { return index_->find(KeyHash{0, key}).has_value(); }
  uint32_t stripe_of(uint64_t key) const {
    return index_->stripe_of(*index_->find(KeyHash{0, key}));
  }
  // The oldest stripe that is on its way arrives.
  void arrive(bool written = true) {
    ASSERT_FALSE(flushing_.empty());
    const uint32_t stripe = flushing_.front();
    flushing_.pop_front();
    EXPECT_TRUE(log_->may_overwrite(stripe) || !written);
    log_->flushed(stripe, written);
  }

  boost::asio::io_context io_;
  CossGeometry geometry_;
  std::unique_ptr<CossIndex> index_;
  std::deque<uint32_t> flushing_;
  std::unique_ptr<CossLog> log_;
};

TEST_F(CossLogTest, OverwritesTheOldestAndForgetsItsObjects) {
  for (uint64_t key = 1; key <= 8; ++key) {
    ASSERT_TRUE(put(key)) << key;
    while (!flushing_.empty()) arrive();
  }
  for (uint64_t key = 1; key <= 8; ++key) EXPECT_TRUE(has(key)) << key;
  ASSERT_TRUE(put(9));
  EXPECT_FALSE(has(1) || has(2));
  EXPECT_TRUE(has(3) && has(9));
  EXPECT_EQ(log_->counts().evictions, 2u);
}

TEST_F(CossLogTest, RefusesWhileAllMembufsAreOnTheirWay) {
  for (uint64_t key = 1; key <= 6; ++key) ASSERT_TRUE(put(key));
  EXPECT_FALSE(put(7));
  EXPECT_FALSE(log_->can_accept(kRecordSize));
  EXPECT_TRUE(log_->short_of_membufs());
  EXPECT_EQ(log_->in_flight(), 2u);
  arrive();
  EXPECT_TRUE(log_->can_accept(kRecordSize));
  EXPECT_TRUE(put(7));
}

TEST_F(CossLogTest, AStripeIsWrittenOnlyOnceAFloorAboveItsOldContentIsOnDisk) {
  for (uint64_t key = 1; key <= 8; ++key) {
    ASSERT_TRUE(put(key));
    while (!flushing_.empty()) arrive();
  }
  // The fourth stripe, sealed now, brings the floor that allows the first to be overwritten.
  for (uint64_t key = 9; key <= 11; ++key) ASSERT_TRUE(put(key));
  ASSERT_EQ(flushing_.size(), 2u);
  const uint32_t overwriting = flushing_.back();
  EXPECT_EQ(overwriting, stripe_of(9));
  EXPECT_FALSE(log_->may_overwrite(overwriting));
  EXPECT_TRUE(log_->older_in_flight(overwriting));
  arrive();
  EXPECT_TRUE(log_->may_overwrite(overwriting));
}

TEST_F(CossLogTest, AStripeThatIsReadIsPassedOver) {
  ASSERT_TRUE(put(1));
  const uint32_t read = stripe_of(1);
  log_->pin(read);
  for (uint64_t key = 2; key <= 30; ++key) {
    ASSERT_TRUE(put(key)) << key;
    EXPECT_TRUE(key <= 2 || stripe_of(key) != read) << key;
    while (!flushing_.empty()) arrive();
  }
  EXPECT_FALSE(has(1)) << "the log has passed it, so its objects are gone";
  EXPECT_GE(log_->counts().pinned_skips, 1u);
  log_->unpin(read);
  bool used = false;
  for (uint64_t key = 31; key <= 40; ++key) {
    ASSERT_TRUE(put(key));
    used = used || stripe_of(key) == read;
    while (!flushing_.empty()) arrive();
  }
  EXPECT_TRUE(used);
}

TEST_F(CossLogTest, RefusesWhileAllStripesAreReadAndForgetsNothing) {
  for (uint64_t key = 1; key <= 8; ++key) {
    ASSERT_TRUE(put(key));
    log_->pin(stripe_of(key));
    while (!flushing_.empty()) arrive();
  }
  EXPECT_FALSE(put(9));
  while (!flushing_.empty()) arrive();
  EXPECT_FALSE(put(9));
  EXPECT_FALSE(log_->can_accept(kRecordSize));
  EXPECT_FALSE(log_->short_of_membufs());
  for (uint64_t key = 1; key <= 8; ++key) EXPECT_TRUE(has(key)) << key;
  log_->unpin(stripe_of(5));
  log_->unpin(stripe_of(6));
  EXPECT_TRUE(put(9));
}

TEST_F(CossLogTest, WhatCouldNotBeWrittenIsForgottenAndRecordedAsRemoved) {
  ASSERT_TRUE(put(1) && put(2) && put(3));
  arrive(false);
  EXPECT_FALSE(has(1) || has(2));
  EXPECT_TRUE(has(3));
  EXPECT_EQ(log_->counts().objects_unwritten, 2u);
  ASSERT_TRUE(put(4));
  log_->seal_open();
  const uint32_t stripe = flushing_.back();
  const std::span<const std::byte> bytes(log_->memory(stripe).get(), kStripeSize);
  const auto trailer = decode_coss_trailer(geometry_, stripe, bytes);
  ASSERT_TRUE(trailer.has_value());
  const auto entries = decode_coss_directory(geometry_, *trailer, bytes);
  ASSERT_TRUE(entries.has_value());
  EXPECT_EQ(std::ranges::count(*entries, 0u, &CossEntry::size_bytes), 2);
}

TEST_F(CossLogTest, AReaderOfWhatCouldNotBeWrittenKeepsItsBytes) {
  ASSERT_TRUE(put(1) && put(2));
  const uint32_t stripe = stripe_of(1);
  log_->pin(stripe);
  ASSERT_TRUE(put(3));
  arrive(false);
  ASSERT_NE(log_->memory(stripe), nullptr);
  EXPECT_EQ(log_->memory(stripe).get()[0], std::byte{1});
  log_->unpin(stripe);
  EXPECT_EQ(log_->memory(stripe), nullptr);
}

TEST_F(CossLogTest, NothingOfEarlierTurnsIsWritten) {
  for (uint64_t key = 1; key <= 3; ++key) ASSERT_TRUE(put(key));
  arrive();
  const auto place = log_->try_place(10);
  ASSERT_TRUE(place.has_value());
  std::ranges::fill(place->bytes, std::byte{0x55});
  log_->publish(*place, KeyHash{0, 99});
  log_->seal_open();
  const uint32_t stripe = flushing_.back();
  const std::span<const std::byte> bytes(log_->memory(stripe).get(), kStripeSize);
  const size_t end = place->offset_bytes + 10;
  const size_t directory = kStripeSize - kCossTrailerSize - 2 * kCossDirectoryEntrySize;
  for (size_t at = end; at < directory; ++at) {
    ASSERT_EQ(bytes[at], std::byte{0}) << at;
  }
}

}  // namespace
}  // namespace storage
