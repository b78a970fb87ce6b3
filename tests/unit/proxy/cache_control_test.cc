#include "proxy/cache_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::response_head;

CacheControl parse(std::string_view value) {
  return parse_cache_control(response_head(200, {{"Cache-Control", value}}));
}

TEST(CacheControl, AbsentSaysNothing) {
  const CacheControl control = parse_cache_control(response_head(200));
  EXPECT_FALSE(control.present);
  EXPECT_FALSE(control.max_age);
  EXPECT_FALSE(control.no_store);
}

TEST(CacheControl, ReadsDirectivesWhateverTheirCaseAndOrder) {
  const CacheControl control = parse(
      "Public , MAX-AGE=60,s-maxage=\"120\", Must-Revalidate, proxy-revalidate,"
      "stale-while-revalidate=30, stale-if-error=40, unknown=1, other, no-store");
  EXPECT_TRUE(control.present);
  EXPECT_TRUE(control.is_public);
  EXPECT_TRUE(control.must_revalidate);
  EXPECT_TRUE(control.proxy_revalidate);
  EXPECT_TRUE(control.no_store);
  EXPECT_EQ(control.max_age, Seconds(60));
  EXPECT_EQ(control.s_maxage, Seconds(120));
  EXPECT_EQ(control.stale_while_revalidate, Seconds(30));
  EXPECT_EQ(control.stale_if_error, Seconds(40));
}

TEST(CacheControl, SeveralLinesAreOne) {
  const CacheControl control = parse_cache_control(
      response_head(200, {{"Cache-Control", "max-age=60"}, {"cache-control", "private"}}));
  EXPECT_EQ(control.max_age, Seconds(60));
  EXPECT_TRUE(control.is_private);
}

TEST(CacheControl, OfSeveralValuesTheMostRestrictiveCounts) {
  EXPECT_EQ(parse("max-age=60, max-age=10").max_age, Seconds(10));
  EXPECT_EQ(parse("max-age=10, max-age=60").max_age, Seconds(10));
  EXPECT_EQ(parse("max-age=10, max-age=x").max_age, Seconds(0));
  EXPECT_EQ(parse("min-fresh=10, min-fresh=60").min_fresh, Seconds(60));
  EXPECT_EQ(parse("max-stale=10, max-stale").max_stale, Seconds(10));
  EXPECT_EQ(parse("no-cache=\"a\", no-cache").no_cache, true);
}

TEST(CacheControl, InvalidLifetimesAreZero) {
  for (const char* value :
       {"max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=1.5", "max-age=abc",
        "max-age=1a", "max-age='60'", "max-age=\"60", "max-age= 60", "max-age =60", "max-age=\"\"",
        "max-age=0x10", "max-age=60 s", "max-age=\"6\"0"}) {
    EXPECT_EQ(parse(value).max_age, Seconds(0)) << value;
  }
  EXPECT_EQ(parse("min-fresh=x").min_fresh, kDeltaSecondsMax);
  EXPECT_EQ(parse("max-stale=x").max_stale, Seconds(0));
  EXPECT_EQ(parse("max-stale").max_stale, kDeltaSecondsMax);
}

TEST(CacheControl, LargeLifetimesSaturate) {
  EXPECT_EQ(parse("max-age=2147483647").max_age, Seconds(2147483647));
  for (const char* value :
       {"max-age=2147483648", "max-age=2147483649", "max-age=4294967297",
        "max-age=18446744073709551617", "max-age=99999999999999999999999999999999999999"}) {
    EXPECT_EQ(parse(value).max_age, kDeltaSecondsMax) << value;
  }
  EXPECT_EQ(parse("max-age=000060").max_age, Seconds(60));
}

TEST(CacheControl, QualifiedFormsNameFields) {
  const CacheControl control = parse("no-cache=\"Set-Cookie, X-A\", private=X-B");
  EXPECT_FALSE(control.no_cache);
  EXPECT_FALSE(control.is_private);
  EXPECT_THAT(control.no_cache_fields, ElementsAre("set-cookie", "x-a"));
  EXPECT_THAT(control.private_fields, ElementsAre("x-b"));
}

TEST(CacheControl, UnreadableQualifiedFormsConcernEverything) {
  for (const char* value : {"no-cache=", "no-cache=\"\"", "no-cache=\"a b\"", "no-cache=\"a",
                            "no-cache=\"a\"b", "no-cache=\" , \""}) {
    EXPECT_TRUE(parse(value).no_cache) << value;
    EXPECT_THAT(parse(value).no_cache_fields, IsEmpty()) << value;
  }
}

TEST(CacheControl, NamesAreWholeWords) {
  const CacheControl control = parse("xno-store, no-storex, max-agex=1, =5, \"no-store\"");
  EXPECT_FALSE(control.no_store);
  EXPECT_FALSE(control.max_age);
}

TEST(CacheControl, ArgumentsOfDirectivesWithoutOneChangeNothing) {
  EXPECT_TRUE(parse("no-store=1").no_store);
  EXPECT_TRUE(parse("must-revalidate=\"x\"").must_revalidate);
  EXPECT_TRUE(parse("only-if-cached").only_if_cached);
  EXPECT_TRUE(parse("must-understand").must_understand);
}

}  // namespace
}  // namespace proxy
