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
const std::string kTenDaysEarlier = date(-10 * 86400);
const std::string kTenYearsEarlier = date(-3650LL * 86400);

// may_store

struct StoreCase {
  const char* name;
  unsigned status;
  FieldList response;
  FieldList request;
  const char* reason;
};

class MayStore : public testing::TestWithParam<StoreCase> {};

TEST_P(MayStore, AsTheRfcSays) {
  const StoreCase& c = GetParam();
  const StoreDecision decision =
      may_store(get_head(c.request), response_head(c.status, c.response), kThen, kOptions);
  EXPECT_EQ(decision.reason, c.reason);
  EXPECT_EQ(decision.store, std::string_view(c.reason) == "ok");
}

const StoreCase kStoreCases[] = {
    {"max_age", 200, {{"Cache-Control", "max-age=60"}}, {}, "ok"},
    {"expires", 200, {{"Expires", kMinuteLater}, {"Date", kNowText}}, {}, "ok"},
    {"heuristic", 200, {{"Last-Modified", kTenDaysEarlier}}, {}, "ok"},
    {"validator_only", 200, {{"ETag", "\"a\""}}, {}, "ok"},
    {"nothing", 200, {}, {}, "not_reusable"},
    {"max_age_0", 200, {{"Cache-Control", "max-age=0"}}, {}, "not_reusable"},
    {"max_age_0_tag", 200, {{"Cache-Control", "max-age=0"}, {"ETag", "\"a\""}}, {}, "ok"},
    {"max_age_0_stale_ok",
     200,
     {{"Cache-Control", "max-age=0, stale-while-revalidate=9"}},
     {},
     "ok"},
    {"no_store", 200, {{"Cache-Control", "no-store, max-age=60"}}, {}, "no_store"},
    {"no_store_line",
     200,
     {{"Cache-Control", "max-age=60"}, {"Cache-Control", "No-Store"}},
     {},
     "no_store"},
    {"request_no_store",
     200,
     {{"Cache-Control", "max-age=60"}},
     {{"Cache-Control", "no-store"}},
     "request_no_store"},
    {"private", 200, {{"Cache-Control", "private, max-age=60"}}, {}, "private"},
    {"private_qualified", 200, {{"Cache-Control", "private=\"X-A\", max-age=60"}}, {}, "ok"},
    {"no_cache", 200, {{"Cache-Control", "no-cache, max-age=60"}}, {}, "not_reusable"},
    {"no_cache_tag", 200, {{"Cache-Control", "no-cache"}, {"ETag", "\"a\""}}, {}, "ok"},
    {"no_cache_qualified", 200, {{"Cache-Control", "no-cache=\"X-A\", max-age=60"}}, {}, "ok"},
    {"pragma_means_nothing",
     200,
     {{"Pragma", "no-cache"}, {"Cache-Control", "max-age=60"}},
     {},
     "ok"},
    {"must_understand",
     200,
     {{"Cache-Control", "no-store, must-understand, max-age=60"}},
     {},
     "ok"},
    {"must_understand_299",
     299,
     {{"Cache-Control", "must-understand, max-age=60"}},
     {},
     "not_understood"},

    // RFC 9111 3.5.
    {"authorization",
     200,
     {{"Cache-Control", "max-age=60"}},
     {{"Authorization", "x"}},
     "authorization"},
    {"authorization_public",
     200,
     {{"Cache-Control", "public, max-age=60"}},
     {{"Authorization", "x"}},
     "ok"},
    {"authorization_s_maxage",
     200,
     {{"Cache-Control", "s-maxage=60"}},
     {{"Authorization", "x"}},
     "ok"},
    {"authorization_must_revalidate",
     200,
     {{"Cache-Control", "must-revalidate, max-age=60"}},
     {{"Authorization", "x"}},
     "ok"},
    {"authorization_proxy_revalidate",
     200,
     {{"Cache-Control", "proxy-revalidate, max-age=60"}},
     {{"Authorization", "x"}},
     "authorization"},

    {"cookie", 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "a=b"}}, {}, "set_cookie"},
    {"cookie_public",
     200,
     {{"Cache-Control", "public, max-age=60"}, {"Set-Cookie", "a=b"}},
     {},
     "ok"},
    {"cookie_removed",
     200,
     {{"Cache-Control", "no-cache=\"Set-Cookie\", max-age=60"}, {"Set-Cookie", "a=b"}},
     {},
     "ok"},

    {"vary", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "Accept"}}, {}, "ok"},
    {"vary_star", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "Accept, *"}}, {}, "vary"},
    {"partial",
     206,
     {{"Cache-Control", "max-age=60"}, {"Content-Range", "bytes 0-1/2"}},
     {},
     "status"},
    {"partial_without_range", 206, {{"Cache-Control", "max-age=60"}}, {}, "status"},
    {"range_in_200",
     200,
     {{"Cache-Control", "max-age=60"}, {"Content-Range", "bytes 0-1/9"}},
     {},
     "content_range"},
    {"range_ignored", 200, {{"Cache-Control", "max-age=60"}}, {{"Range", "bytes=0-1"}}, "ok"},
    {"not_modified", 304, {{"Cache-Control", "max-age=60"}}, {}, "status"},
    {"proxy_auth", 407, {{"Cache-Control", "max-age=60"}}, {}, "status"},
    {"unsatisfiable", 416, {{"Cache-Control", "max-age=60"}}, {}, "status"},
    {"precondition", 412, {{"Cache-Control", "max-age=60"}}, {}, "status"},

    {"not_found_heuristic", 404, {{"Last-Modified", kTenDaysEarlier}}, {}, "ok"},
    {"not_found_bare", 404, {}, {}, "not_reusable"},
    {"found_heuristic", 302, {{"Last-Modified", kTenDaysEarlier}}, {}, "status"},
    {"found_explicit", 302, {{"Cache-Control", "max-age=60"}}, {}, "ok"},
    {"found_public",
     302,
     {{"Cache-Control", "public"}, {"Last-Modified", kTenDaysEarlier}},
     {},
     "ok"},
    {"server_error_explicit", 500, {{"Cache-Control", "max-age=60"}}, {}, "ok"},
    {"server_error", 500, {{"Last-Modified", kTenDaysEarlier}}, {}, "status"},
    {"unknown_explicit", 299, {{"Cache-Control", "max-age=60"}}, {}, "ok"},
    {"unknown", 299, {{"Last-Modified", kTenDaysEarlier}}, {}, "status"},
};

