#include "storage/layout/ufs_index.h"

#include <gtest/gtest.h>

#include "storage/replacement/lru.h"

namespace storage {
namespace {

UfsLogRecord object(uint64_t sequence, KeyHash hash, uint64_t size_bytes = 10) {
  UfsLogRecord record;
  record.sequence = sequence;
  record.hash = hash;
  record.file_size_bytes = size_bytes - 1;
  record.allocated_bytes = size_bytes;
  return record;
}

TEST(UfsIndex, FindsReplacesAndErases) {
  UfsIndex index(std::make_unique<LruPolicy>(), 128);
  EXPECT_FALSE(index.insert(object(1, {0, 1})).has_value());
  EXPECT_FALSE(index.insert(object(2, {1, 1}, 20)).has_value());
  EXPECT_EQ(index.find({0, 1}), object(1, {0, 1}));
  EXPECT_EQ(index.size_bytes(), 30u);
  EXPECT_EQ(index.insert(object(3, {0, 1}, 100)), object(1, {0, 1}));
  EXPECT_EQ(index.count(), 2u);
  EXPECT_EQ(index.size_bytes(), 120u);
  EXPECT_FALSE(index.erase({0, 1}, 1).has_value()) << "file 1 has been replaced";
  EXPECT_EQ(index.erase({0, 1}, 3), object(3, {0, 1}, 100));
  EXPECT_FALSE(index.find({0, 1}).has_value());
  EXPECT_EQ(index.size_bytes(), 20u);
}

TEST(UfsIndex, GivesUpWhatWasUsedLongestAgo) {
  UfsIndex index(std::make_unique<LruPolicy>(), 128);
  for (uint64_t i = 1; i <= 3; ++i) index.insert(object(i, {0, i}));
  index.touch({0, 1});
  EXPECT_EQ(index.take_victim()->sequence, 2u);
  EXPECT_EQ(index.take_victim()->sequence, 3u);
  EXPECT_EQ(index.take_victim()->sequence, 1u);
  EXPECT_FALSE(index.take_victim().has_value());
  EXPECT_EQ(index.size_bytes(), 0u);
}

TEST(UfsIndex, ShortHashesCollide) {
  UfsIndex index(std::make_unique<LruPolicy>(), 8);
  index.insert(object(1, {5, 0x1FF}));
  EXPECT_EQ(index.find({9, 0x2FF})->sequence, 1u);
  EXPECT_FALSE(index.find({5, 0x1FE}).has_value());
  UfsIndex wide(std::make_unique<LruPolicy>(), 68);
  wide.insert(object(1, {0x1F, 7}));
  EXPECT_TRUE(wide.find({0x2F, 7}).has_value());
  EXPECT_FALSE(wide.find({0x1E, 7}).has_value());
}

TEST(UfsIndex, ListsByFileNumber) {
  UfsIndex index(std::make_unique<LruPolicy>(), 128);
  for (const uint64_t i : {5, 3, 9, 1}) index.insert(object(i, {i, i}));
  const std::vector<UfsLogRecord> records = index.by_sequence();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records.front().sequence, 1u);
  EXPECT_EQ(records.back().sequence, 9u);
}

}  // namespace
}  // namespace storage
