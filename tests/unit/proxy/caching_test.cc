// What clients see of the cache: hits, misses, validation, variants, ranges, conditions.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/pattern.h"
#include "tests/support/proxy_under_test.h"

namespace {

using testing_support::FakeOrigin;
using testing_support::get_request;
using testing_support::ok_response;
using testing_support::Peer;
using testing_support::ProxyUnderTest;
using testing_support::ReceivedMessage;

class CachingTest : public ::testing::Test {
 protected:
  /// One request whose answer comes from the origin, which says `response`.
  ReceivedMessage miss(Peer& client, const std::string& request, const std::string& response) {
    client.send(request);
    asked_ = read_request();
    origin_->send(response);
    return client.read_message();
  }
  /// One request that must not reach the origin.
  ReceivedMessage hit(Peer& client, const std::string& request, bool bodiless = false) {
    client.send(request);
    return client.read_message(bodiless);
  }
  /// The request that the origin gets next, on a kept connection or on a new one.
  ReceivedMessage read_request() {
    if (!origin_) origin_.emplace(server_.accept());
    ReceivedMessage request = origin_->read_message();
    if (!request.head.empty()) return request;
    origin_.emplace(server_.accept());
    return origin_->read_message();
  }
  /// No further request was sent to the origin.
  bool origin_is_silent() {
    return !server_.has_connection() && !(origin_ && origin_->has_input());
  }

  FakeOrigin server_;
  std::optional<Peer> origin_;
  ReceivedMessage asked_;
};

TEST_F(CachingTest, SecondRequestIsAnsweredFromTheStore) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  const auto first = miss(client, request, ok_response("hello"));
  EXPECT_EQ(first.status(), 200);
  EXPECT_EQ(first.body, "hello");
  EXPECT_EQ(asked_.start_line(), "GET /a HTTP/1.1");
  EXPECT_EQ(asked_.field("Host"), server_.address());
  EXPECT_EQ(asked_.field("Via"), "1.1 proxy-under-test");
  proxy.clock().advance(std::chrono::seconds(7));
  const auto second = hit(client, request);
  EXPECT_EQ(second.status(), 200);
  EXPECT_EQ(second.body, "hello");
  EXPECT_EQ(second.field("Age"), "7");
  EXPECT_TRUE(origin_is_silent());
  client.close();
  EXPECT_EQ(proxy.stop(), "");
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_MEM_HIT/200\n");
}

TEST_F(CachingTest, NothingIsCachedWithoutAStore) {
  ProxyUnderTest proxy({}, "scheme=none");
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  EXPECT_EQ(miss(client, request, ok_response("one")).body, "one");
  EXPECT_EQ(miss(client, request, ok_response("two")).body, "two");
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_MISS/200\n");
}

TEST_F(CachingTest, UncachableResponsesAreFetchedEachTime) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  const std::string no_store = "Cache-Control: no-store\r\n";
  EXPECT_EQ(miss(client, request, ok_response("one", no_store)).body, "one");
  EXPECT_EQ(miss(client, request, ok_response("two", no_store)).body, "two");
}

TEST_F(CachingTest, HeadIsAnsweredFromAStoredGet) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  miss(client, get_request(server_.url("/a")), ok_response("hello"));
  const auto head = hit(client, get_request(server_.url("/a"), "", "HEAD"), true);
  EXPECT_EQ(head.status(), 200);
  EXPECT_EQ(head.field("Content-Length"), "5");
  EXPECT_EQ(hit(client, get_request(server_.url("/a"))).body, "hello");
  EXPECT_TRUE(origin_is_silent());
}

TEST_F(CachingTest, HeadMissStoresNothing) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server_.url("/a"), "", "HEAD"));
  EXPECT_EQ(read_request().start_line(), "HEAD /a HTTP/1.1");
  origin_->send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nCache-Control: max-age=60\r\n\r\n");
  EXPECT_EQ(client.read_message(true).field("Content-Length"), "5");
  EXPECT_EQ(miss(client, get_request(server_.url("/a")), ok_response("hello")).body, "hello");
}

