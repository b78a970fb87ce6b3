#include "proxy/error_page.h"

#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

constexpr HttpTime kNow{Seconds(784'111'777)};
const ForwardingOptions kPlain;
const Refusal kRefusal(http::status::bad_request, "bad_host", "The host \"<b>&'\r\n\xff\" is odd.");

TEST(ErrorPage, PlainByDefaultWithNothingToInject) {
  const ErrorPage page = make_error_page(kRefusal, {}, "*/*", kNow, kPlain);
  EXPECT_EQ(page.body, "400 Bad Request\nThe host \"<b>&'???\" is odd.\n");
  EXPECT_EQ(testing_support::text_of(page.head),
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\n"
            "Content-Type: text/plain; charset=utf-8\n"
            "Content-Length: " +
                std::to_string(page.body.size()) +
                "\n"
                "Cache-Control: no-store\n"
                "X-Content-Type-Options: nosniff\n"
                "X-Cache-Error: bad_host\n"
                "Connection: close\n");
  EXPECT_FALSE(page.keep_alive);
}

TEST(ErrorPage, HtmlIsEscaped) {
  const ErrorPage page =
      make_error_page(kRefusal, {}, "application/json, Text/HTML;q=0.9", kNow, kPlain);
  EXPECT_EQ(page.head[http::field::content_type], "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("The host &quot;&lt;b&gt;&amp;&#39;???&quot; is odd."),
            std::string::npos);
  EXPECT_EQ(page.body.find("<b>"), std::string::npos);
}

TEST(ErrorPage, HeadHasTheLengthButNoBody) {
  ClientSide client;
  client.method = http::verb::head;
  const ErrorPage page = make_error_page(kRefusal, client, "", kNow, kPlain);
  EXPECT_TRUE(page.body.empty());
  EXPECT_NE(page.head[http::field::content_length], "0");
}

TEST(ErrorPage, ConnectionFollowsRefusalAndClient) {
  Refusal mild = kRefusal;
  mild.close = false;
  ClientSide client;
  EXPECT_TRUE(make_error_page(mild, client, "", kNow, kPlain).keep_alive);
  client.version = 10;
  EXPECT_EQ(make_error_page(mild, client, "", kNow, kPlain).head[http::field::connection],
            "keep-alive");
  client.keep_alive = false;
  EXPECT_FALSE(make_error_page(mild, client, "", kNow, kPlain).keep_alive);
}

TEST(ErrorPage, OddReasonsAndLongDetailsDoNotGetThrough) {
  const Refusal odd(http::status::method_not_allowed, "a\r\nb", std::string(100'000, 'x'));
  const ErrorPage page = make_error_page(odd, {}, "", kNow, kPlain);
  EXPECT_EQ(page.head["X-Cache-Error"], "unspecified");
  EXPECT_LT(page.body.size(), 2000u);
  EXPECT_FALSE(page.head[http::field::allow].empty());
}

}  // namespace
}  // namespace proxy
