#include "proxy/conditional.h"

#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing_support::FieldList;
using testing_support::get_head;
using testing_support::response_head;
using testing_support::text_of;

constexpr const char* kEarly = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr const char* kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* kLate = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr HttpTime kResponseTime{Seconds(784'111'778)};  // kLate.

StoredResponse stored(const FieldList& fields, unsigned status = 200) {
  StoredResponse out;
  out.head = response_head(status, fields);
  out.request_time = kResponseTime;
  out.response_time = kResponseTime;
  return out;
}

bool matches(const char* left, const char* right, bool strong) {
  const auto a = parse_entity_tag(left);
  const auto b = parse_entity_tag(right);
  return strong ? strong_match(*a, *b) : weak_match(*a, *b);
}

TEST(EntityTag, ComparisonTableOfTheRfc) {
  // RFC 9110 8.8.3.2, table 3.
  EXPECT_FALSE(matches("W/\"1\"", "W/\"1\"", true));
  EXPECT_TRUE(matches("W/\"1\"", "W/\"1\"", false));
  EXPECT_FALSE(matches("W/\"1\"", "W/\"2\"", false));
  EXPECT_FALSE(matches("W/\"1\"", "\"1\"", true));
  EXPECT_TRUE(matches("W/\"1\"", "\"1\"", false));
  EXPECT_TRUE(matches("\"1\"", "\"1\"", true));
  EXPECT_TRUE(matches("\"1\"", "\"1\"", false));
}

TEST(EntityTag, RefusesMalformedOnes) {
  for (const char* text : {"", "\"", "abc", "W/", "W/abc", "w/\"a\"", "\"a", "a\"", "\"a\"b\"",
                           "\"a b\"", "'a'", "\"a\nb\""}) {
    EXPECT_FALSE(parse_entity_tag(text)) << text;
  }
  EXPECT_TRUE(parse_entity_tag("\"\""));
  EXPECT_TRUE(parse_entity_tag("\"a\\b,c\""));
}

struct ConditionCase {
  const char* name;
  FieldList request;
  FieldList stored;
  Condition expected;
};

class Conditions : public testing::TestWithParam<ConditionCase> {};

TEST_P(Conditions, Evaluated) {
  const ConditionCase& c = GetParam();
  EXPECT_EQ(evaluate_conditions(get_head(c.request), stored(c.stored)), c.expected);
}

const ConditionCase kConditionCases[] = {
    {"none", {}, {{"ETag", "\"a\""}}, Condition::kUnconditional},
    {"tag_equal", {{"If-None-Match", "\"a\""}}, {{"ETag", "\"a\""}}, Condition::kNotModified},
    {"tag_weak", {{"If-None-Match", "W/\"a\""}}, {{"ETag", "\"a\""}}, Condition::kNotModified},
    {"tag_in_list",
     {{"If-None-Match", "\"x,y\", \"z\""}, {"If-None-Match", "\"a\""}},
     {{"ETag", "\"a\""}},
     Condition::kNotModified},
    {"tag_other", {{"If-None-Match", "\"b\""}}, {{"ETag", "\"a\""}}, Condition::kTrue},
    {"tag_star", {{"If-None-Match", "*"}}, {}, Condition::kNotModified},
    {"tag_star_quoted", {{"If-None-Match", "\"*\""}}, {{"ETag", "\"a\""}}, Condition::kTrue},
    {"tag_malformed", {{"If-None-Match", "a"}}, {{"ETag", "a"}}, Condition::kTrue},
    {"tag_part", {{"If-None-Match", "\"b,\"a\"\""}}, {{"ETag", "\"a\""}}, Condition::kTrue},
    {"tag_none_stored", {{"If-None-Match", "\"a\""}}, {}, Condition::kTrue},
    // If-None-Match alone counts where both are there (RFC 9110 13.2.2).
    {"tag_wins",
     {{"If-None-Match", "\"b\""}, {"If-Modified-Since", kLate}},
     {{"ETag", "\"a\""}, {"Last-Modified", kDate}},
     Condition::kTrue},
    {"since_equal",
     {{"If-Modified-Since", kDate}},
     {{"Last-Modified", kDate}},
     Condition::kNotModified},
    {"since_later",
     {{"If-Modified-Since", kLate}},
     {{"Last-Modified", kDate}},
     Condition::kNotModified},
    {"since_earlier",
     {{"If-Modified-Since", kEarly}},
     {{"Last-Modified", kDate}},
     Condition::kTrue},
    {"since_by_date", {{"If-Modified-Since", kDate}}, {{"Date", kDate}}, Condition::kNotModified},
    {"since_by_receipt", {{"If-Modified-Since", kLate}}, {}, Condition::kNotModified},
    {"since_before_receipt", {{"If-Modified-Since", kDate}}, {}, Condition::kTrue},
    {"since_obsolete_form",
     {{"If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"}},
     {{"Last-Modified", kDate}},
     Condition::kNotModified},
    {"since_invalid",
     {{"If-Modified-Since", "yesterday"}},
     {{"Last-Modified", kDate}},
     Condition::kUnconditional},
    {"since_twice",
     {{"If-Modified-Since", kDate}, {"If-Modified-Since", kLate}},
     {{"Last-Modified", kDate}},
     Condition::kUnconditional},
    {"match_is_the_origins",
     {{"If-Match", "\"b\""}},
     {{"ETag", "\"a\""}},
     Condition::kUnconditional},
};