TEST_F(CachingTest, ClientsConditionsAreAnsweredFromTheStore) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  const std::string fields =
      "Cache-Control: max-age=60\r\nETag: \"v1\"\r\n"
      "Last-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
  miss(client, get_request(url), ok_response("hello", fields));
  EXPECT_EQ(hit(client, get_request(url, "If-None-Match: \"v1\"\r\n")).status(), 304);
  const auto same =
      hit(client, get_request(url, "If-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT\r\n"));
  EXPECT_EQ(same.status(), 304);
  EXPECT_EQ(same.field("ETag"), "\"v1\"");
  EXPECT_EQ(hit(client, get_request(url, "If-None-Match: \"v0\"\r\n")).body, "hello");
  EXPECT_TRUE(origin_is_silent());
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(),
            "TCP_MISS/200\nTCP_INM_HIT/304\nTCP_IMS_HIT/304\nTCP_MEM_HIT/200\n");
}

TEST_F(CachingTest, AConditionalMissFetchesTheWholeAndWarmsTheCache) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  const std::string fields =
      "Cache-Control: max-age=60\r\nLast-Modified: Sun, 31 Dec 2023 00:00:00 GMT\r\n";
  const auto conditional =
      miss(client, get_request(url, "If-Modified-Since: Sun, 31 Dec 2023 00:00:00 GMT\r\n"),
           ok_response("hello", fields));
  EXPECT_FALSE(asked_.has_field("If-Modified-Since"));
  EXPECT_EQ(conditional.status(), 304);
  EXPECT_EQ(hit(client, get_request(url)).body, "hello");
  EXPECT_TRUE(origin_is_silent());
}

TEST_F(CachingTest, AStaleResponseIsValidated) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  const std::string fields = "Cache-Control: max-age=10\r\nETag: \"v1\"\r\n";
  miss(client, request, ok_response("hello", fields));
  proxy.clock().advance(std::chrono::seconds(20));
  const auto validated =
      miss(client, request,
           "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=30\r\n\r\n");
  EXPECT_EQ(asked_.field("If-None-Match"), "\"v1\"");
  EXPECT_EQ(validated.status(), 200);
  EXPECT_EQ(validated.body, "hello");
  proxy.clock().advance(std::chrono::seconds(20));
  EXPECT_EQ(hit(client, request).body, "hello");
  EXPECT_TRUE(origin_is_silent());
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_REFRESH_UNMODIFIED/200\nTCP_MEM_HIT/200\n");
}

TEST_F(CachingTest, AStaleResponseIsReplacedByANewOne) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  miss(client, request, ok_response("old", "Cache-Control: max-age=10\r\nETag: \"v1\"\r\n"));
  proxy.clock().advance(std::chrono::seconds(20));
  EXPECT_EQ(
      miss(client, request, ok_response("new!", "Cache-Control: max-age=10\r\nETag: \"v2\"\r\n"))
          .body,
      "new!");
  EXPECT_EQ(hit(client, request).body, "new!");
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_REFRESH_MODIFIED/200\nTCP_MEM_HIT/200\n");
}

TEST_F(CachingTest, AnAnswerAboutAnotherVersionIsNotBelieved) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  miss(client, request, ok_response("old", "Cache-Control: max-age=10\r\nETag: \"v1\"\r\n"));
  proxy.clock().advance(std::chrono::seconds(20));
  client.send(request);
  read_request();
  origin_->send("HTTP/1.1 304 Not Modified\r\nETag: \"other\"\r\n\r\n");
  const auto again = read_request();
  EXPECT_FALSE(again.has_field("If-None-Match"));
  origin_->send(ok_response("new!"));
  EXPECT_EQ(client.read_message().body, "new!");
}

TEST_F(CachingTest, AReloadGoesToTheOriginAndReplacesTheStored) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  miss(client, get_request(url), ok_response("old"));
  EXPECT_EQ(miss(client, get_request(url, "Cache-Control: no-cache\r\n"), ok_response("new!")).body,
            "new!");
  EXPECT_EQ(hit(client, get_request(url)).body, "new!");
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_CLIENT_REFRESH_MISS/200\nTCP_MEM_HIT/200\n");
}

TEST_F(CachingTest, VariantsAreKeptApart) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  const std::string fields = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n";
  const std::string german = get_request(url, "Accept-Language: de\r\n");
  const std::string english = get_request(url, "Accept-Language: en\r\n");
  EXPECT_EQ(miss(client, german, ok_response("hallo", fields)).body, "hallo");
  EXPECT_EQ(miss(client, english, ok_response("hello", fields)).body, "hello");
  EXPECT_EQ(hit(client, german).body, "hallo");
  EXPECT_EQ(hit(client, english).body, "hello");
  EXPECT_TRUE(origin_is_silent());
  EXPECT_EQ(miss(client, get_request(url), ok_response("?", fields)).body, "?");
}