INSTANTIATE_TEST_SUITE_P(CachingRules, MayStore, testing::ValuesIn(kStoreCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(CachingRules, OnlyGetIsStored) {
  const auto response = response_head(200, {{"Cache-Control", "public, max-age=60"}});
  for (const char* method : {"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
    const StoreDecision decision = may_store(request_head(method, "/"), response, kThen, kOptions);
    EXPECT_EQ(decision.reason, "method") << method;
  }
}

TEST(CachingRules, HeuristicStatusesOfTheRfc) {
  const FieldList fields = {{"Last-Modified", kTenDaysEarlier}};
  std::vector<unsigned> stored;
  for (unsigned status = 100; status < 600; ++status) {
    if (may_store(get_head(), response_head(status, fields), kThen, kOptions).store) {
      stored.push_back(status);
    }
  }
  EXPECT_THAT(stored, ElementsAre(200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501));
}

// freshness_lifetime

struct LifetimeCase {
  const char* name;
  FieldList response;
  int64_t lifetime_s;
  bool is_explicit = true;
  unsigned status = 200;
};

class FreshnessLifetime : public testing::TestWithParam<LifetimeCase> {};

TEST_P(FreshnessLifetime, AsTheRfcSays) {
  const LifetimeCase& c = GetParam();
  const Lifetime lifetime =
      freshness_lifetime(response_head(c.status, c.response), kThen, kOptions);
  EXPECT_EQ(lifetime.value.count(), c.lifetime_s);
  EXPECT_EQ(lifetime.is_explicit, c.is_explicit);
}

const LifetimeCase kLifetimeCases[] = {
    {"s_maxage_first",
     {{"Cache-Control", "max-age=10, s-maxage=20"}, {"Expires", kMinuteLater}},
     20},
    {"max_age_second", {{"Cache-Control", "max-age=10"}, {"Expires", kMinuteLater}}, 10},
    {"max_age_0_beats_expires", {{"Cache-Control", "max-age=0"}, {"Expires", kMinuteLater}}, 0},
    {"max_age_invalid_beats_expires",
     {{"Cache-Control", "max-age=x"}, {"Expires", kMinuteLater}},
     0},
    {"expires", {{"Date", kNowText}, {"Expires", kMinuteLater}}, 60},
    {"expires_by_the_origins_clock", {{"Date", kMinuteEarlier}, {"Expires", kMinuteLater}}, 120},
    {"expires_without_date", {{"Expires", kMinuteLater}}, 60},
    {"expires_bad_date", {{"Date", "x"}, {"Expires", kMinuteLater}}, 60},
    {"expires_past", {{"Date", kNowText}, {"Expires", kMinuteEarlier}}, 0},
    {"expires_0", {{"Date", kNowText}, {"Expires", "0"}}, 0},
    {"expires_invalid", {{"Expires", "Tue, 99 Nov 2033 00:00:00 GMT"}}, 0},
    {"expires_twice", {{"Date", kNowText}, {"Expires", kMinuteLater}, {"Expires", "0"}}, 0},
    {"expires_far",
     {{"Date", kNowText}, {"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}},
     int64_t{1} << 31},
    {"expires_invalid_no_heuristic", {{"Expires", "-1"}, {"Last-Modified", kTenDaysEarlier}}, 0},
    {"heuristic", {{"Date", kNowText}, {"Last-Modified", kTenDaysEarlier}}, 86400, false},
    {"heuristic_short", {{"Date", kNowText}, {"Last-Modified", kMinuteEarlier}}, 6, false},
    {"heuristic_capped", {{"Date", kNowText}, {"Last-Modified", kTenYearsEarlier}}, 86400, false},
    {"heuristic_future", {{"Date", kNowText}, {"Last-Modified", kMinuteLater}}, 0, false},
    {"heuristic_invalid", {{"Date", kNowText}, {"Last-Modified", "x"}}, 0, false},
    {"nothing", {{"Date", kNowText}}, 0, false},
    {"no_heuristic_status", {{"Last-Modified", kTenDaysEarlier}}, 0, false, 302},
    {"public_status",
     {{"Cache-Control", "public"}, {"Last-Modified", kTenDaysEarlier}},
     86400,
     false,
     302},
    {"s_maxage_duplicate",
     {{"Cache-Control", "s-maxage=20"}, {"Cache-Control", "s-maxage=10"}},
     10},
};

INSTANTIATE_TEST_SUITE_P(CachingRules, FreshnessLifetime, testing::ValuesIn(kLifetimeCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(CachingRules, HeuristicCanBeTurnedOff) {
  CachingOptions options;
  options.heuristic_percent = 0;
  const auto response = response_head(200, {{"Last-Modified", kTenDaysEarlier}});
  EXPECT_EQ(freshness_lifetime(response, kThen, options).value, Seconds(0));
}

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
