#include "proxy/forwarding.h"

#include <gtest/gtest.h>

#include "proxy/http_date.h"
#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing_support::FieldList;
using testing_support::get_head;
using testing_support::request_head;
using testing_support::response_head;
using testing_support::text_of;

constexpr HttpTime kForwardedAt{Seconds(784'111'777)};
constexpr const char* kNowText = "Sun, 06 Nov 1994 08:49:37 GMT";
const ForwardingOptions kForwarding;

RequestHead upstream(const RequestHead& client, MessageFraming body = {},
                     UpstreamPurpose purpose = UpstreamPurpose::kFill) {
  return make_upstream_request(client, parse_request_target(client).value(), body, purpose,
                               "192.0.2.7", kForwarding);
}

TEST(Forwarding, HopByHopFieldsAreRemoved) {
  auto head = response_head(200, {{"Connection", "close, X-Hop"},
                                  {"Connection", "X-Other"},
                                  {"X-Hop", "1"},
                                  {"x-hop", "2"},
                                  {"X-Other", "1"},
                                  {"Keep-Alive", "timeout=5"},
                                  {"Proxy-Connection", "keep-alive"},
                                  {"Proxy-Authenticate", "Basic"},
                                  {"Proxy-Authorization", "x"},
                                  {"TE", "trailers"},
                                  {"Trailer", "X"},
                                  {"Transfer-Encoding", "chunked"},
                                  {"Upgrade", "h2c"},
                                  {"X-Kept", "1"}});
  remove_hop_by_hop(head);
  EXPECT_EQ(text_of(head), "X-Kept: 1\n");
}

TEST(Forwarding, ConnectionCannotRemoveWhatOthersRestOn) {
  auto head = response_head(200, {{"Connection", "Cache-Control, Content-Length, Host, Age"},
                                  {"Cache-Control", "no-store"},
                                  {"Content-Length", "5"},
                                  {"Host", "h"},
                                  {"Age", "3"}});
  remove_hop_by_hop(head);
  EXPECT_EQ(text_of(head), "Cache-Control: no-store\nContent-Length: 5\nHost: h\nAge: 3\n");
}

TEST(Forwarding, UpstreamRequestOfAnAbsoluteTarget) {
  const auto client = request_head("GET", "http://Example.org:8080/a?b#c",
                                   {{"Accept", "*/*"},
                                    {"Host", "wrong"},
                                    {"Proxy-Authorization", "secret"},
                                    {"Connection", "keep-alive"},
                                    {"If-None-Match", "\"a\""},
                                    {"Range", "bytes=0-1"},
                                    {"Expect", "100-continue"},
                                    {"Via", "1.0 fred"},
                                    {"X-Forwarded-For", "203.0.113.9"}},
                                   10);
  const RequestHead head = upstream(client);
  EXPECT_EQ(head.method(), http::verb::get);
  EXPECT_EQ(head.target(), "/a?b");
  EXPECT_EQ(head.version(), 11u);
  EXPECT_EQ(text_of(head),
            "Host: example.org:8080\nAccept: */*\nVia: 1.0 fred\nVia: 1.0 cacheoff\n"
            "X-Forwarded-For: 203.0.113.9, 192.0.2.7\n");
}

TEST(Forwarding, PassingThroughKeepsConditions) {
  const auto client = get_head({{"If-Match", "\"a\""}, {"Range", "bytes=0-1"}});
  const RequestHead head = upstream(client, {}, UpstreamPurpose::kPassThrough);
  EXPECT_EQ(head[http::field::if_match], "\"a\"");
  EXPECT_EQ(head[http::field::range], "bytes=0-1");
}

TEST(Forwarding, UnknownMethodsArePassedOn) {
  const RequestHead head = upstream(request_head("BREW", "/pot", {{"Host", "h"}}));
  EXPECT_EQ(head.method_string(), "BREW");
}

TEST(Forwarding, ForwardedForCanBeLeftOut) {
  ForwardingOptions options;
  options.add_forwarded_for = false;
  const auto client = get_head();
  const RequestHead head = make_upstream_request(client, parse_request_target(client).value(), {},
                                                 UpstreamPurpose::kFill, "192.0.2.7", options);
  EXPECT_EQ(head.count("X-Forwarded-For"), 0u);
}

