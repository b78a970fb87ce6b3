#include "workload/model/http_date.h"

#include <gtest/gtest.h>

#include <string>

#include "storage/base/random.h"
#include "workload/model/object.h"

namespace workload {
namespace {

constexpr int64_t kNow = 1704067200;  // 2024-01-01 00:00:00 UTC

TEST(HttpDate, WritesTheFixedForm) {
  EXPECT_EQ(HttpDate(784111777).text(), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(HttpDate(0).text(), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(HttpDate(951782400).text(), "Tue, 29 Feb 2000 00:00:00 GMT");
  EXPECT_EQ(HttpDate(kLastModifiedMaxUnixS).text(), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(HttpDate(INT64_MAX).text(), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(HttpDate(-1).text(), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(HttpDate, ReadsAllThreeForms) {
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow), 784111777);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow), 784111777);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994", kNow), 784111777);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994", kNow), 784975777);
  // Two digits: at most 50 years ahead.
  EXPECT_EQ(parse_http_date("Monday, 01-Jan-74 00:00:00 GMT", kNow), 3281990400);
  EXPECT_EQ(parse_http_date("Wednesday, 01-Jan-75 00:00:00 GMT", kNow), 157766400);
}

TEST(HttpDate, RoundTrips) {
  storage::Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const auto instant = static_cast<int64_t>(random.below(kLastModifiedMaxUnixS + 1));
    ASSERT_EQ(parse_http_date(HttpDate(instant).text(), kNow), instant);
  }
}

TEST(HttpDate, RefusesEverythingElse) {
  const std::string right = "Sun, 06 Nov 1994 08:49:37 GMT";
  for (size_t length = 0; length < right.size(); ++length) {
    EXPECT_FALSE(parse_http_date(right.substr(0, length), kNow)) << length;
  }
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
                           "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
                           "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 ovD 1994 08:49:37 GMT",
                           "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 006 08:49:37 1994", "0",
                           ",", "Sun,", "784111777"}) {
    EXPECT_FALSE(parse_http_date(text, kNow)) << text;
  }
}

}  // namespace
}  // namespace workload
