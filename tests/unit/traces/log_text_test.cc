#include "traces/log_text.h"

#include <gtest/gtest.h>

namespace {

using traces::parse_clf_time;
using traces::parse_epoch_time;

int64_t unix_s(std::optional<storage::WallTime> time) {
  if (!time) return -1;
  return std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
}

TEST(ClfTime, AppliesItsZone) {
  EXPECT_EQ(unix_s(parse_clf_time("05/Mar/2024:10:15:32 +0000")), 1709633732);
  EXPECT_EQ(unix_s(parse_clf_time("05/Mar/2024:10:15:32 +0100")), 1709633732 - 3600);
  EXPECT_EQ(unix_s(parse_clf_time("05/Mar/2024:10:15:32 -0530")), 1709633732 + 19800);
  EXPECT_EQ(unix_s(parse_clf_time("29/Feb/2024:00:00:00 +0000")), 1709164800);
  EXPECT_EQ(unix_s(parse_clf_time("31/Dec/2016:23:59:60 +0000")), 1483228800) << "a leap second";
}

TEST(ClfTime, RefusesWhatIsNone) {
  for (const char* text :
       {"", "05/Mar/2024:10:15:32", "5/Mar/2024:10:15:32 +01000", "05/Mrz/2024:10:15:32 +0100",
        "29/Feb/2023:10:15:32 +0100", "05/Mar/2024:24:15:32 +0100", "05/Mar/2024:10:60:32 +0100",
        "05/Mar/2024:10:15:61 +0100", "05/Mar/1969:10:15:32 +0100", "05/Mar/9999:10:15:32 +0100",
        "05/Mar/2024:10:15:32 0100 ", "05/Mar/2024:10:15:32 +1600", "05/02/2024 10:15:32 +01000",
        "-5/Mar/2024:10:15:32 +0100", "05/Mar/2024:1 :15:32 +0100"}) {
    EXPECT_FALSE(parse_clf_time(text)) << text;
  }
}

TEST(EpochTime, KeepsItsFractionAndItsBounds) {
  const auto time = parse_epoch_time("1700000003.120");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->time_since_epoch(), std::chrono::milliseconds(1700000003120));
  EXPECT_EQ(parse_epoch_time("1700000003.000000001")->time_since_epoch(),
            std::chrono::nanoseconds(1700000003000000001));
  for (const char* text : {"", ".", "1700000003", "1700000003.", ".5", "-1.5", "1e9.5", "1.-5",
                           "99999999999.0", "9999999999.0", "1700000003.1234567890"}) {
    EXPECT_FALSE(parse_epoch_time(text)) << text;
  }
}

TEST(Columns, AreSplitAtRunsOfBlanks) {
  EXPECT_EQ(traces::split_columns("  a \t b  c ", 9),
            (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(traces::split_columns("a b c", 2), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(traces::split_columns(" \t ", 9).empty());
  EXPECT_TRUE(traces::split_columns("", 9).empty());
}

TEST(Numbers, NeverWrapRound) {
  EXPECT_EQ(traces::parse_number("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"18446744073709551616", "-1", "+1", " 1", "1 ", "1.5", "0x1", ""}) {
    EXPECT_FALSE(traces::parse_number(text)) << text;
  }
}

TEST(ResultColumn, IsRecognisedByItsShape) {
  EXPECT_TRUE(traces::is_result_column("TCP_MISS/200"));
  EXPECT_TRUE(traces::is_result_column("NONE_NONE/000"));
  EXPECT_TRUE(traces::is_result_column("TCP_MISS/0"));
  for (const char* text : {"", "/200", "tcp_miss/200", "TCP_MISS/", "TCP_MISS/20x", "TCP_MISS"}) {
    EXPECT_FALSE(traces::is_result_column(text)) << text;
  }
}

TEST(ResultTag, AbortedIsAPartAnywhere) {
  EXPECT_TRUE(traces::is_aborted_tag("TCP_MISS_ABORTED"));
  EXPECT_TRUE(traces::is_aborted_tag("TCP_CF_MISS_TIMEDOUT_ABORTED"));
  EXPECT_TRUE(traces::is_aborted_tag("ERR_CLIENT_ABORT"));
  EXPECT_FALSE(traces::is_aborted_tag("TCP_MISS"));
  EXPECT_FALSE(traces::is_aborted_tag("TCP_UNABORTED"));
}

TEST(Escapes, AreUndoneWhereTheyAreOnes) {
  EXPECT_EQ(traces::undo_escapes(R"(/a\"b\\c\x41\xfF)"), "/a\"b\\cA\xff");
  EXPECT_EQ(traces::undo_escapes(R"(/a\q\x4\)"), R"(/a\q\x4\)");
}

TEST(Address, IsOneOfEitherFamily) {
  for (const char* text : {"192.0.2.1", "::1", "2001:db8::5"}) {
    EXPECT_TRUE(traces::looks_like_address(text)) << text;
  }
  for (const char* text : {"www.example.org", "-", "example:80", "alice", ""}) {
    EXPECT_FALSE(traces::looks_like_address(text)) << text;
  }
}

}  // namespace