TEST(Forwarding, UpstreamBodyIsFramedAnew) {
  const auto client = request_head("POST", "/", {{"Host", "h"}, {"Transfer-Encoding", "chunked"}});
  MessageFraming body;
  body.framing = BodyFraming::kChunked;
  EXPECT_EQ(upstream(client, body)[http::field::transfer_encoding], "chunked");
  body.framing = BodyFraming::kLength;
  body.length_bytes = 12;
  EXPECT_EQ(upstream(client, body)[http::field::content_length], "12");
  EXPECT_EQ(upstream(client, body).count(http::field::transfer_encoding), 0u);
  EXPECT_EQ(upstream(client)[http::field::content_length], "0");
  const auto get = get_head({{"Content-Length", "0"}});
  EXPECT_EQ(upstream(get).count(http::field::content_length), 0u);
}

TEST(Forwarding, MaxForwards) {
  const auto options_head = [](const char* hops) {
    return request_head("OPTIONS", "*", {{"Host", "h"}, {"Max-Forwards", hops}});
  };
  EXPECT_TRUE(must_answer_here(options_head("0")));
  EXPECT_FALSE(must_answer_here(options_head("1")));
  EXPECT_FALSE(must_answer_here(options_head("x")));
  EXPECT_FALSE(must_answer_here(request_head("OPTIONS", "*", {{"Host", "h"}})));
  EXPECT_FALSE(must_answer_here(get_head({{"Max-Forwards", "0"}})));
  EXPECT_EQ(upstream(options_head("5"))[http::field::max_forwards], "4");
  EXPECT_EQ(upstream(options_head("5")).target(), "*");
  EXPECT_EQ(upstream(get_head({{"Max-Forwards", "5"}}))[http::field::max_forwards], "5");
}

TEST(Forwarding, LoopsAreFoundInVia) {
  for (const char* via :
       {"1.1 cacheoff", "1.0 fred, 1.1 CACHEOFF", "1.1 cacheoff (x, y)", "HTTP/1.1\tcacheoff"}) {
    EXPECT_TRUE(is_forwarding_loop(get_head({{"Via", via}}), "cacheoff")) << via;
  }
  for (const char* via : {"", "cacheoff", "1.1 cacheoff2", "1.1 fred (cacheoff)", "1.1 cache"}) {
    EXPECT_FALSE(is_forwarding_loop(get_head({{"Via", via}}), "cacheoff")) << via;
  }
}

ClientSide client_of(http::verb method, unsigned version = 11, bool keep_alive = true) {
  ClientSide client;
  client.method = method;
  client.version = version;
  client.keep_alive = keep_alive;
  return client;
}

struct FramingCase {
  const char* name;
  unsigned status;
  http::verb method;
  unsigned version;
  bool keep_alive;
  std::optional<uint64_t> body_size_bytes;
  BodyFraming framing;
  const char* fields;  // Framing fields and Connection of the answer.
  bool answer_keep_alive;
};

class ResponseFraming : public testing::TestWithParam<FramingCase> {};

TEST_P(ResponseFraming, FitsTheClient) {
  const FramingCase& c = GetParam();
  const auto origin = response_head(
      c.status, {{"Content-Length", "7"}, {"Date", kNowText}, {"Connection", "keep-alive"}});
  const DownstreamResponse out =
      make_response(origin, c.body_size_bytes, client_of(c.method, c.version, c.keep_alive),
                    kForwardedAt, kForwarding);
  EXPECT_EQ(out.framing, c.framing);
  EXPECT_EQ(out.keep_alive, c.answer_keep_alive);
  EXPECT_EQ(out.head.version(), 11u);
  EXPECT_EQ(text_of(out.head),
            "Date: " + std::string(kNowText) + "\nVia: 1.1 cacheoff\n" + c.fields);
}

