#include "proxy/request_target.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing_support::FieldList;
using testing_support::request_head;

struct GoodCase {
  const char* method;
  const char* target;
  const char* host_field;
  TargetForm form;
  const char* key;
  const char* authority;
};

class GoodTarget : public testing::TestWithParam<GoodCase> {};

TEST_P(GoodTarget, IsNormalised) {
  const GoodCase& c = GetParam();
  FieldList fields;
  if (*c.host_field != '\0') fields.emplace_back("Host", c.host_field);
  const auto target = parse_request_target(request_head(c.method, c.target, fields));
  ASSERT_TRUE(target) << target.error().detail;
  EXPECT_EQ(target->form, c.form);
  EXPECT_EQ(target->authority(), c.authority);
  if (c.form != TargetForm::kAuthority) {
    EXPECT_EQ(cache_key(*target), c.key);
  }
}

INSTANTIATE_TEST_SUITE_P(
    RequestTarget, GoodTarget,
    testing::Values(
        GoodCase{"GET", "/where?q=now", "www.example.org", TargetForm::kOrigin,
                 "GET http://www.example.org:80/where?q=now", "www.example.org"},
        GoodCase{"GET", "/a", "Example.ORG:8080", TargetForm::kOrigin,
                 "GET http://example.org:8080/a", "example.org:8080"},
        GoodCase{"GET", "/a", "h:80", TargetForm::kOrigin, "GET http://h:80/a", "h"},
        GoodCase{"GET", "/a", "h:", TargetForm::kOrigin, "GET http://h:80/a", "h"},
        GoodCase{"GET", "//x/y", "h", TargetForm::kOrigin, "GET http://h:80//x/y", "h"},
        GoodCase{"GET", "/a#frag", "h", TargetForm::kOrigin, "GET http://h:80/a", "h"},
        GoodCase{"GET", "/%7Euser/../x", "h", TargetForm::kOrigin, "GET http://h:80/%7Euser/../x",
                 "h"},
        GoodCase{"GET", "http://www.example.org/pub/WWW/TheProject.html", "", TargetForm::kAbsolute,
                 "GET http://www.example.org:80/pub/WWW/TheProject.html", "www.example.org"},
        GoodCase{"GET", "HTTP://EXAMPLE.org", "", TargetForm::kAbsolute,
                 "GET http://example.org:80/", "example.org"},
        GoodCase{"GET", "http://h?x=1", "", TargetForm::kAbsolute, "GET http://h:80/?x=1", "h"},
        GoodCase{"GET", "http://h:0080/#x", "", TargetForm::kAbsolute, "GET http://h:80/", "h"},
        // The target wins over Host (RFC 9112 3.2.2).
        GoodCase{"GET", "http://a/x", "b", TargetForm::kAbsolute, "GET http://a:80/x", "a"},
        GoodCase{"GET", "http://[2001:DB8:0::1]:81/x", "", TargetForm::kAbsolute,
                 "GET http://[2001:db8::1]:81/x", "[2001:db8::1]:81"},
        GoodCase{"GET", "http://[::1]/x", "", TargetForm::kAbsolute, "GET http://[::1]:80/x",
                 "[::1]"},
        GoodCase{"OPTIONS", "*", "h:81", TargetForm::kAsterisk, "GET http://h:81*", "h:81"},
        GoodCase{"OPTIONS", "http://h:8001", "", TargetForm::kAbsolute, "GET http://h:8001*",
                 "h:8001"},
        GoodCase{"OPTIONS", "http://h/", "", TargetForm::kAbsolute, "GET http://h:80/", "h"},
        GoodCase{"CONNECT", "server.example.com:80", "server.example.com", TargetForm::kAuthority,
                 "", "server.example.com:80"},
        GoodCase{"CONNECT", "[::1]:443", "", TargetForm::kAuthority, "", "[::1]:443"}));

struct BadCase {
  const char* method;
  const char* target;
  const char* host_field;
  unsigned status;
};

class BadTarget : public testing::TestWithParam<BadCase> {};

TEST_P(BadTarget, IsRefused) {
  const BadCase& c = GetParam();
  FieldList fields;
  if (*c.host_field != '\0') fields.emplace_back("Host", c.host_field);
  const auto target = parse_request_target(request_head(c.method, c.target, fields));
  ASSERT_FALSE(target) << target->url();
  EXPECT_EQ(static_cast<unsigned>(target.error().status), c.status);
  EXPECT_FALSE(target.error().reason.empty());
  EXPECT_FALSE(target.error().detail.empty());
}

