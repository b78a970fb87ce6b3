#include "proxy/request_checks.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing_support::FieldList;
using testing_support::request_head;
using testing_support::response_head;

constexpr unsigned kOk = 0;

struct RequestCase {
  const char* name;
  const char* method;
  unsigned version;
  FieldList fields;
  unsigned status;  // kOk: served.
  BodyFraming framing = BodyFraming::kNone;
};

class CheckRequest : public testing::TestWithParam<RequestCase> {};

TEST_P(CheckRequest, AnswersAsTheRfcSays) {
  const RequestCase& c = GetParam();
  const auto checked = check_request(request_head(c.method, "/", c.fields, c.version), {});
  if (c.status == kOk) {
    ASSERT_TRUE(checked) << c.name << ": " << checked.error().detail;
    EXPECT_EQ(checked->body.framing, c.framing) << c.name;
  } else {
    ASSERT_FALSE(checked) << c.name;
    EXPECT_EQ(static_cast<unsigned>(checked.error().status), c.status) << c.name;
    EXPECT_TRUE(checked.error().close) << c.name;
    EXPECT_FALSE(checked.error().reason.empty()) << c.name;
  }
}

const RequestCase kRequestCases[] = {
    {"plain", "GET", 11, {{"Host", "h"}}, kOk},
    {"http_10_without_host", "GET", 10, {}, kOk},
    {"no_host", "GET", 11, {}, 400},
    {"two_hosts", "GET", 11, {{"Host", "h"}, {"Host", "h"}}, 400},
    {"two_hosts_10", "GET", 10, {{"Host", "h"}, {"host", "i"}}, 400},
    {"empty_host", "GET", 11, {{"Host", ""}}, kOk},
    {"host_list", "GET", 11, {{"Host", "a, b"}}, 400},
    {"host_with_path", "GET", 11, {{"Host", "a/b"}}, 400},
    {"host_with_user", "GET", 11, {{"Host", "u@h"}}, 400},
    {"version_20", "GET", 20, {{"Host", "h"}}, 505},
    {"version_9", "GET", 9, {{"Host", "h"}}, 505},

    {"length", "POST", 11, {{"Host", "h"}, {"Content-Length", "5"}}, kOk, BodyFraming::kLength},
    {"length_0", "POST", 11, {{"Host", "h"}, {"Content-Length", "0"}}, kOk},
    {"length_get", "GET", 11, {{"Host", "h"}, {"Content-Length", "5"}}, kOk, BodyFraming::kLength},
    {"chunked",
     "POST",
     11,
     {{"Host", "h"}, {"Transfer-Encoding", "Chunked"}},
     kOk,
     BodyFraming::kChunked},

    // Smuggling: two readers could frame these differently.
    {"cl_te",
     "POST",
     11,
     {{"Host", "h"}, {"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}},
     400},
    {"te_cl",
     "POST",
     11,
     {{"Host", "h"}, {"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}},
     400},
    {"cl0_te",
     "POST",
     11,
     {{"Host", "h"}, {"Content-Length", "0"}, {"Transfer-Encoding", "chunked"}},
     400},
    {"cl_te_unknown",
     "POST",
     11,
     {{"Host", "h"}, {"Content-Length", "5"}, {"Transfer-Encoding", "x"}},
     400},
    {"two_cls", "POST", 11, {{"Host", "h"}, {"Content-Length", "5"}, {"Content-Length", "6"}}, 400},
    {"equal_cls",
     "POST",
     11,
     {{"Host", "h"}, {"Content-Length", "5"}, {"content-length", "5"}},
     400},
    {"cl_list", "POST", 11, {{"Host", "h"}, {"Content-Length", "5, 5"}}, 400},
    {"cl_plus", "POST", 11, {{"Host", "h"}, {"Content-Length", "+5"}}, 400},
    {"cl_minus", "POST", 11, {{"Host", "h"}, {"Content-Length", "-5"}}, 400},
    {"cl_empty", "POST", 11, {{"Host", "h"}, {"Content-Length", ""}}, 400},
    {"cl_hex", "POST", 11, {{"Host", "h"}, {"Content-Length", "0x5"}}, 400},
    {"cl_blank", "POST", 11, {{"Host", "h"}, {"Content-Length", "5 5"}}, 400},
    {"cl_point", "POST", 11, {{"Host", "h"}, {"Content-Length", "5.0"}}, 400},
    {"cl_overflow", "POST", 11, {{"Host", "h"}, {"Content-Length", "18446744073709551616"}}, 400},
    {"te_unknown", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "xchunked"}}, 501},
    {"te_gzip_chunked", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "gzip, chunked"}}, 501},
    {"te_identity", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "identity"}}, 501},
    {"te_parameter", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "chunked;a=b"}}, 501},
    {"te_quoted", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "\"chunked\""}}, 501},
    {"te_not_last", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "chunked, gzip"}}, 400},
    {"te_twice", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", "chunked, chunked"}}, 400},
    {"te_lines",
     "POST",
     11,
     {{"Host", "h"}, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
     400},
    {"te_hidden",
     "POST",
     11,
     {{"Host", "h"}, {"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "identity"}},
     400},
    {"te_empty", "POST", 11, {{"Host", "h"}, {"Transfer-Encoding", ""}}, 400},
    {"te_vertical_tab",
     "POST",
     11,
     {{"Host", "h"},
      {"Transfer-Encoding",
       "\x0b"
       "chunked"}},
     400},
    {"te_10", "POST", 10, {{"Host", "h"}, {"Transfer-Encoding", "chunked"}}, 400},
    {"control", "GET", 11, {{"Host", "h"}, {"X", "a\rb"}}, 400},
    {"newline", "GET", 11, {{"Host", "h"}, {"X", "a\nContent-Length: 5"}}, 400},
    {"name_with_blank", "GET", 11, {{"Host", "h"}, {"Content-Length ", "5"}}, 400},
    {"upgrade", "GET", 11, {{"Host", "h"}, {"Connection", "upgrade"}, {"Upgrade", "h2c"}}, kOk},

    {"trace_body", "TRACE", 11, {{"Host", "h"}, {"Content-Length", "5"}}, 400},
    {"connect_body", "CONNECT", 11, {{"Host", "h"}, {"Transfer-Encoding", "chunked"}}, 400},
    {"expect",
     "PUT",
     11,
     {{"Host", "h"}, {"Content-Length", "5"}, {"Expect", "100-Continue"}},
     kOk,
     BodyFraming::kLength},
    {"expect_unknown", "PUT", 11, {{"Host", "h"}, {"Expect", "200-ok"}}, 417},
    {"expect_two", "PUT", 11, {{"Host", "h"}, {"Expect", "100-continue, x"}}, 417},
    {"expect_10", "PUT", 10, {{"Host", "h"}, {"Expect", "x"}}, kOk},
};

INSTANTIATE_TEST_SUITE_P(RequestChecks, CheckRequest, testing::ValuesIn(kRequestCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(RequestChecks, NulInAValueIsRefused) {
  const std::string_view value("a\0b", 3);
  EXPECT_FALSE(check_request(request_head("GET", "/", {{"Host", "h"}, {"X", value}}), {}));
}

TEST(RequestChecks, FieldsAreLimitedInCountAndSize) {
  RequestLimits limits;
  limits.field_count_max = 3;
  limits.head_size_bytes_max = 100;
  auto head = request_head("GET", "/", {{"Host", "h"}, {"A", "1"}, {"B", "2"}});
  EXPECT_TRUE(check_request(head, limits));
  head.insert("C", "3");
  ASSERT_FALSE(check_request(head, limits));
  EXPECT_EQ(check_request(head, limits).error().status,
            http::status::request_header_fields_too_large);
  const std::string large(100, 'x');
  EXPECT_FALSE(check_request(request_head("GET", "/", {{"Host", "h"}, {"A", large}}), limits));
}

TEST(RequestChecks, ContinueIsExpectedOnlyWithABody) {
  const FieldList with_body = {{"Host", "h"}, {"Content-Length", "5"}, {"Expect", "100-continue"}};
  EXPECT_TRUE(check_request(request_head("PUT", "/", with_body), {})->expects_continue);
  EXPECT_FALSE(check_request(request_head("PUT", "/", with_body, 10), {})->expects_continue);
  const FieldList without = {{"Host", "h"}, {"Expect", "100-continue"}};
  EXPECT_FALSE(check_request(request_head("GET", "/", without), {})->expects_continue);
}

TEST(RequestChecks, KeepAlive) {
  EXPECT_TRUE(wants_keep_alive(request_head("GET", "/"), 11));
  EXPECT_FALSE(wants_keep_alive(request_head("GET", "/"), 10));
  EXPECT_TRUE(wants_keep_alive(request_head("GET", "/", {{"Connection", "Keep-Alive"}}), 10));
  EXPECT_TRUE(wants_keep_alive(request_head("GET", "/", {{"Proxy-Connection", "keep-alive"}}), 10));
  EXPECT_FALSE(wants_keep_alive(request_head("GET", "/", {{"Connection", "x, Close"}}), 11));
  EXPECT_FALSE(wants_keep_alive(
      request_head("GET", "/", {{"Connection", "keep-alive"}, {"Connection", "close"}}), 10));
}

struct ResponseCase {
  const char* name;
  http::verb method;
  unsigned status;
  FieldList fields;
  bool good;
  BodyFraming framing = BodyFraming::kNone;
  unsigned version = 11;
};

class CheckResponse : public testing::TestWithParam<ResponseCase> {};

TEST_P(CheckResponse, FramesAsTheRfcSays) {
  const ResponseCase& c = GetParam();
  const auto framing = check_response(response_head(c.status, c.fields, c.version), c.method);
  ASSERT_EQ(framing.has_value(), c.good);
  if (c.good) {
    EXPECT_EQ(framing->framing, c.framing);
  } else {
    EXPECT_EQ(framing.error().status, http::status::bad_gateway);
  }
}

using http::verb;
const ResponseCase kResponseCases[] = {
    {"length", verb::get, 200, {{"Content-Length", "5"}}, true, BodyFraming::kLength},
    {"status_too_low", verb::get, 0, {{"Content-Length", "5"}}, false},
    {"status_too_high", verb::get, 600, {{"Content-Length", "5"}}, false},
    {"length_0", verb::get, 200, {{"Content-Length", "0"}}, true},
    {"chunked", verb::get, 200, {{"Transfer-Encoding", "chunked"}}, true, BodyFraming::kChunked},
    {"until_close", verb::get, 200, {}, true, BodyFraming::kClose},
    {"head", verb::head, 200, {{"Content-Length", "5"}}, true},
    {"no_content", verb::get, 204, {{"Content-Length", "5"}}, true},
    {"not_modified", verb::get, 304, {{"Content-Length", "5"}}, true},
    {"continue", verb::get, 100, {}, true},
    {"tunnel", verb::connect, 200, {{"Content-Length", "5"}}, true},
    {"no_tunnel", verb::connect, 403, {{"Content-Length", "5"}}, true, BodyFraming::kLength},
    {"cl_te", verb::get, 200, {{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}, false},
    {"two_cls", verb::get, 200, {{"Content-Length", "5"}, {"Content-Length", "6"}}, false},
    {"cl_plus", verb::get, 200, {{"Content-Length", "+5"}}, false},
    {"te_unknown", verb::get, 200, {{"Transfer-Encoding", "gzip"}}, false},
    {"te_10", verb::get, 200, {{"Transfer-Encoding", "chunked"}}, false, BodyFraming::kNone, 10},
    {"split", verb::get, 200, {{"X", "a\r\nSet-Cookie: b"}}, false},
    {"split_head", verb::head, 200, {{"X", "a\nb"}}, false},
};

INSTANTIATE_TEST_SUITE_P(RequestChecks, CheckResponse, testing::ValuesIn(kResponseCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace proxy
