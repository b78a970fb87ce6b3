#include "workload/origin/byte_ranges.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

std::string selected(std::string_view value, uint64_t size_bytes) {
  std::vector<ByteRange> ranges;
  switch (select_byte_ranges(value, size_bytes, ranges)) {
    case RangeKind::kWhole:
      EXPECT_TRUE(ranges.empty());
      return "whole";
    case RangeKind::kUnsatisfiable:
      EXPECT_TRUE(ranges.empty());
      return "none";
    case RangeKind::kParts:
      break;
  }
  std::string text;
  for (const auto& range : ranges) {
    text += std::to_string(range.first) + '-' + std::to_string(range.last) + ' ';
  }
  return text;
}

TEST(ByteRanges, OneOfEachForm) {
  EXPECT_EQ(selected("bytes=0-0", 100), "0-0 ");
  EXPECT_EQ(selected("BYTES=10-19", 100), "10-19 ");
  EXPECT_EQ(selected("bytes=90-", 100), "90-99 ");
  EXPECT_EQ(selected("bytes=90-1000", 100), "90-99 ");
  EXPECT_EQ(selected("bytes=-5", 100), "95-99 ");
  EXPECT_EQ(selected("bytes=-1000", 100), "0-99 ");
  EXPECT_EQ(selected("  bytes= 1-2 ", 100), "1-2 ");
}

TEST(ByteRanges, WhatIsMalformedIsIgnored) {
  for (const char* value : {"", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=+1-2",
                            "bytes=5-2", "bytes=1", "bytes=1-2-3", "bytes=0x1-2", "bytes=1 - 2",
                            "lines=0-1", "bytes=0-1,x", "bytes=0-1,bytes=2-3", "bytes 0-1"}) {
    EXPECT_EQ(selected(value, 100), "whole") << value;
  }
}

TEST(ByteRanges, BeyondTheEndIsUnsatisfiable) {
  EXPECT_EQ(selected("bytes=100-", 100), "none");
  EXPECT_EQ(selected("bytes=-0", 100), "none");
  EXPECT_EQ(selected("bytes=100-,200-300,-0", 100), "none");
  EXPECT_EQ(selected("bytes=0-", 0), "none");
  EXPECT_EQ(selected("bytes=-1", 0), "none");
  EXPECT_EQ(selected("bytes=5-6,100-", 100), "5-6 ");
}

TEST(ByteRanges, PositionsThatFitNoNumberAreBeyondEveryEnd) {
  EXPECT_EQ(selected("bytes=5-99999999999999999999999999", 100), "5-99 ");
  EXPECT_EQ(selected("bytes=-99999999999999999999999999", 100), "0-99 ");
  EXPECT_EQ(selected("bytes=99999999999999999999999999-", 100), "none");
  EXPECT_EQ(selected("bytes=18446744073709551616-18446744073709551620", 100), "none");
  EXPECT_EQ(selected("bytes=4294967296-4294967297", uint64_t{1} << 33), "4294967296-4294967297 ");
}

TEST(ByteRanges, SeveralKeepTheirOrderAndAreJoinedWhereTheyTouch) {
  EXPECT_EQ(selected("bytes=50-59, 0-9,,-5", 100), "50-59 0-9 95-99 ");
  EXPECT_EQ(selected("bytes=0-9,10-19", 100), "0-19 ");
  EXPECT_EQ(selected("bytes=0-9,5-19,90-", 100), "0-19 90-99 ");
  EXPECT_EQ(selected("bytes=0-9,20-29,10-19", 100), "0-29 ");
  EXPECT_EQ(selected("bytes=0-,0-,0-,0-", 100), "0-99 ");
}

TEST(ByteRanges, TheirNumberIsBounded) {
  std::string value = "bytes=0-0";
  for (size_t count = 1; count < kByteRangesMax; ++count) {
    value += ',' + std::to_string(10 * count) + '-' + std::to_string(10 * count);
  }
  EXPECT_NE(selected(value, 1000), "whole");
  EXPECT_EQ(selected(value + ",900-900", 1000), "whole");
}

}  // namespace
}  // namespace workload
