#include "workload/origin/conditions.h"

#include <gtest/gtest.h>

#include "workload/model/http_date.h"

namespace workload {
namespace {

constexpr int64_t kLastChange = 1'700'000'000;
constexpr int64_t kAskedAt = kLastChange + 1000;

std::string date_text(int64_t unix_s) {
  return std::string(HttpDate(unix_s).text());
}

Validators strong_validators() {
  return {"\"a-1\"", kLastChange, true};
}

Conditions outcome_of(const OriginRequest& request,
                      const Validators& validators = strong_validators()) {
  return evaluate_conditions(request, validators, kAskedAt);
}

TEST(Conditions, NoneIsServed) {
  EXPECT_EQ(outcome_of({}), Conditions::kServe);
}

TEST(Conditions, IfMatchComparesStrongly) {
  OriginRequest request;
  for (const char* list : {"\"a-1\"", "*", "\"x\", \"a-1\""}) {
    request.if_match = list;
    EXPECT_EQ(outcome_of(request), Conditions::kServe) << list;
  }
  for (const char* list : {"W/\"a-1\"", "\"x\"", "a-1", "\"a-1", "\"A-1\""}) {
    request.if_match = list;
    EXPECT_EQ(outcome_of(request), Conditions::kFailed) << list;
  }
  request.if_match = "\"a-1\"";
  EXPECT_EQ(outcome_of(request, {"W/\"a-1\"", kLastChange, false}), Conditions::kFailed);
}

TEST(Conditions, IfUnmodifiedSinceCountsWithoutIfMatchOnly) {
  OriginRequest request;
  request.if_unmodified_since = date_text(kLastChange - 1);
  EXPECT_EQ(outcome_of(request), Conditions::kFailed);
  request.if_match = "\"a-1\"";
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
  request.if_match.clear();
  request.if_unmodified_since = date_text(kLastChange);
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
  request.if_unmodified_since = "yesterday";
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
}

TEST(Conditions, IfNoneMatchComparesWeaklyAndGoesBeforeTheDate) {
  OriginRequest request;
  for (const char* list : {"\"a-1\"", "W/\"a-1\"", "*", "\"x\" , W/\"a-1\""}) {
    request.if_none_match = list;
    EXPECT_EQ(outcome_of(request), Conditions::kNotModified) << list;
    EXPECT_EQ(outcome_of(request, {"W/\"a-1\"", kLastChange, false}), Conditions::kNotModified);
  }
  request.if_none_match = "\"x\"";
  request.if_modified_since = date_text(kLastChange);
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
}

TEST(Conditions, IfModifiedSince) {
  OriginRequest request;
  request.if_modified_since = date_text(kLastChange);
  EXPECT_EQ(outcome_of(request), Conditions::kNotModified);
  request.if_modified_since = date_text(kLastChange - 1);
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
  request.if_modified_since = date_text(kLastChange) + ", " + date_text(kLastChange);
  EXPECT_EQ(outcome_of(request), Conditions::kServe);
}

TEST(Conditions, AFailedIfMatchGoesBeforeAll) {
  OriginRequest request;
  request.if_match = "\"x\"";
  request.if_none_match = "\"a-1\"";
  EXPECT_EQ(outcome_of(request), Conditions::kFailed);
}

TEST(Conditions, IfRangeMatchesStrongly) {
  OriginRequest request;
  request.method = OriginRequest::Method::kGet;
  const auto applies = [&](const Validators& validators) {
    return range_applies(request, validators, kAskedAt);
  };
  EXPECT_FALSE(applies(strong_validators()));
  request.range = "bytes=0-0";
  EXPECT_TRUE(applies(strong_validators()));
  request.if_range = "\"a-1\"";
  EXPECT_TRUE(applies(strong_validators()));
  request.if_range = "W/\"a-1\"";
  EXPECT_FALSE(applies(strong_validators()));
  EXPECT_FALSE(applies({"W/\"a-1\"", kLastChange, false}));
  request.if_range = date_text(kLastChange);
  EXPECT_TRUE(applies(strong_validators()));
  EXPECT_FALSE(applies({"\"a-1\"", kLastChange, false}));
  request.if_range = date_text(kLastChange + 1);
  EXPECT_FALSE(applies(strong_validators()));
  request.if_range.clear();
  request.method = OriginRequest::Method::kHead;
  EXPECT_FALSE(applies(strong_validators()));
}

}  // namespace
}  // namespace workload