INSTANTIATE_TEST_SUITE_P(
    RequestTarget, BadTarget,
    testing::Values(
        BadCase{"GET", "", "h", 400}, BadCase{"GET", "/x", "", 400}, BadCase{"GET", "x", "h", 400},
        BadCase{"GET", "*", "h", 400}, BadCase{"GET", "https://h/x", "h", 400},
        BadCase{"GET", "ftp://h/x", "h", 400}, BadCase{"GET", "http:/h", "h", 400},
        BadCase{"GET", "http:///x", "h", 400}, BadCase{"GET", "http://:80/x", "h", 400},
        BadCase{"GET", "http://user:pw@h/x", "h", 400}, BadCase{"GET", "http://h:0/x", "h", 400},
        BadCase{"GET", "http://h:65536/x", "h", 400}, BadCase{"GET", "http://h:-1/x", "h", 400},
        BadCase{"GET", "http://h:8 0/x", "h", 400}, BadCase{"GET", "http://h:80:80/x", "h", 400},
        BadCase{"GET", "http://[::1/x", "h", 400}, BadCase{"GET", "http://[::1]x/y", "h", 400},
        BadCase{"GET", "http://[fe80::1%25eth0]/x", "h", 400},
        BadCase{"GET", "http://[fe80::1%1]/x", "h", 400},
        BadCase{"GET", "http://[127.0.0.1]/x", "h", 400}, BadCase{"GET", "http://h%00/x", "h", 400},
        BadCase{"GET", "http://a,b/x", "h", 400}, BadCase{"GET", "http://h\\x/y", "h", 400},
        BadCase{"GET", "/a\tb", "h", 400}, BadCase{"GET", "/a b", "h", 400},
        BadCase{"GET", "/a\x7f", "h", 400}, BadCase{"GET", "/a\nb", "h", 400},
        BadCase{"GET", "/x", "a b", 400}, BadCase{"GET", "/x", "a/b", 400},
        BadCase{"GET", "/x", "a@b", 400}, BadCase{"GET", "/x", "h:x", 400},
        BadCase{"CONNECT", "h", "h", 400}, BadCase{"CONNECT", "h:", "h", 400},
        BadCase{"CONNECT", "h:0", "h", 400}, BadCase{"CONNECT", "h:99999", "h", 400},
        BadCase{"CONNECT", "http://h:80", "h", 400}, BadCase{"CONNECT", "/x", "h", 400},
        BadCase{"CONNECT", "[::1]", "h", 400}));

TEST(RequestTarget, OtherSchemesKeepTheConnection) {
  const auto target = parse_request_target(request_head("GET", "https://h/", {{"Host", "h"}}));
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().reason, "unsupported_scheme");
  EXPECT_FALSE(target.error().close);
  EXPECT_NE(target.error().detail.find("CONNECT"), std::string::npos);
}

TEST(RequestTarget, LengthIsLimited) {
  const std::string longest = "/" + std::string(kTargetLengthMax - 1, 'a');
  const auto fits = parse_request_target(request_head("GET", longest, {{"Host", "h"}}));
  ASSERT_TRUE(fits);
  EXPECT_LE(cache_key(*fits).size(), kTargetLengthMax + 300);
  const auto more = parse_request_target(request_head("GET", longest + "a", {{"Host", "h"}}));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().status, http::status::uri_too_long);
  const std::string host(256, 'h');
  EXPECT_FALSE(parse_request_target(request_head("GET", "/", {{"Host", host}})));
}

TEST(RequestTarget, KeysTellHostsPortsAndPathsApart) {
  std::set<std::string> keys;
  const char* targets[] = {"http://a/x",  "http://b/x",   "http://a:81/x",
                           "http://a/x?", "http://a/X",   "http://a/x/",
                           "http://a/",   "http://a/x?q", "http://a.b/x"};
  for (const char* text : targets) {
    const auto target = parse_request_target(request_head("GET", text));
    ASSERT_TRUE(target) << text;
    EXPECT_TRUE(keys.insert(cache_key(*target)).second) << text;
  }
}

TEST(RequestTarget, UrlsForPeople) {
  EXPECT_EQ(parse_request_target(request_head("GET", "/a?b", {{"Host", "H:80"}}))->url(),
            "http://h/a?b");
  EXPECT_EQ(parse_request_target(request_head("OPTIONS", "*", {{"Host", "h"}}))->url(), "http://h");
  EXPECT_EQ(parse_request_target(request_head("CONNECT", "H:443"))->url(), "h:443");
}

}  // namespace
}  // namespace proxy
