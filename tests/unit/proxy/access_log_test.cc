#include "proxy/access_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace proxy {
namespace {

using std::chrono::milliseconds;

AccessRecord example() {
  AccessRecord record;
  record.ended = storage::WallTime(milliseconds(1'066'036'250'603));
  record.duration = milliseconds(19);
  record.client_address = "192.0.2.1";
  record.tag = LogTag::kMiss;
  record.status = 200;
  record.sent_bytes = 1234;
  record.method = "GET";
  record.url = "http://example.com/a?b=%20c";
  record.hierarchy = Hierarchy::kDirect;
  record.origin_address = "198.51.100.2";
  record.content_type = "text/html; charset=utf-8";
  return record;
}

std::string line_of(const AccessRecord& record) {
  std::string out;
  append_access_line(record, out);
  return out;
}

TEST(AccessLog, NativeFormat) {
  EXPECT_EQ(line_of(example()),
            "1066036250.603     19 192.0.2.1 TCP_MISS/200 1234 GET http://example.com/a?b=%20c - "
            "HIER_DIRECT/198.51.100.2 text/html\n");
}

TEST(AccessLog, EmptyIsADash) {
  AccessRecord record;
  EXPECT_EQ(line_of(record), "0.000      0 - NONE_NONE/000 0 - - - HIER_NONE/- -\n");
}

TEST(AccessLog, AbortedHitFromTheParent) {
  AccessRecord record = example();
  record.tag = LogTag::kMemoryHit;
  record.aborted = true;
  record.duration = std::chrono::hours(1000);
  record.hierarchy = Hierarchy::kParent;
  record.user = "alice";
  record.content_type = "image/png ;x";
  EXPECT_EQ(line_of(record),
            "1066036250.603 3600000000 192.0.2.1 TCP_MEM_HIT_ABORTED/200 1234 GET "
            "http://example.com/a?b=%20c alice FIRSTUP_PARENT/198.51.100.2 image/png\n");
}

TEST(AccessLog, NoTextCanSplitALine) {
  std::string hostile;
  for (int c = 0; c < 256; ++c) hostile += static_cast<char>(c);
  AccessRecord record = example();
  record.client_address = record.method = record.url = record.user = hostile;
  record.origin_address = hostile;
  // The whole alphabet but the semicolon, at which a content type ends.
  std::string type = hostile;
  std::replace(type.begin(), type.end(), ';', ':');
  record.content_type = type;
  const std::string line = line_of(record);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(line.back(), '\n');
  const size_t start = line.find_first_not_of(' ', line.find(' '));  // The padded duration.
  EXPECT_EQ(std::count(line.begin() + static_cast<std::ptrdiff_t>(start), line.end(), ' '), 8);
  EXPECT_TRUE(
      std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= ' ' && c < '\x7f'; }));
}

TEST(AccessLog, PercentInUsersIsEscapedInUrlsNot) {
  AccessRecord record = example();
  record.user = "a b%20c";
  record.url = "http://h/a b%20c";
  const std::string line = line_of(record);
  EXPECT_NE(line.find(" a%20b%2520c "), std::string::npos);
  EXPECT_NE(line.find(" http://h/a%20b%20c "), std::string::npos);
}

TEST(AccessLog, LengthIsBounded) {
  const std::string large(1'000'000, '\n');
  AccessRecord record = example();
  record.url = record.user = record.method = record.content_type = large;
  EXPECT_LT(line_of(record).size(), 3 * kLoggedUrlLengthMax + 5000);
}

TEST(AccessLog, NegativeTimesAreZero) {
  AccessRecord record = example();
  record.duration = milliseconds(-5);
  record.ended = storage::WallTime(milliseconds(-5));
  EXPECT_EQ(line_of(record).substr(0, 14), "0.000      0 1");
}

TEST(AccessLog, TagsAreDistinctAndSayHitWhereTheyAre) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(LogTag::kNone); ++i) {
    const auto tag = static_cast<LogTag>(i);
    EXPECT_TRUE(names.insert(name_of(tag)).second) << name_of(tag);
    const bool named_hit = name_of(tag).find("HIT") != std::string_view::npos;
    const bool refreshed = tag == LogTag::kRefreshUnmodified || tag == LogTag::kRefreshFailed;
    EXPECT_EQ(is_hit(tag), named_hit || refreshed) << name_of(tag);
  }
}

}  // namespace
}  // namespace proxy
