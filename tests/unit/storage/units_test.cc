#include "storage/base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace storage {
namespace {

using std::chrono::nanoseconds;

TEST(Units, SizesArePowersOf1024InAnyCase) {
  EXPECT_EQ(parse_size_bytes("0"), 0u);
  EXPECT_EQ(parse_size_bytes("4096"), 4096u);
  EXPECT_EQ(parse_size_bytes("64K"), 65536u);
  EXPECT_EQ(parse_size_bytes("64kb"), 65536u);
  EXPECT_EQ(parse_size_bytes("2MiB"), 2 * kMiB);
  EXPECT_EQ(parse_size_bytes("10MB"), 10 * kMiB);
  EXPECT_EQ(parse_size_bytes("1.5G"), 3 * kGiB / 2);
  EXPECT_EQ(parse_size_bytes("0.5K"), 512u);
  EXPECT_EQ(parse_size_bytes("12B"), 12u);
  EXPECT_EQ(parse_size_bytes("1T"), 1024 * kGiB);
  EXPECT_EQ(parse_size_bytes("7P"), 7 * 1024 * 1024 * kGiB);
}

TEST(Units, NothingElseIsASize) {
  for (const char* text : {"",
                           " ",
                           "G",
                           "-1",
                           "+1",
                           "1 G",
                           "1G ",
                           "1.",
                           ".5",
                           "1..5",
                           "1.5.5",
                           "1X",
                           "1Kx",
                           "1iB",
                           "1KK",
                           "0x10",
                           "1e3",
                           "nan",
                           "inf",
                           "8192P",
                           "99999999999P",
                           "99999999999999999999",
                           "1.0000000000000000000000001G"}) {
    EXPECT_EQ(parse_size_bytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_size_bytes("8191P"), 8191ull << 50);
}

TEST(Units, DurationsHaveAUnitOrAreSeconds) {
  EXPECT_EQ(parse_duration("250us"), nanoseconds(250'000));
  EXPECT_EQ(parse_duration("20ms"), nanoseconds(20'000'000));
  EXPECT_EQ(parse_duration("1.5s"), nanoseconds(1'500'000'000));
  EXPECT_EQ(parse_duration("1.5"), nanoseconds(1'500'000'000));
  EXPECT_EQ(parse_duration("7ns"), nanoseconds(7));
  EXPECT_EQ(parse_duration("3m"), std::chrono::minutes(3));
  EXPECT_EQ(parse_duration("2h"), std::chrono::hours(2));
  EXPECT_EQ(parse_duration("1d"), std::chrono::hours(24));
  for (const char* text : {"", "s", "-1s", "1 s", "1S", "1.s", "1x", "1sm", "999999999999d"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Units, CountsAreDigitsAlone) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("18446744073709551615"), std::numeric_limits<uint64_t>::max());
  for (const char* text : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1.0", "0x1"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(Units, SizesArePrintedWithThreeDigits) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1.00 KiB");
  EXPECT_EQ(format_size(11 * kKiB), "11.0 KiB");
  EXPECT_EQ(format_size(3 * kGiB / 2), "1.50 GiB");
  EXPECT_EQ(format_size(999 * kMiB), "999 MiB");
  EXPECT_EQ(format_size(kMiB - 1), "1.00 MiB");
  EXPECT_EQ(format_size(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(Units, DurationsArePrintedWithTheUnitThatFits) {
  EXPECT_EQ(format_duration(nanoseconds(0)), "0 ns");
  EXPECT_EQ(format_duration(nanoseconds(999)), "999 ns");
  EXPECT_EQ(format_duration(std::chrono::microseconds(850)), "850 us");
  EXPECT_EQ(format_duration(nanoseconds(999'600)), "1.00 ms");
  EXPECT_EQ(format_duration(std::chrono::microseconds(12'345)), "12.3 ms");
  EXPECT_EQ(format_duration(std::chrono::milliseconds(4'500)), "4.50 s");
  EXPECT_EQ(format_duration(nanoseconds(59'999'000'000)), "1 m");
  EXPECT_EQ(format_duration(std::chrono::seconds(200)), "3 m 20 s");
  EXPECT_EQ(format_duration(std::chrono::minutes(125)), "2 h 5 m");
  EXPECT_EQ(format_duration(std::chrono::hours(27)), "1 d 3 h");
  EXPECT_EQ(format_duration(-std::chrono::milliseconds(4'500)), "-4.50 s");
  EXPECT_EQ(format_duration(nanoseconds::min()).front(), '-');
}

TEST(Units, HostsAndPortsGoBothWays) {
  for (const char* text : {"localhost:80", "127.0.0.1:0", "[::1]:65535", "a.example:8080"}) {
    const auto parsed = parse_host_port(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(parsed->text(), text);
  }
  EXPECT_EQ(parse_host_port("[::1]:80")->host, "::1");
  for (const char* text :
       {"", ":80", "host", "host:", "host:65536", "host:-1", "host: 80", "::1:80", "[]:80",
        "[host]:80", "[::1]", "[::1:80", "ho st:80", "host:080000"}) {
    EXPECT_EQ(parse_host_port(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace storage