TEST_F(CachingTest, AnUnsafeRequestInvalidatesAllVariants) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  const std::string fields = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n";
  const std::string german = get_request(url, "Accept-Language: de\r\n");
  const std::string english = get_request(url, "Accept-Language: en\r\n");
  miss(client, german, ok_response("hallo", fields));
  miss(client, english, ok_response("hello", fields));
  EXPECT_EQ(miss(client, get_request(url, "Content-Length: 0\r\n", "POST"),
                 "HTTP/1.1 204 No Content\r\n\r\n")
                .status(),
            204);
  EXPECT_EQ(miss(client, german, ok_response("neu", fields)).body, "neu");
  EXPECT_EQ(miss(client, english, ok_response("new", fields)).body, "new");
}

TEST_F(CachingTest, RangesComeFromTheStoredWhole) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  miss(client, get_request(url),
       ok_response("0123456789", "Cache-Control: max-age=60\r\nETag: \"v1\"\r\n"));
  const auto part = hit(client, get_request(url, "Range: bytes=2-4\r\n"));
  EXPECT_EQ(part.status(), 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.field("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(hit(client, get_request(url, "Range: bytes=-3\r\n")).body, "789");
  EXPECT_EQ(hit(client, get_request(url, "Range: bytes=10-\r\n")).status(), 416);
  const auto changed = hit(client, get_request(url, "Range: bytes=2-4\r\nIf-Range: \"v0\"\r\n"));
  EXPECT_EQ(changed.status(), 200);
  EXPECT_EQ(changed.body, "0123456789");
  EXPECT_TRUE(origin_is_silent());
}

TEST_F(CachingTest, ARangeMissIsPassedOnAndNotStored) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string url = server_.url("/a");
  const auto part = miss(client, get_request(url, "Range: bytes=2-4\r\n"),
                         "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\n"
                         "Content-Range: bytes 2-4/10\r\nCache-Control: max-age=60\r\n\r\n234");
  EXPECT_EQ(asked_.field("Range"), "bytes=2-4");
  EXPECT_EQ(part.status(), 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(miss(client, get_request(url), ok_response("0123456789")).body, "0123456789");
}

TEST_F(CachingTest, OnlyIfCachedNeverReachesTheOrigin) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const auto answer =
      hit(client, get_request(server_.url("/a"), "Cache-Control: only-if-cached\r\n"));
  EXPECT_EQ(answer.status(), 504);
  EXPECT_TRUE(origin_is_silent());
}

TEST_F(CachingTest, AFailingOriginIsCoveredByAStaleResponse) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request = get_request(server_.url("/a"));
  miss(client, request,
       ok_response("hello", "Cache-Control: max-age=10, stale-if-error=100\r\nETag: \"v1\"\r\n"));
  proxy.clock().advance(std::chrono::seconds(20));
  const auto stale =
      miss(client, request, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(stale.status(), 200);
  EXPECT_EQ(stale.body, "hello");
  proxy.clock().advance(std::chrono::seconds(200));
  EXPECT_EQ(miss(client, request, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
                .status(),
            503);
}

TEST_F(CachingTest, TheSamePathOfAnotherHostIsAnotherObject) {
  ProxyUnderTest proxy([&](proxy::Config& config) {
    config.origin = storage::HostPort{"127.0.0.1", server_.port()};
  });
  Peer client = proxy.connect();
  EXPECT_EQ(miss(client, "GET /a HTTP/1.1\r\nHost: one.example\r\n\r\n", ok_response("one")).body,
            "one");
  EXPECT_EQ(miss(client, "GET /a HTTP/1.1\r\nHost: two.example\r\n\r\n", ok_response("two")).body,
            "two");
  EXPECT_EQ(hit(client, "GET /a HTTP/1.1\r\nHost: one.example\r\n\r\n").body, "one");
  client.close();
  proxy.stop();
  EXPECT_NE(proxy.access_log().find("FIRSTUP_PARENT/127.0.0.1"), std::string::npos);
}

}  // namespace
