#include "proxy/range.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace proxy {
namespace {

using Kind = RangeAnswer::Kind;

struct RangeCase {
  const char* value;
  uint64_t size_bytes;
  Kind kind;
  ByteRange range;
};

class SelectRange : public testing::TestWithParam<RangeCase> {};

TEST_P(SelectRange, AnswersAsTheRfcSays) {
  const RangeCase& c = GetParam();
  const RangeAnswer answer = select_range(c.value, c.size_bytes);
  EXPECT_EQ(answer.kind, c.kind) << c.value;
  if (c.kind == Kind::kPartial) {
    EXPECT_EQ(answer.range, c.range) << c.value;
  }
}

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

INSTANTIATE_TEST_SUITE_P(Examples, SelectRange,
                         testing::Values(
                             // RFC 9110 14.1.2, of 10000 bytes.
                             RangeCase{"bytes=0-499", 10000, Kind::kPartial, {0, 499}},
                             RangeCase{"bytes=500-999", 10000, Kind::kPartial, {500, 999}},
                             RangeCase{"bytes=-500", 10000, Kind::kPartial, {9500, 9999}},
                             RangeCase{"bytes=9500-", 10000, Kind::kPartial, {9500, 9999}},
                             RangeCase{"bytes=0-0,-1", 10000, Kind::kWhole, {}},
                             RangeCase{"bytes= 0-999, 4500-5499, -1000", 10000, Kind::kWhole, {}},
                             RangeCase{"bytes=500-600,601-999", 10000, Kind::kPartial, {500, 999}},
                             RangeCase{"bytes=500-700,601-999", 10000, Kind::kPartial, {500, 999}},
                             RangeCase{"bytes=601-999,500-700", 10000, Kind::kPartial, {500, 999}},
                             RangeCase{"bytes=0-99,10-20", 10000, Kind::kPartial, {0, 99}}));

INSTANTIATE_TEST_SUITE_P(
    Borders, SelectRange,
    testing::Values(RangeCase{"bytes=0-0", 10, Kind::kPartial, {0, 0}},
                    RangeCase{"bytes=0-", 10, Kind::kPartial, {0, 9}},
                    RangeCase{"bytes=9-9", 10, Kind::kPartial, {9, 9}},
                    RangeCase{"bytes=9-99", 10, Kind::kPartial, {9, 9}},
                    RangeCase{"bytes=-1", 10, Kind::kPartial, {9, 9}},
                    RangeCase{"bytes=-10", 10, Kind::kPartial, {0, 9}},
                    RangeCase{"bytes=-11", 10, Kind::kPartial, {0, 9}},
                    RangeCase{"bytes=10-", 10, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=10-10", 10, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=-0", 10, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=10-,-0", 10, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=10-,5-5", 10, Kind::kPartial, {5, 5}},
                    RangeCase{"bytes=0-", 0, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=-5", 0, Kind::kUnsatisfiable, {}},
                    RangeCase{"bytes=0-", kLargest, Kind::kPartial, {0, kLargest - 1}},
                    RangeCase{"BYTES=1-2", 10, Kind::kPartial, {1, 2}},
                    RangeCase{"bytes=1-2,,", 10, Kind::kPartial, {1, 2}},
                    RangeCase{"bytes=1-2 , 3-4", 10, Kind::kPartial, {1, 4}},
                    RangeCase{"bytes=000001-0000002", 10, Kind::kPartial, {1, 2}}));

INSTANTIATE_TEST_SUITE_P(
    Overflows, SelectRange,
    testing::Values(
        RangeCase{"bytes=-9223372036854775808", 10, Kind::kPartial, {0, 9}},
        RangeCase{"bytes=-18446744073709551615", 10, Kind::kPartial, {0, 9}},
        RangeCase{"bytes=-18446744073709551616", 10, Kind::kPartial, {0, 9}},
        RangeCase{"bytes=-99999999999999999999999999", 10, Kind::kPartial, {0, 9}},
        RangeCase{"bytes=5-18446744073709551615", 10, Kind::kPartial, {5, 9}},
        RangeCase{"bytes=5-18446744073709551616", 10, Kind::kPartial, {5, 9}},
        RangeCase{"bytes=18446744073709551616-", 10, Kind::kUnsatisfiable, {}},
        RangeCase{"bytes=18446744073709551616-18446744073709551617", 10, Kind::kUnsatisfiable, {}},
        // CVE-2017-7529: the sum of the lengths wraps round.
        RangeCase{"bytes=-623,-9223372036854775185", 605, Kind::kPartial, {0, 604}}));

INSTANTIATE_TEST_SUITE_P(
    Malformed, SelectRange,
    testing::Values(
        RangeCase{"", 10, Kind::kWhole, {}}, RangeCase{"bytes", 10, Kind::kWhole, {}},
        RangeCase{"bytes=", 10, Kind::kWhole, {}}, RangeCase{"bytes=,", 10, Kind::kWhole, {}},
        RangeCase{"bytes=-", 10, Kind::kWhole, {}}, RangeCase{"bytes=5-2", 10, Kind::kWhole, {}},
        RangeCase{"bytes=--1", 10, Kind::kWhole, {}},
        RangeCase{"bytes=--9223372036854775808", 10, Kind::kWhole, {}},
        RangeCase{"bytes=1-2-3", 10, Kind::kWhole, {}}, RangeCase{"bytes=1", 10, Kind::kWhole, {}},
        RangeCase{"bytes=len-", 10, Kind::kWhole, {}}, RangeCase{"bytes=a-b", 10, Kind::kWhole, {}},
        RangeCase{"bytes=+1-2", 10, Kind::kWhole, {}},
        RangeCase{"bytes=1 - 2", 10, Kind::kWhole, {}},
        RangeCase{"bytes=0-1,x", 10, Kind::kWhole, {}},
        RangeCase{"bytes =0-1", 10, Kind::kWhole, {}}, RangeCase{"items=0-1", 10, Kind::kWhole, {}},
        RangeCase{"bytes:0-1", 10, Kind::kWhole, {}}));

TEST(SelectRangeLimits, ManyRangesGetTheWhole) {
  std::string value = "bytes=0-0";
  for (int i = 1; i < 100; ++i) value += "," + std::to_string(i) + "-" + std::to_string(i);
  EXPECT_EQ(select_range(value, 10000).kind, Kind::kWhole);
  std::string fits = "bytes=0-0";
  for (size_t i = 1; i < kRangeCountMax; ++i) {
    fits += "," + std::to_string(i) + "-" + std::to_string(i);
  }
  EXPECT_EQ(select_range(fits, 10000).range, (ByteRange{0, kRangeCountMax - 1}));
  EXPECT_EQ(select_range(fits + ",-1", 10000).kind, Kind::kWhole);
}

TEST(ContentRange, Formats) {
  EXPECT_EQ(format_content_range({42, 1233}, 1234), "bytes 42-1233/1234");
  EXPECT_EQ(format_unsatisfied_range(1234), "bytes */1234");
}

TEST(ContentRange, ParsesWhatOriginsSend) {
  const auto full = parse_content_range("bytes 42-1233/1234");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->range, (ByteRange{42, 1233}));
  EXPECT_EQ(full->complete_size_bytes, 1234u);
  const auto unknown = parse_content_range("bytes 42-1233/*");
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->complete_size_bytes, std::nullopt);
}

TEST(ContentRange, RefusesContradictions) {
  for (const char* value :
       {"", "bytes", "bytes ", "bytes */1234", "bytes 5-2/10", "bytes 0-10/10", "bytes 0-9",
        "bytes 0-9/", "bytes -9/10", "bytes 0-/10", "bytes=0-9/10", "items 0-9/10",
        "bytes 0-18446744073709551615/*", "bytes 0-9/18446744073709551616", "bytes a-b/c",
        "bytes 0-9/10 ,", "bytes 0/9-10"}) {
    EXPECT_FALSE(parse_content_range(value)) << value;
  }
}

}  // namespace
}  // namespace proxy
