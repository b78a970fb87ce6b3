#include "proxy/header_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing_support::get_head;

TEST(HeaderLists, SplitsAtCommasOutsideQuotes) {
  EXPECT_THAT(split_list("a, b ,\tc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_list(",, a,, ,b,"), ElementsAre("a", "b"));
  EXPECT_THAT(split_list(R"(a="x, y", b)"), ElementsAre(R"(a="x, y")", "b"));
  EXPECT_THAT(split_list(R"(a="x\", y", b)"), ElementsAre(R"(a="x\", y")", "b"));
  EXPECT_THAT(split_list(R"(a="x, b)"), ElementsAre(R"(a="x, b)"));
  EXPECT_THAT(split_list("\"\\"), ElementsAre("\"\\"));
  EXPECT_THAT(split_list(""), IsEmpty());
  EXPECT_THAT(split_list(" , ,"), IsEmpty());
}

TEST(HeaderLists, JoinsLinesOfOneField) {
  const auto head = get_head({{"X-List", "a, b"}, {"Other", "z"}, {"x-list", "c"}});
  EXPECT_THAT(list_elements(head, "X-LIST"), ElementsAre("a", "b", "c"));
  EXPECT_EQ(combined_value(head, "X-List"), "a, b, c");
  EXPECT_EQ(line_count(head, "X-List"), 2u);
  EXPECT_TRUE(list_contains(head, "X-List", "B"));
  EXPECT_FALSE(list_contains(head, "X-List", "a, b"));
  EXPECT_THAT(list_elements(head, "Absent"), IsEmpty());
  EXPECT_EQ(combined_value(head, "Absent"), "");
}

TEST(HeaderLists, UnquotesOnlyWellFormedStrings) {
  EXPECT_EQ(unquote("token"), "token");
  EXPECT_EQ(unquote(""), "");
  EXPECT_EQ(unquote(R"("")"), "");
  EXPECT_EQ(unquote(R"("a \"b\" \\c")"), R"(a "b" \c)");
  for (const char* text : {"\"", "\"a", "\"a\"b", "\"a\\", "\"a\\\""}) {
    EXPECT_EQ(unquote(text), std::nullopt) << text;
  }
}

TEST(HeaderLists, DigitsAreDigitsThatFit) {
  EXPECT_EQ(parse_digits("0"), 0u);
  EXPECT_EQ(parse_digits("007"), 7u);
  EXPECT_EQ(parse_digits("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "+5", "-5", " 5", "5 ", "5,5", "0x5", "5.0", "1e3",
                           "18446744073709551616", "99999999999999999999999", "\xd9\xa1"}) {
    EXPECT_EQ(parse_digits(text), std::nullopt) << text;
  }
}

TEST(HeaderLists, Tokens) {
  EXPECT_TRUE(is_token("!#$%&'*+-.^_`|~09azAZ"));
  for (const char* text : {"", "a b", "a:", "a\t", "\"a\"", "a/b", "a\x80", "(a)"}) {
    EXPECT_FALSE(is_token(text)) << text;
  }
  EXPECT_FALSE(is_token(std::string_view("a\0b", 3)));
}

TEST(HeaderLists, ConnectionNominatesNames) {
  const auto head =
      get_head({{"Connection", "Close, X-Foo"}, {"Connection", "\"bad\", keep-alive"}});
  EXPECT_THAT(connection_nominated(head), ElementsAre("close", "x-foo", "keep-alive"));
}

TEST(HeaderLists, CaseIsAsciiOnly) {
  EXPECT_TRUE(equals_ignoring_case("AbC", "aBc"));
  EXPECT_FALSE(equals_ignoring_case("ab", "abc"));
  EXPECT_FALSE(equals_ignoring_case("\xc4", "\xe4"));
  EXPECT_EQ(to_lower("A\xc4Z"), "a\xc4z");
  EXPECT_EQ(trim_blanks(" \ta b\t "), "a b");
  EXPECT_EQ(trim_blanks(" \t"), "");
}

}  // namespace
}  // namespace proxy
