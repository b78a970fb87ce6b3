#include "storage/layout/ufs_swap_log_format.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "storage/base/random.h"
#include "tests/support/seed.h"

namespace storage {
namespace {

UfsLogRecord record_of(uint64_t number, UfsLogRecord::Kind kind = UfsLogRecord::Kind::kAdd) {
  UfsLogRecord record;
  record.kind = kind;
  record.sequence = number;
  record.hash = KeyHash{number * 3, number * 7};
  record.file_size_bytes = 1000 + number;
  record.allocated_bytes = 4096 + number;
  return record;
}

std::vector<std::byte> log_of(uint64_t records, bool clean) {
  UfsLogHeader header;
  header.clean = clean;
  header.record_count = records;
  header.next_sequence = 100;
  std::vector<std::byte> bytes(kUfsLogHeaderSize);
  encode_ufs_log_header(header, bytes);
  for (uint64_t i = 0; i < records; ++i) append_ufs_log_record(record_of(i), bytes);
  return bytes;
}

UfsLogContents parse(std::span<const std::byte> bytes, size_t step = 1 << 20) {
  UfsLogParser parser;
  for (size_t at = 0; at < bytes.size(); at += step) {
    parser.append(bytes.subspan(at, std::min(step, bytes.size() - at)));
  }
  return parser.finish();
}

TEST(UfsSwapLogFormat, ComesBackAsItWasWritten) {
  std::vector<std::byte> bytes = log_of(3, true);
  for (const size_t step : {size_t{1}, size_t{13}, size_t{56}, size_t{1000}}) {
    const UfsLogContents contents = parse(bytes, step);
    EXPECT_TRUE(contents.clean);
    EXPECT_EQ(contents.next_sequence, 100u);
    EXPECT_EQ(contents.damaged_records, 0u);
    ASSERT_EQ(contents.records.size(), 3u);
    EXPECT_EQ(contents.records[2], record_of(2));
  }
  append_ufs_log_record(record_of(1, UfsLogRecord::Kind::kRemove), bytes);
  const UfsLogContents changed = parse(bytes);
  EXPECT_EQ(changed.records.back(), record_of(1, UfsLogRecord::Kind::kRemove));
  EXPECT_FALSE(changed.clean) << "something happened after the clean stop";
}

TEST(UfsSwapLogFormat, NoLogAtAllIsNotClean) {
  const UfsLogContents contents = parse({});
  EXPECT_FALSE(contents.clean);
  EXPECT_EQ(contents.damaged_records, 0u);
}

TEST(UfsSwapLogFormat, CutAtAnyByteItKeepsEveryWholeRecordAndIsNotClean) {
  const std::vector<std::byte> bytes = log_of(5, true);
  for (size_t length = 1; length < bytes.size(); ++length) {
    const UfsLogContents contents = parse(std::span(bytes).first(length));
    const size_t whole =
        length < kUfsLogHeaderSize ? 0 : (length - kUfsLogHeaderSize) / kUfsLogRecordSize;
    EXPECT_FALSE(contents.clean) << length;
    EXPECT_EQ(contents.records.size(), whole) << length;
    const bool cut_inside =
        length < kUfsLogHeaderSize || (length - kUfsLogHeaderSize) % kUfsLogRecordSize != 0;
    EXPECT_EQ(contents.damaged_records, cut_inside ? 1u : 0u) << length;
  }
}

TEST(UfsSwapLogFormat, ARunningStoresLogMayEndWithinARecord) {
  const std::vector<std::byte> bytes = log_of(5, false);
  for (size_t length = kUfsLogHeaderSize; length < bytes.size(); ++length) {
    const UfsLogContents contents = parse(std::span(bytes).first(length));
    EXPECT_EQ(contents.damaged_records, 0u) << length;
    EXPECT_EQ(contents.records.size(), (length - kUfsLogHeaderSize) / kUfsLogRecordSize) << length;
  }
}

TEST(UfsSwapLogFormat, AnyBitFlipIsFoundAndCostsOneRecord) {
  const std::vector<std::byte> bytes = log_of(4, true);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> damaged = bytes;
    damaged[bit / 8] ^= std::byte{1} << (bit % 8);
    const UfsLogContents contents = parse(damaged);
    EXPECT_FALSE(contents.clean) << bit;
    EXPECT_EQ(contents.damaged_records, 1u) << bit;
    EXPECT_EQ(contents.records.size(), bit / 8 < kUfsLogHeaderSize ? 4u : 3u) << bit;
  }
}

TEST(UfsSwapLogFormat, GarbageIsCountedAndNeverBelieved) {
  const uint64_t seed = testing_support::test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> bytes = log_of(3, true);
    const size_t sound = bytes.size();
    const size_t garbage = 1 + random.below(500);
    for (size_t i = 0; i < garbage; ++i) bytes.push_back(static_cast<std::byte>(random()));
    const UfsLogContents contents = parse(bytes, 1 + random.below(300));
    EXPECT_FALSE(contents.clean);
    EXPECT_EQ(contents.records.size(), 3u);
    EXPECT_EQ(contents.damaged_records,
              (bytes.size() - sound + kUfsLogRecordSize - 1) / kUfsLogRecordSize);
  }
}

}  // namespace
}  // namespace storage
