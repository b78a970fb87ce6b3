#include "proxy/caching_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::FieldList;
using testing_support::get_head;
using testing_support::request_head;
using testing_support::response_head;

constexpr HttpTime kThen{Seconds(1'700'000'000)};
const CachingOptions kOptions;

std::string date(int64_t offset_s) {
  return format_http_date(kThen + Seconds(offset_s));
}
const std::string kNowText = date(0);
const std::string kMinuteLater = date(60);
const std::string kMinuteEarlier = date(-60);

// current_age

StoredResponse entry_of(const FieldList& fields, int64_t delay_s = 0, unsigned status = 200) {
  StoredResponse out;
  out.head = response_head(status, fields);
  out.request_time = kThen - Seconds(delay_s);
  out.response_time = kThen;
  return out;
}

int64_t age_after(const StoredResponse& entry, int64_t seconds) {
  return current_age(entry, kThen + Seconds(seconds)).count();
}

TEST(CachingRules, AgeCountsTransitAndResidence) {
  EXPECT_EQ(age_after(entry_of({{"Date", kNowText}}), 0), 0);
  EXPECT_EQ(age_after(entry_of({{"Date", kNowText}}), 5), 5);
  EXPECT_EQ(age_after(entry_of({{"Date", kMinuteEarlier}}), 5), 65);
  EXPECT_EQ(age_after(entry_of({{"Date", kMinuteLater}}), 5), 5) << "the origin's clock is ahead";
  EXPECT_EQ(age_after(entry_of({{"Date", kNowText}, {"Age", "30"}}), 5), 35);
  EXPECT_EQ(age_after(entry_of({{"Date", kNowText}, {"Age", "30"}}, 3), 5), 38);
  EXPECT_EQ(age_after(entry_of({{"Date", kMinuteEarlier}, {"Age", "30"}}), 5), 65);
  EXPECT_EQ(age_after(entry_of({}), 5), 5);
}

TEST(CachingRules, AgeReadsTheFirstMemberAndIgnoresNonsense) {
  EXPECT_EQ(age_after(entry_of({{"Age", "30, 60"}}), 0), 30);
  EXPECT_EQ(age_after(entry_of({{"Age", "30"}, {"Age", "60"}}), 0), 30);
  for (const char* value : {"", "-5", "x", "1.5", "\"30\"", "30x"}) {
    EXPECT_EQ(age_after(entry_of({{"Age", value}}), 0), 0) << value;
  }
  EXPECT_EQ(age_after(entry_of({{"Age", "99999999999999999999"}}), 5), int64_t{1} << 31);
}

TEST(CachingRules, AgeSurvivesAClockThatWentBackwards) {
  EXPECT_EQ(age_after(entry_of({{"Age", "7"}}), -100), 7);
  EXPECT_EQ(age_after(entry_of({{"Age", "7"}}, -100), 0), 7);
}

// decide

struct DecideCase {
  const char* name;
  FieldList stored;
  FieldList request;
  int64_t age_s;
  Verdict verdict;
  const char* reason;
  bool client_reload = false;
};

class Decide : public testing::TestWithParam<DecideCase> {};

TEST_P(Decide, AsTheRfcSays) {
  const DecideCase& c = GetParam();
  const Decision decision =
      decide(entry_of(c.stored), get_head(c.request), kThen + Seconds(c.age_s), kOptions);
  EXPECT_EQ(name_of(decision.verdict), name_of(c.verdict));
  EXPECT_EQ(decision.reason, c.reason);
  EXPECT_EQ(decision.client_reload, c.client_reload);
  EXPECT_EQ(decision.age.count(), c.age_s);
}

const FieldList kFresh = {{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}};
const FieldList kNoTag = {{"Cache-Control", "max-age=60"}};

const DecideCase kDecideCases[] = {
    {"fresh", kFresh, {}, 59, Verdict::kServeFresh, "fresh"},
    {"just_stale", kFresh, {}, 60, Verdict::kRevalidate, "expired"},
    {"stale_without_validator", kNoTag, {}, 60, Verdict::kFetch, "expired"},
    {"fresh_only_if_cached",
     kFresh,
     {{"Cache-Control", "only-if-cached"}},
     59,
     Verdict::kServeFresh,
     "fresh"},
    {"stale_only_if_cached",
     kFresh,
     {{"Cache-Control", "only-if-cached"}},
     60,
     Verdict::kGatewayTimeout,
     "expired"},

    {"no_cache",
     kFresh,
     {{"Cache-Control", "no-cache"}},
     1,
     Verdict::kRevalidate,
     "client_no_cache",
     true},
    {"no_cache_no_tag",
     kNoTag,
     {{"Cache-Control", "no-cache"}},
     1,
     Verdict::kFetch,
     "client_no_cache",
     true},
    {"no_cache_max_stale",
     kFresh,
     {{"Cache-Control", "no-cache, max-stale"}},
     99,
     Verdict::kRevalidate,
     "client_no_cache",
     true},
    {"pragma", kFresh, {{"Pragma", "no-cache"}}, 1, Verdict::kRevalidate, "client_no_cache", true},
    {"pragma_beside_cache_control",
     kFresh,
     {{"Pragma", "no-cache"}, {"Cache-Control", "max-age=50"}},
     1,
     Verdict::kServeFresh,
     "fresh"},
    {"max_age_0",
     kFresh,
     {{"Cache-Control", "max-age=0"}},
     0,
     Verdict::kRevalidate,
     "client_max_age",
     true},
    {"max_age_at", kFresh, {{"Cache-Control", "max-age=10"}}, 10, Verdict::kServeFresh, "fresh"},
    {"max_age_over",
     kFresh,
     {{"Cache-Control", "max-age=10"}},
     11,
     Verdict::kRevalidate,
     "client_max_age"},
    {"min_fresh", kFresh, {{"Cache-Control", "min-fresh=10"}}, 50, Verdict::kServeFresh, "fresh"},
    {"min_fresh_over",
     kFresh,
     {{"Cache-Control", "min-fresh=10"}},
     51,
     Verdict::kRevalidate,
     "client_min_fresh"},
    {"min_fresh_invalid",
     kFresh,
     {{"Cache-Control", "min-fresh=x"}},
     1,
     Verdict::kRevalidate,
     "client_min_fresh"},
    {"request_no_store", kFresh, {{"Cache-Control", "no-store"}}, 1, Verdict::kServeFresh, "fresh"},

    {"max_stale_any",
     kFresh,
     {{"Cache-Control", "max-stale"}},
     9999,
     Verdict::kServeStale,
     "client_max_stale"},
    {"max_stale_at",
     kFresh,
     {{"Cache-Control", "max-stale=10"}},
     70,
     Verdict::kServeStale,
     "client_max_stale"},
    {"max_stale_over",
     kFresh,
     {{"Cache-Control", "max-stale=10"}},
     71,
     Verdict::kRevalidate,
     "expired"},
    {"max_stale_only_if_cached",
     kFresh,
     {{"Cache-Control", "max-stale=10, only-if-cached"}},
     70,
     Verdict::kServeStale,
     "client_max_stale"},
    {"max_stale_must_revalidate",
     {{"Cache-Control", "max-age=60, must-revalidate"}, {"ETag", "\"a\""}},
     {{"Cache-Control", "max-stale"}},
     61,
     Verdict::kRevalidate,
     "expired"},
    {"max_stale_proxy_revalidate",
     {{"Cache-Control", "max-age=60, proxy-revalidate"}},
     {{"Cache-Control", "max-stale"}},
     61,
     Verdict::kFetch,
     "expired"},
    {"max_stale_s_maxage",
     {{"Cache-Control", "s-maxage=60"}},
     {{"Cache-Control", "max-stale"}},
     61,
     Verdict::kFetch,
     "expired"},
    {"must_revalidate_fresh",
     {{"Cache-Control", "max-age=60, must-revalidate"}},
     {},
     59,
     Verdict::kServeFresh,
     "fresh"},
    {"stored_no_cache",
     {{"Cache-Control", "max-age=60, no-cache"}, {"ETag", "\"a\""}},
     {},
     1,
     Verdict::kRevalidate,
     "no_cache"},
    {"stored_no_cache_max_stale",
     {{"Cache-Control", "no-cache"}, {"ETag", "\"a\""}},
     {{"Cache-Control", "max-stale"}},
     1,
     Verdict::kRevalidate,
     "no_cache"},
    {"stored_no_cache_qualified",
     {{"Cache-Control", "max-age=60, no-cache=\"x\""}},
     {},
     1,
     Verdict::kServeFresh,
     "fresh"},

    // RFC 5861 3.
    {"while_revalidate",
     {{"Cache-Control", "max-age=60, stale-while-revalidate=30"}},
     {},
     89,
     Verdict::kServeStaleRevalidating,
     "stale_while_revalidate"},
    {"while_revalidate_over",
     {{"Cache-Control", "max-age=60, stale-while-revalidate=30"}},
     {},
     90,
     Verdict::kFetch,
     "expired"},
    {"while_revalidate_reload",
     {{"Cache-Control", "max-age=60, stale-while-revalidate=30"}},
     {{"Cache-Control", "max-age=0"}},
     70,
     Verdict::kFetch,
     "client_max_age",
     true},
    {"while_revalidate_must_revalidate",
     {{"Cache-Control", "max-age=60, stale-while-revalidate=30, must-revalidate"}},
     {},
     70,
     Verdict::kFetch,
     "expired"},
};

INSTANTIATE_TEST_SUITE_P(CachingRules, Decide, testing::ValuesIn(kDecideCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(CachingRules, ReloadsCanBeIgnored) {
  CachingOptions options;
  options.honour_client_reload = false;
  for (const FieldList& fields :
       {FieldList{{"Cache-Control", "no-cache"}}, FieldList{{"Cache-Control", "max-age=0"}},
        FieldList{{"Pragma", "no-cache"}}}) {
    const Decision decision =
        decide(entry_of(kFresh), get_head(fields), kThen + Seconds(5), options);
    EXPECT_EQ(decision.verdict, Verdict::kServeFresh);
  }
}

TEST(CachingRules, NothingStored) {
  EXPECT_EQ(decide_without_entry(get_head()).verdict, Verdict::kFetch);
  EXPECT_EQ(decide_without_entry(get_head({{"Cache-Control", "only-if-cached"}})).verdict,
            Verdict::kGatewayTimeout);
}

// The rest

TEST(CachingRules, StaleOnErrorNeedsPermission) {
  const auto allowed = [](const char* stored, const FieldList& request, int64_t age_s,
                          const CachingOptions& options = {}) {
    return may_serve_on_error(entry_of({{"Cache-Control", stored}}), get_head(request),
                              kThen + Seconds(age_s), options);
  };
  EXPECT_TRUE(allowed("max-age=60, stale-if-error=30", {}, 89));
  EXPECT_FALSE(allowed("max-age=60, stale-if-error=30", {}, 90));
  EXPECT_FALSE(allowed("max-age=60", {}, 61));
  EXPECT_TRUE(allowed("max-age=60", {}, 59));
  EXPECT_TRUE(allowed("max-age=60", {{"Cache-Control", "stale-if-error=5"}}, 64));
  EXPECT_FALSE(allowed("max-age=60, stale-if-error=30", {{"Cache-Control", "no-cache"}}, 61));
  CachingOptions generous;
  generous.stale_if_error_default = Seconds(100);
  EXPECT_TRUE(allowed("max-age=60", {}, 159, generous));
  EXPECT_FALSE(allowed("max-age=60, stale-if-error=0", {}, 61, generous)) << "it says no";
  for (const char* forbidding :
       {"must-revalidate", "proxy-revalidate", "s-maxage=60", "no-cache"}) {
    const std::string stored = "max-age=60, stale-if-error=30, " + std::string(forbidding);
    EXPECT_FALSE(allowed(stored.c_str(), {}, 61, generous)) << stored;
  }
}

TEST(CachingRules, OriginFailures) {
  for (unsigned status : {500u, 502u, 503u, 504u}) EXPECT_TRUE(is_origin_failure(status));
  for (unsigned status : {200u, 404u, 499u, 501u, 505u}) EXPECT_FALSE(is_origin_failure(status));
}

TEST(CachingRules, LookUpIsForGetAndHead) {
  EXPECT_TRUE(may_look_up(get_head()));
  EXPECT_TRUE(may_look_up(request_head("HEAD", "/")));
  EXPECT_FALSE(may_look_up(request_head("POST", "/")));
  EXPECT_FALSE(may_look_up(get_head({{"If-Match", "\"a\""}})));
  EXPECT_FALSE(may_look_up(get_head({{"If-Unmodified-Since", kNowText}})));
}

TEST(CachingRules, SharingAFetchNeedsAPlainGet) {
  EXPECT_TRUE(may_share_fetch(get_head()));
  EXPECT_TRUE(may_share_fetch(get_head({{"If-None-Match", "\"a\""}})));
  EXPECT_TRUE(may_share_fetch(get_head({{"Content-Length", "0"}})));
  EXPECT_FALSE(may_share_fetch(request_head("HEAD", "/")));
  for (const auto& [name, value] : FieldList{{"Authorization", "x"},
                                             {"Range", "bytes=0-1"},
                                             {"Content-Length", "5"},
                                             {"Transfer-Encoding", "chunked"},
                                             {"Pragma", "no-cache"},
                                             {"Cache-Control", "no-cache"},
                                             {"Cache-Control", "no-store"},
                                             {"Cache-Control", "max-age=0"},
                                             {"Cache-Control", "only-if-cached"}}) {
    EXPECT_FALSE(may_share_fetch(get_head({{name, value}}))) << name << ": " << value;
  }
}

std::vector<std::string> invalidated(const char* method, unsigned status, const FieldList& fields) {
  const auto request = request_head(method, "http://h/a/b?c");
  return keys_to_invalidate(request, *parse_request_target(request), response_head(status, fields));
}

TEST(CachingRules, UnsafeMethodsInvalidate) {
  EXPECT_THAT(invalidated("POST", 200, {}), ElementsAre("GET http://h:80/a/b?c"));
  EXPECT_THAT(invalidated("BREW", 303, {}), ElementsAre("GET http://h:80/a/b?c"));
  EXPECT_THAT(invalidated("POST", 404, {}), IsEmpty());
  EXPECT_THAT(invalidated("POST", 500, {}), IsEmpty());
  EXPECT_THAT(invalidated("GET", 200, {{"Location", "/x"}}), IsEmpty());
  EXPECT_THAT(invalidated("OPTIONS", 200, {}), IsEmpty());
}

TEST(CachingRules, InvalidationStaysOnTheOrigin) {
  EXPECT_THAT(invalidated("PUT", 201, {{"Location", "/x"}, {"Content-Location", "y?z#f"}}),
              ElementsAre("GET http://h:80/a/b?c", "GET http://h:80/x", "GET http://h:80/a/y?z"));
  EXPECT_THAT(invalidated("PUT", 201, {{"Location", "http://H:80/x"}}),
              ElementsAre("GET http://h:80/a/b?c", "GET http://h:80/x"));
  for (const char* other : {"http://other/x", "http://h:81/x", "https://h/x", "//other/x",
                            "http://h@other/x", "\\bad", "http://[", "mailto:a@b", ""}) {
    EXPECT_THAT(invalidated("PUT", 201, {{"Location", other}}),
                ElementsAre("GET http://h:80/a/b?c"))
        << other;
  }
  EXPECT_THAT(invalidated("PUT", 201, {{"Location", "/a/b?c"}}),
              ElementsAre("GET http://h:80/a/b?c"));
}

}  // namespace
}  // namespace proxy