INSTANTIATE_TEST_SUITE_P(Conditional, Conditions, testing::ValuesIn(kConditionCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Conditional, OnlyOfSuccessfulResponses) {
  const auto request = get_head({{"If-None-Match", "\"a\""}});
  EXPECT_EQ(evaluate_conditions(request, stored({{"ETag", "\"a\""}}, 404)),
            Condition::kUnconditional);
}

TEST(Conditional, IfRange) {
  const FieldList fields = {{"ETag", "\"a\""}, {"Last-Modified", kDate}, {"Date", kLate}};
  const auto head = response_head(200, fields);
  EXPECT_TRUE(range_applies(get_head(), head));
  EXPECT_TRUE(range_applies(get_head({{"If-Range", "\"a\""}}), head));
  EXPECT_TRUE(range_applies(get_head({{"If-Range", kDate}}), head));
  for (const char* value : {"W/\"a\"", "\"b\"", "a", "", kEarly, kLate, "*"}) {
    EXPECT_FALSE(range_applies(get_head({{"If-Range", value}}), head)) << value;
  }
  EXPECT_FALSE(range_applies(get_head({{"If-Range", "\"a\""}, {"If-Range", "\"a\""}}), head));
  EXPECT_FALSE(range_applies(get_head({{"If-Range", "W/\"a\""}}),
                             response_head(200, {{"ETag", "W/\"a\""}})));
  // Last-Modified in the very second of Date may change again within it: weak.
  EXPECT_FALSE(range_applies(get_head({{"If-Range", kDate}}),
                             response_head(200, {{"Last-Modified", kDate}, {"Date", kDate}})));
}

TEST(Conditional, ValidatorsReplaceTheClientsConditions) {
  auto request = get_head({{"If-None-Match", "\"mine\""},
                           {"If-Modified-Since", kEarly},
                           {"If-Range", "\"mine\""},
                           {"If-Unmodified-Since", kEarly},
                           {"If-Match", "*"},
                           {"Range", "bytes=0-1"},
                           {"Accept", "*/*"}});
  set_validators(request, response_head(200, {{"ETag", "W/\"a\""}, {"Last-Modified", kDate}}));
  EXPECT_EQ(text_of(request),
            "Host: a.example\nAccept: */*\nIf-None-Match: W/\"a\"\n"
            "If-Modified-Since: " +
                std::string(kDate) + "\n");
}

TEST(Conditional, NotModifiedMustSpeakOfTheStoredResponse) {
  struct Case {
    FieldList stored;
    FieldList received;
    bool expected;
  };
  for (const Case& c : {
           Case{{{"ETag", "\"a\""}}, {{"ETag", "\"a\""}}, true},
           Case{{{"ETag", "W/\"a\""}}, {{"ETag", "\"a\""}}, true},
           Case{{{"ETag", "\"a\""}}, {{"ETag", "\"b\""}}, false},
           Case{{{"ETag", "\"a\""}, {"Last-Modified", kDate}},
                {{"ETag", "\"b\""}, {"Last-Modified", kDate}},
                false},
           Case{{{"ETag", "\"a\""}}, {}, true},
           Case{{{"ETag", "unquoted"}}, {{"ETag", "unquoted"}}, true},
           Case{{{"Last-Modified", kDate}}, {{"Last-Modified", kDate}}, true},
           Case{{{"Last-Modified", kDate}},
                {{"Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT"}},
                true},
           Case{{{"Last-Modified", kDate}}, {{"Last-Modified", kLate}}, false},
           Case{{{"Last-Modified", kDate}}, {}, true},
           Case{{{"Last-Modified", kDate}}, {{"ETag", "\"new\""}}, false},
           Case{{{"Last-Modified", kDate}}, {{"ETag", "\"new\""}, {"Last-Modified", kDate}}, true},
       }) {
    EXPECT_EQ(validates(response_head(304, c.received), stored(c.stored)), c.expected)
        << text_of(response_head(200, c.stored)) << text_of(response_head(304, c.received));
  }
}

TEST(Conditional, FreshenTakesOverTheNewFields) {
  StoredResponse entry = stored({{"Date", kEarly},
                                 {"Age", "50"},
                                 {"Cache-Control", "max-age=1"},
                                 {"Content-Type", "text/plain"},
                                 {"ETag", "\"a\""},
                                 {"Vary", "Accept"},
                                 {"X-Private", "1"},
                                 {"X-Kept", "1"}});
  freshen(entry,
          response_head(304, {{"Date", kLate},
                              {"Cache-Control", "max-age=9"},
                              {"Cache-Control", "private=\"x-private\""},
                              {"Content-Type", "image/png"},
                              {"Content-Length", "0"},
                              {"Connection", "X-Hop"},
                              {"X-Hop", "1"},
                              {"ETag", "W/\"a\""},
                              {"Vary", "Cookie"},
                              {"Set-Cookie", "a=b"},
                              {"X-New", "1"}}),
          HttpTime(Seconds(10)), HttpTime(Seconds(11)));
  EXPECT_EQ(text_of(entry.head),
            "Content-Type: text/plain\nETag: \"a\"\nVary: Accept\nX-Kept: 1\n"
            "Date: " +
                std::string(kLate) +
                "\nCache-Control: max-age=9\n"
                "Cache-Control: private=\"x-private\"\nX-New: 1\n");
  EXPECT_EQ(entry.head.result_int(), 200u);
  EXPECT_EQ(entry.request_time, HttpTime(Seconds(10)));
  EXPECT_EQ(entry.response_time, HttpTime(Seconds(11)));
}

}  // namespace
}  // namespace proxy
