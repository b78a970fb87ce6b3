#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "traces/log_format.h"

namespace {

using traces::AccessRecord;
using traces::LineFault;
using traces::LogFormat;
using traces::parse_log_line;
using traces::SkipReason;

/// The record of a line, or a failed test.
AccessRecord native_record_of(std::string line) {
  // The record's views must outlive the call.
  static std::deque<std::string> kept_lines;
  kept_lines.push_back(std::move(line));
  const auto parsed = parse_log_line(kept_lines.back());
  if (const auto* record = std::get_if<AccessRecord>(&parsed)) return *record;
  ADD_FAILURE() << kept_lines.back() << ": " << std::get<LineFault>(parsed).detail;
  return {};
}

SkipReason fault_of(std::string_view line) {
  const auto parsed = parse_log_line(line);
  if (const auto* fault = std::get_if<LineFault>(&parsed)) return fault->reason;
  ADD_FAILURE() << line << ": has a record";
  return SkipReason::kOverLimit;
}

int64_t unix_ms(storage::WallTime time) {
  return std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

const std::string kPlain =
    "1700000003.120   2345 192.0.2.7 TCP_MISS/200 5120 GET http://img.example.net/a.png? - "
    "HIER_DIRECT/198.51.100.9 image/png";

TEST(SquidNative, ReadsEveryColumn) {
  const auto record = native_record_of(kPlain);
  EXPECT_EQ(record.format, LogFormat::kSquidNative);
  EXPECT_EQ(unix_ms(record.arrival), 1700000003120 - 2345) << "the log has the end";
  EXPECT_EQ(record.elapsed, std::chrono::milliseconds(2345));
  EXPECT_FALSE(record.whole_seconds);
  EXPECT_EQ(record.client, "192.0.2.7");
  EXPECT_EQ(record.result_tag, "TCP_MISS");
  EXPECT_EQ(record.status, 200);
  EXPECT_EQ(record.size_bytes, 5120U);
  EXPECT_EQ(record.method, "GET");
  EXPECT_EQ(record.url, "http://img.example.net/a.png?");
  EXPECT_EQ(record.hierarchy, "HIER_DIRECT/198.51.100.9");
  EXPECT_EQ(record.content_type, "image/png");
  EXPECT_FALSE(record.aborted);
}

TEST(SquidNative, ElapsedMayBeNegativeOrWideOrUnpadded) {
  EXPECT_EQ(native_record_of("1700000003.120 -7 h TCP_HIT/200 5 GET http://a/ - NONE/- -")
                .elapsed.count(),
            0);
  const auto wide =
      native_record_of("1700000003.120 12345678 h TCP_HIT/200 5 GET http://a/ - NONE/- -");
  EXPECT_EQ(unix_ms(wide.arrival), 1700000003120 - 12345678);
  EXPECT_EQ(fault_of("1700000003.120 999999999999 h TCP_HIT/200 5 GET http://a/ - NONE/- -"),
            SkipReason::kBadLine);
}

TEST(SquidNative, SizesOfNoSizeAreUnknownNotZero) {
  for (const std::string size : {"-", "-1"}) {
    const auto record =
        native_record_of("1700000003.120 7 h TCP_MISS/303 " + size + " GET http://a/ - NONE/- -");
    EXPECT_FALSE(record.size_bytes) << size;
  }
  EXPECT_EQ(
      native_record_of("1700000003.120 7 h TCP_HIT/200 0 GET http://a/ - NONE/- -").size_bytes, 0U);
  EXPECT_EQ(native_record_of("1700000003.120 7 h TCP_HIT/200 8589934592 GET http://a/ - NONE/- -")
                .size_bytes,
            8589934592U);
  EXPECT_EQ(
      fault_of("1700000003.120 7 h TCP_HIT/200 99999999999999999999 GET http://a/ - NONE/- -"),
      SkipReason::kBadLine);
}

TEST(SquidNative, TagsAreReadByTheirParts) {
  const auto record = native_record_of(
      "1700000003.120 7 ::1 TCP_CF_MISS_TIMEDOUT_ABORTED/000 0 GET http://a/ - TIMEOUT_DIRECT/b -");
  EXPECT_EQ(record.client, "::1");
  EXPECT_EQ(record.status, 0);
  EXPECT_TRUE(record.aborted);
  EXPECT_EQ(
      native_record_of("1700000003.120 7 h TCP_MISS/0 0 GET http://a/ - DEFAULT_PARENT/ -").status,
      0);
}

TEST(SquidNative, ColumnsMayBeMissingOrFollowAtTheEnd) {
  const auto nine =
      native_record_of("1700000003.120 7 h TCP_HIT/200 9 GET http://a/ - DIRECT/192.0.2.1");
  EXPECT_EQ(nine.content_type, "");
  EXPECT_EQ(nine.hierarchy, "DIRECT/192.0.2.1");
  const auto more = native_record_of(kPlain + " \"-\" \"agent\" [A: b\\r\\n] [C: d]");
  EXPECT_EQ(more.url, "http://img.example.net/a.png?");
  EXPECT_EQ(more.content_type, "image/png");
}

TEST(SquidNative, BlanksInTheUrlAreFoundFromBehind) {
  const auto record = native_record_of(
      "1700000003.120 7 h TCP_HIT/200 9 GET http://a/my  own file.txt bob DIRECT/- text/plain x");
  EXPECT_EQ(record.url, "http://a/my  own file.txt");
  EXPECT_EQ(record.content_type, "text/plain");
}

TEST(SquidNative, SyslogInFrontIsPassedOver) {
  EXPECT_EQ(native_record_of("Dec  4 03:31:46 gate (squid-1): " + kPlain).status, 200);
  EXPECT_EQ(native_record_of("<134>Dec  4 03:31:46 gate (squid): " + kPlain).status, 200);
}

TEST(SquidNative, ALocalTimeInFrontIsReadToo) {
  const auto record = native_record_of(
      "21/Dec/2020:14:44:58 +0100    380 h TCP_MISS/301 666 GET http://a/ - HIER_DIRECT/a "
      "text/html");
  EXPECT_EQ(record.format, LogFormat::kSquidLocalTime);
  EXPECT_TRUE(record.whole_seconds);
  EXPECT_EQ(unix_ms(record.arrival), 1608558298000 - 380);
}

TEST(SquidNative, CutAtAnyByteItIsNeverTakenForAnotherUrl) {
  const std::string& line = kPlain;
  for (size_t length = 1; length < line.size(); ++length) {
    const auto parsed = parse_log_line(line.substr(0, length));
    if (const auto* record = std::get_if<AccessRecord>(&parsed)) {
      EXPECT_EQ(record->url, "http://img.example.net/a.png?") << length;
      EXPECT_EQ(record->size_bytes, 5120U) << length;
    } else if (length >= 14) {
      EXPECT_EQ(std::get<LineFault>(parsed).reason, SkipReason::kBadLine) << length;
    }
  }
}

TEST(SquidNative, DamageIsABadLineAndOtherFormatsAreNamedAsSuch) {
  EXPECT_EQ(fault_of("5006 192.0.2.1 TCP_MISS/200 19763 GET http://a/ - DIRECT/- -"),
            SkipReason::kBadLine);
  EXPECT_EQ(fault_of("1700000003.120    TCP_HIT/304 214 GET http://a/ - DIRECT/- -"),
            SkipReason::kBadLine);
  EXPECT_EQ(fault_of("1700000003.120 7 h TCP_HIT/abc 214 GET http://a/ - DIRECT/- -"),
            SkipReason::kBadLine);
  EXPECT_EQ(fault_of("1700000003.120 7 h TCP_HIT/200 214 GET http://a/ - direct -"),
            SkipReason::kBadLine);
  EXPECT_EQ(fault_of("2014-12-05T09:00:05.407 418 TCP_HIT/200 1667473 GET http://a/ - NONE/- v/m"),
            SkipReason::kUnsupportedFormat);
  EXPECT_EQ(fault_of("1 2 345"), SkipReason::kUnsupportedFormat);
  EXPECT_EQ(fault_of("12.5 17 345"), SkipReason::kUnsupportedFormat);
  EXPECT_EQ(fault_of("5633898611441,512,42932745,2a"), SkipReason::kUnsupportedFormat);
  EXPECT_EQ(fault_of("#Fields: date time"), SkipReason::kComment);
  EXPECT_EQ(fault_of(" \t "), SkipReason::kBlank);
  EXPECT_EQ(fault_of(""), SkipReason::kBlank);
}

}  // namespace
