#include "proxy/http_date.h"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

namespace proxy {
namespace {

constexpr HttpTime kReadAt{Seconds(1'700'000'000)};  // Tue, 14 Nov 2023 22:13:20 GMT.
constexpr int64_t kExample = 784'111'777;            // The RFC's 6 November 1994, 08:49:37.

HttpTime at(int64_t seconds) {
  return HttpTime(Seconds(seconds));
}

TEST(HttpDate, FormatsTheExampleOfTheRfc) {
  EXPECT_EQ(format_http_date(at(kExample)), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(HttpDate, FormatsBordersAndClampsWhatHasNoFourDigitYear) {
  EXPECT_EQ(format_http_date(at(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(format_http_date(at(-1)), "Wed, 31 Dec 1969 23:59:59 GMT");
  EXPECT_EQ(format_http_date(at(951'782'400)), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(format_http_date(at(253'402'300'799)), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(format_http_date(at(253'402'300'800)), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(format_http_date(HttpTime::max()), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(format_http_date(HttpTime::min()).substr(5), "01 Jan 0000 00:00:00 GMT");
}

TEST(HttpDate, IgnoresTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  EXPECT_EQ(format_http_date(at(kExample)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", kReadAt), at(kExample));
  std::setlocale(LC_ALL, before.c_str());
}

TEST(HttpDate, ReadsAllThreeForms) {
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994", "sun, 06 NOV 1994 08:49:37 gmt",
                           // The name of the day is not compared with the date.
                           "Mon, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text, kReadAt), at(kExample)) << text;
  }
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994", kReadAt), at(kExample + 10 * 86400));
}

TEST(HttpDate, ReadsEverySecondThatItFormats) {
  for (int64_t second = -62'167'219'200; second < 253'402'300'800; second += 123'456'789) {
    EXPECT_EQ(parse_http_date(format_http_date(at(second)), kReadAt), at(second));
  }
}

TEST(HttpDate, LeapSecondIsTheSecondBefore) {
  EXPECT_EQ(parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", kReadAt),
            parse_http_date("Sat, 31 Dec 2016 23:59:59 GMT", kReadAt));
}

TEST(HttpDate, TwoDigitYearsAreAtMostFiftyYearsAhead) {
  struct Case {
    const char* text;
    const char* full;
    const char* now;
  };
  for (const Case& c : {Case{"Friday, 01-Jan-21 00:00:00 GMT", "Fri, 01 Jan 2021 00:00:00 GMT",
                             "Tue, 14 Nov 2023 22:13:20 GMT"},
                        Case{"Friday, 01-Jan-73 00:00:00 GMT", "Fri, 01 Jan 2073 00:00:00 GMT",
                             "Tue, 14 Nov 2023 22:13:20 GMT"},
                        Case{"Friday, 01-Jan-74 00:00:00 GMT", "Fri, 01 Jan 1974 00:00:00 GMT",
                             "Tue, 14 Nov 2023 22:13:20 GMT"},
                        Case{"Friday, 01-Jan-10 00:00:00 GMT", "Fri, 01 Jan 2110 00:00:00 GMT",
                             "Sat, 14 Nov 2095 22:13:20 GMT"},
                        Case{"Tuesday, 29-Feb-00 00:00:00 GMT", "Tue, 29 Feb 2000 00:00:00 GMT",
                             "Tue, 14 Nov 2023 22:13:20 GMT"}}) {
    const auto now = parse_http_date(c.now, kReadAt);
    ASSERT_TRUE(now) << c.now;
    EXPECT_EQ(parse_http_date(c.text, *now), parse_http_date(c.full, kReadAt)) << c.text;
  }
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const char* text : {"",
                           "0",
                           "-1",
                           "never",
                           "Sun",
                           "Sun,",
                           "Sun, ",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sun, 06 Nov 1994 08:49:37 +0000",
                           "Sun, 06 Nov 1994 08:49:37 GMT ",
                           " Sun, 06 Nov 1994 08:49:37 GMT",
                           "Sun, 6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Nov 94 08:49:37 GMT",
                           "Sun, 06-Nov-1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 8:49:37 GMT",
                           "Sun, 06 Nov 1994 24:00:00 GMT",
                           "Sun, 06 Nov 1994 08:60:00 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT",
                           "Sun, 31 Nov 1994 08:49:37 GMT",
                           "Sun, 29 Feb 2100 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, 06  Nov 1994 08:49:37 GMT",
                           "Foo, 06 Nov 1994 08:49:37 GMT",
                           "06 Nov 1994 08:49:37 GMT",
                           "Sun Nov 6 08:49:37 1994",
                           "Sun Nov  6 08:49:37 1994 GMT",
                           "Sun, 06 Nov -994 08:49:37 GMT",
                           "Sunday, 06-Nov-94 08:49:37 GMTx",
                           "1994-11-06T08:49:37Z",
                           "784111777"}) {
    EXPECT_EQ(parse_http_date(text, kReadAt), std::nullopt) << text;
  }
}

TEST(HttpDate, WallTimeRoundsDown) {
  using storage::Nanoseconds;
  EXPECT_EQ(to_http_time(storage::WallTime(Nanoseconds(1'999'999'999))), at(1));
  EXPECT_EQ(to_http_time(storage::WallTime(Nanoseconds(-1))), at(-1));
}

}  // namespace
}  // namespace proxy
