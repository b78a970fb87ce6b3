#include "proxy/caching_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing::ElementsAre;
using testing_support::FieldList;
using testing_support::get_head;
using testing_support::request_head;
using testing_support::response_head;

constexpr HttpTime kStoredAt{Seconds(1'700'000'000)};
const CachingOptions kRules;

std::string stored_date(int64_t offset_s) {
  return format_http_date(kStoredAt + Seconds(offset_s));
}
const std::string kStoredText = stored_date(0);
const std::string kMinuteAfterStoring = stored_date(60);
const std::string kMinuteBeforeStoring = stored_date(-60);
const std::string kTenDaysEarlier = stored_date(-10 * 86400);
const std::string kTenYearsEarlier = stored_date(-3650LL * 86400);

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
      may_store(get_head(c.request), response_head(c.status, c.response), kStoredAt, kRules);
  EXPECT_EQ(decision.reason, c.reason);
  EXPECT_EQ(decision.store, std::string_view(c.reason) == "ok");
}

const StoreCase kStoreCases[] = {
    {"max_age", 200, {{"Cache-Control", "max-age=60"}}, {}, "ok"},
    {"expires", 200, {{"Expires", kMinuteAfterStoring}, {"Date", kStoredText}}, {}, "ok"},
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
    const StoreDecision decision =
        may_store(request_head(method, "/"), response, kStoredAt, kRules);
    EXPECT_EQ(decision.reason, "method") << method;
  }
}

TEST(CachingRules, HeuristicStatusesOfTheRfc) {
  const FieldList fields = {{"Last-Modified", kTenDaysEarlier}};
  std::vector<unsigned> stored;
  for (unsigned status = 100; status < 600; ++status) {
    if (may_store(get_head(), response_head(status, fields), kStoredAt, kRules).store) {
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
      freshness_lifetime(response_head(c.status, c.response), kStoredAt, kRules);
  EXPECT_EQ(lifetime.value.count(), c.lifetime_s);
  EXPECT_EQ(lifetime.is_explicit, c.is_explicit);
}

const LifetimeCase kLifetimeCases[] = {
    {"s_maxage_first",
     {{"Cache-Control", "max-age=10, s-maxage=20"}, {"Expires", kMinuteAfterStoring}},
     20},
    {"max_age_second", {{"Cache-Control", "max-age=10"}, {"Expires", kMinuteAfterStoring}}, 10},
    {"max_age_0_beats_expires",
     {{"Cache-Control", "max-age=0"}, {"Expires", kMinuteAfterStoring}},
     0},
    {"max_age_invalid_beats_expires",
     {{"Cache-Control", "max-age=x"}, {"Expires", kMinuteAfterStoring}},
     0},
    {"expires", {{"Date", kStoredText}, {"Expires", kMinuteAfterStoring}}, 60},
    {"expires_by_the_origins_clock",
     {{"Date", kMinuteBeforeStoring}, {"Expires", kMinuteAfterStoring}},
     120},
    {"expires_without_date", {{"Expires", kMinuteAfterStoring}}, 60},
    {"expires_bad_date", {{"Date", "x"}, {"Expires", kMinuteAfterStoring}}, 60},
    {"expires_past", {{"Date", kStoredText}, {"Expires", kMinuteBeforeStoring}}, 0},
    {"expires_0", {{"Date", kStoredText}, {"Expires", "0"}}, 0},
    {"expires_invalid", {{"Expires", "Tue, 99 Nov 2033 00:00:00 GMT"}}, 0},
    {"expires_twice",
     {{"Date", kStoredText}, {"Expires", kMinuteAfterStoring}, {"Expires", "0"}},
     0},
    {"expires_far",
     {{"Date", kStoredText}, {"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}},
     int64_t{1} << 31},
    {"expires_invalid_no_heuristic", {{"Expires", "-1"}, {"Last-Modified", kTenDaysEarlier}}, 0},
    {"heuristic", {{"Date", kStoredText}, {"Last-Modified", kTenDaysEarlier}}, 86400, false},
    {"heuristic_short", {{"Date", kStoredText}, {"Last-Modified", kMinuteBeforeStoring}}, 6, false},
    {"heuristic_capped",
     {{"Date", kStoredText}, {"Last-Modified", kTenYearsEarlier}},
     86400,
     false},
    {"heuristic_future", {{"Date", kStoredText}, {"Last-Modified", kMinuteAfterStoring}}, 0, false},
    {"heuristic_invalid", {{"Date", kStoredText}, {"Last-Modified", "x"}}, 0, false},
    {"nothing", {{"Date", kStoredText}}, 0, false},
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
  EXPECT_EQ(freshness_lifetime(response, kStoredAt, options).value, Seconds(0));
}

}  // namespace
}  // namespace proxy