using http::verb;
const FramingCase kFramingCases[] = {
    {"length", 200, verb::get, 11, true, 5, BodyFraming::kLength, "Content-Length: 5\n", true},
    {"empty", 200, verb::get, 11, true, 0, BodyFraming::kLength, "Content-Length: 0\n", true},
    {"chunked",
     200,
     verb::get,
     11,
     true,
     {},
     BodyFraming::kChunked,
     "Transfer-Encoding: chunked\n",
     true},
    {"closing", 200, verb::get, 11, false, 5, BodyFraming::kLength,
     "Content-Length: 5\nConnection: close\n", false},
    {"old_length", 200, verb::get, 10, true, 5, BodyFraming::kLength,
     "Content-Length: 5\nConnection: keep-alive\n", true},
    {"old_unknown",
     200,
     verb::get,
     10,
     true,
     {},
     BodyFraming::kClose,
     "Connection: close\n",
     false},
    {"head_known", 200, verb::head, 11, true, 5, BodyFraming::kNone, "Content-Length: 5\n", true},
    {"head_announced",
     200,
     verb::head,
     11,
     true,
     {},
     BodyFraming::kNone,
     "Content-Length: 7\n",
     true},
    {"no_content", 204, verb::get, 11, true, {}, BodyFraming::kNone, "", true},
    {"not_modified", 304, verb::get, 11, true, {}, BodyFraming::kNone, "", true},
    {"no_content_old",
     204,
     verb::get,
     10,
     true,
     {},
     BodyFraming::kNone,
     "Connection: keep-alive\n",
     true},
};

INSTANTIATE_TEST_SUITE_P(Forwarding, ResponseFraming, testing::ValuesIn(kFramingCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Forwarding, MissingDateIsAdded) {
  const auto out =
      make_response(response_head(200, {}, 10), 5, client_of(verb::get), kForwardedAt, kForwarding);
  EXPECT_EQ(out.head[http::field::date], kNowText);
  EXPECT_EQ(out.head[http::field::via], "1.0 cacheoff");
}

StoredResponse entry() {
  StoredResponse out;
  out.head = response_head(200, {{"Content-Type", "text/plain"},
                                 {"Age", "5"},
                                 {"Cache-Control", "max-age=60"},
                                 {"Expires", "0"},
                                 {"ETag", "\"a\""},
                                 {"Last-Modified", "x"},
                                 {"Vary", "Accept"},
                                 {"X-Other", "1"}});
  out.response_time = kForwardedAt;
  return out;
}

TEST(Forwarding, CachedResponseCarriesItsAge) {
  const auto out = make_cached_response(entry(), Seconds(70), 9, client_of(verb::get), kForwarding);
  EXPECT_EQ(out.head[http::field::age], "70");
  EXPECT_EQ(out.head.count(http::field::age), 1u);
  EXPECT_EQ(out.head[http::field::date], kNowText) << "the time it was received";
  EXPECT_EQ(out.head[http::field::content_length], "9");
  EXPECT_EQ(out.head["X-Other"], "1");
}

TEST(Forwarding, PartialResponse) {
  const auto out =
      make_partial_response(entry(), Seconds(1), {2, 5}, 10, client_of(verb::get), kForwarding);
  EXPECT_EQ(out.head.result_int(), 206u);
  EXPECT_EQ(out.head.reason(), "Partial Content");
  EXPECT_EQ(out.head[http::field::content_range], "bytes 2-5/10");
  EXPECT_EQ(out.head[http::field::content_length], "4");
  EXPECT_EQ(out.length_bytes, 4u);
  EXPECT_EQ(out.head[http::field::etag], "\"a\"");
}

TEST(Forwarding, NotModifiedCarriesOnlyWhatItMust) {
  const auto out = make_not_modified(entry(), Seconds(7), client_of(verb::get), kForwarding);
  EXPECT_EQ(out.head.result_int(), 304u);
  EXPECT_EQ(out.framing, BodyFraming::kNone);
  EXPECT_EQ(text_of(out.head),
            "Cache-Control: max-age=60\nExpires: 0\nETag: \"a\"\n"
            "Vary: Accept\nX-Other: 1\nAge: 7\nDate: " +
                std::string(kNowText) + "\nVia: 1.1 cacheoff\n");
  StoredResponse untagged = entry();
  untagged.head.erase(http::field::etag);
  const auto other = make_not_modified(untagged, Seconds(7), client_of(verb::get), kForwarding);
  EXPECT_EQ(other.head[http::field::last_modified], "x");
}

TEST(Forwarding, Unsatisfiable) {
  const auto out = make_unsatisfiable(10, client_of(verb::get), kForwardedAt);
  EXPECT_EQ(out.head.result_int(), 416u);
  EXPECT_EQ(text_of(out.head),
            "Date: " + std::string(kNowText) + "\nContent-Range: bytes */10\nContent-Length: 0\n");
}

}  // namespace
}  // namespace proxy
