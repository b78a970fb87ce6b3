// Requests on their way through: bodies, versions, pipelining, tunnels, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/support/proxy_under_test.h"

namespace {

using testing_support::Ending;
using testing_support::FakeOrigin;
using testing_support::get_request;
using testing_support::ok_response;
using testing_support::Peer;
using testing_support::ProxyUnderTest;

TEST(RequestsTest, PipelinedRequestsAreAnsweredInOrder) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/1")) + get_request(server.url("/2")) + "\r\n" +
              get_request(server.url("/1")));
  Peer origin = server.accept();
  for (const char* path : {"/1", "/2"}) {
    const auto request = origin.read_message();
    EXPECT_EQ(request.start_line(), std::string("GET ") + path + " HTTP/1.1");
    origin.send(ok_response(path));
  }
  EXPECT_EQ(client.read_message().body, "/1");
  EXPECT_EQ(client.read_message().body, "/2");
  EXPECT_EQ(client.read_message().body, "/1");
}

TEST(RequestsTest, AnOldClientGetsTheBodyUntilTheConnectionEnds) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("GET " + server.url("/a") + " HTTP/1.0\r\n\r\n");
  Peer origin = server.accept();
  EXPECT_EQ(origin.read_message().start_line(), "GET /a HTTP/1.1");
  origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  const auto answer = client.read_message();
  EXPECT_FALSE(answer.has_field("Transfer-Encoding"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(client.wait_for_end(), Ending::kClosed);
}

TEST(RequestsTest, AnOldClientSeesAResetWhereTheBodyIsCutOff) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("GET " + server.url("/a") + " HTTP/1.0\r\n\r\n");
  Peer origin = server.accept();
  origin.read_message();
  origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
  client.read_head();
  EXPECT_EQ(client.read_bytes(5), "hello");
  origin.close();
  EXPECT_EQ(client.wait_for_end(), Ending::kReset);
}

TEST(RequestsTest, AnOldClientMayKeepItsConnection) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string request =
      "GET " + server.url("/a") + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  client.send(request);
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response("hello"));
  EXPECT_EQ(client.read_message().body, "hello");
  client.send(request);
  EXPECT_EQ(client.read_message().body, "hello");
}

TEST(RequestsTest, ConnectionsToTheOriginAreUsedAgain) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/1")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response("one"));
  EXPECT_EQ(client.read_message().body, "one");
  client.send(get_request(server.url("/2")));
  EXPECT_EQ(origin.read_message().start_line(), "GET /2 HTTP/1.1");
  origin.send(ok_response("two"));
  EXPECT_EQ(client.read_message().body, "two");
  EXPECT_FALSE(server.has_connection());
}

TEST(RequestsTest, AKeptConnectionThatDiesIsReplacedOnce) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/1")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response("one"));
  EXPECT_EQ(client.read_message().body, "one");
  client.send(get_request(server.url("/2")));
  origin.read_message();
  origin.close();
  Peer second = server.accept();
  EXPECT_EQ(second.read_message().start_line(), "GET /2 HTTP/1.1");
  second.close();
  EXPECT_EQ(client.read_message().status(), 502);
  EXPECT_FALSE(server.has_connection());
}

TEST(RequestsTest, AConnectionThatTheOriginClosedMeanwhileIsNotUsed) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/1")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response("one"));
  EXPECT_EQ(client.read_message().body, "one");
  origin.close();
  client.send(get_request(server.url("/2"), "Content-Length: 3\r\n", "POST") + "abc");
  Peer second = server.accept();
  EXPECT_EQ(second.read_message().body, "abc");
  second.send(ok_response("two"));
  EXPECT_EQ(client.read_message().body, "two");
}

TEST(RequestsTest, ARequestBodyIsPassedOn) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string body(500'000, 'u');
  client.send(get_request(server.url("/a"), "Content-Length: 500000\r\n", "PUT"));
  std::thread sending([&] { client.send(body); });
  Peer origin = server.accept();
  const auto request = origin.read_message();
  sending.join();
  EXPECT_EQ(request.field("Content-Length"), "500000");
  EXPECT_EQ(request.body, body);
  origin.send(ok_response("stored"));
  EXPECT_EQ(client.read_message().body, "stored");
}

TEST(RequestsTest, AChunkedRequestBodyIsPassedOn) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a"), "Transfer-Encoding: chunked\r\n", "POST") +
              "5\r\nhello\r\n");
  Peer origin = server.accept();
  client.send("6\r\n world\r\n0\r\n\r\n");
  const auto request = origin.read_message();
  EXPECT_EQ(request.body, "hello world");
  EXPECT_TRUE(request.whole);
  origin.send(ok_response("thanks"));
  EXPECT_EQ(client.read_message().body, "thanks");
  client.send(get_request(server.url("/b")));
  origin.read_message();
  origin.send(ok_response("next"));
  EXPECT_EQ(client.read_message().body, "next");
}

TEST(RequestsTest, AClientThatWaitsForContinueIsAskedToGoOn) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(
      get_request(server.url("/a"), "Content-Length: 3\r\nExpect: 100-continue\r\n", "POST"));
  Peer origin = server.accept();
  EXPECT_EQ(client.read_message().status(), 100);
  client.send("abc");
  EXPECT_EQ(origin.read_message().body, "abc");
  origin.send(ok_response("thanks"));
  EXPECT_EQ(client.read_message().body, "thanks");
}

TEST(RequestsTest, AnEarlyAnswerEndsAnUpload) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a"), "Content-Length: 1000000\r\n", "POST") + "abc");
  Peer origin = server.accept();
  origin.read_head();
  origin.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nno!");
  const auto answer = client.read_message();
  EXPECT_EQ(answer.status(), 413);
  EXPECT_EQ(answer.body, "no!");
  EXPECT_EQ(answer.field("Connection"), "close");
  EXPECT_NE(client.wait_for_end(), Ending::kStillOpen);
}

TEST(RequestsTest, ARequestBodyThatIsCutOffNeverLooksWhole) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a"), "Transfer-Encoding: chunked\r\n", "POST") +
              "5\r\nhello\r\n");
  Peer origin = server.accept();
  client.close();
  const auto request = origin.read_message();
  EXPECT_FALSE(request.whole);
}

TEST(RequestsTest, AMalformedRequestBodyIsRefused) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a"), "Transfer-Encoding: chunked\r\n", "POST") +
              "5\r\nhello\r\nnonsense\r\n");
  Peer origin = server.accept();
  EXPECT_FALSE(origin.read_message().whole);
  EXPECT_EQ(client.read_message().status(), 400);
}

TEST(RequestsTest, ATunnelCarriesBytesBothWays) {
  FakeOrigin server;
  ProxyUnderTest proxy([&](proxy::Config& config) { config.connect_ports.insert(server.port()); });
  Peer client = proxy.connect();
  client.send("CONNECT " + server.address() + " HTTP/1.1\r\nHost: " + server.address() +
              "\r\n\r\nahead");
  Peer origin = server.accept();
  EXPECT_EQ(client.read_head().status(), 200);
  EXPECT_EQ(origin.read_bytes(5), "ahead");
  client.send("ping");
  EXPECT_EQ(origin.read_bytes(4), "ping");
  origin.send("pong");
  EXPECT_EQ(client.read_bytes(4), "pong");
  client.half_close();
  EXPECT_EQ(origin.wait_for_end(), Ending::kClosed);
  origin.send("last words");
  origin.close();
  Ending ending = Ending::kStillOpen;
  EXPECT_EQ(client.read_to_end(ending), "last words");
  EXPECT_EQ(ending, Ending::kClosed);
  proxy.wait_until([](const auto& counts) { return counts.connections_open == 0; });
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_TUNNEL/200\n");
}

TEST(RequestsTest, TunnelsOnlyReachTheAllowedPorts) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("CONNECT " + server.address() + " HTTP/1.1\r\nHost: " + server.address() +
              "\r\n\r\n");
  EXPECT_EQ(client.read_message().status(), 403);
  EXPECT_FALSE(server.has_connection());
}

TEST(RequestsTest, AForwardProxyRefusesOriginForm) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n");
  EXPECT_EQ(client.read_message().status(), 400);
}

TEST(RequestsTest, ARequestThatComesBackIsALoop) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  const std::string self = "http://127.0.0.1:" + std::to_string(proxy.port()) + "/a";
  client.send(get_request(self));
  EXPECT_EQ(client.read_message().status(), 508);
  client.send(get_request("http://a.example/", "Via: 1.1 proxy-under-test\r\n"));
  EXPECT_EQ(client.read_message().status(), 508);
}

TEST(RequestsTest, ALastChunkMayComeByteByByte) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("POST " + server.url("/a") + " HTTP/1.1\r\nHost: " + server.address() +
              "\r\nTransfer-Encoding: chunked\r\n\r\n");
  Peer origin = server.accept();
  const std::string last_chunk = "0\r\n\r\n";
  const auto trickle = [](Peer& to, std::string_view bytes) {
    for (const char byte : bytes) {
      to.send(std::string(1, byte));
      // Each byte has to be looked at by itself.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  trickle(client, last_chunk);
  EXPECT_EQ(origin.read_message().body, "");
  origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  trickle(origin, last_chunk);
  const auto answer = client.read_message();
  EXPECT_EQ(answer.status(), 200);
  EXPECT_EQ(answer.body, "");
}

/// Heads that two recipients could understand differently.
class SmugglingTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SmugglingTest, IsRefusedAndReachesNobody) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("POST " + server.url("/a") + " HTTP/1.1\r\nHost: " + server.address() + "\r\n" +
              GetParam() + "\r\n0\r\n\r\n" + get_request(server.url("/smuggled")));
  const int status = client.read_message().status();
  EXPECT_TRUE(status == 400 || status == 501) << status;
  EXPECT_NE(client.wait_for_end(), Ending::kStillOpen);
  EXPECT_FALSE(server.has_connection());
  // It lingers for what the client may still send, so that the answer is not lost to a reset.
  client.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "NONE_NONE/" + std::to_string(status) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Heads, SmugglingTest,
                         ::testing::Values("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                                           "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                                           "Content-Length: 5\r\nContent-Length: 6\r\n",
                                           "Content-Length: +5\r\n", "Content-Length: 5,6\r\n",
                                           "Transfer-Encoding: xchunked\r\n",
                                           "Transfer-Encoding: chunked, identity\r\n",
                                           "Transfer-Encoding : chunked\r\n",
                                           "Host: other.example\r\n"));

TEST(RequestsTest, AHeadThatNeverEndsIsGivenUp) {
  ProxyUnderTest proxy;
  Peer slow = proxy.connect();
  slow.send("GET http://a.example/ HTTP/1.1\r\n");
  // A field now and then does not prolong the deadline of the whole head.
  bool ended = false;
  for (int field = 0; !ended; ++field) {
    ASSERT_LT(field, 10'000);
    slow.send("X-" + std::to_string(field) + ": x\r\n");
    proxy.clock().advance(std::chrono::milliseconds(500));
    ended = slow.has_input(2);
  }
  EXPECT_EQ(slow.read_message().status(), 408);
}

TEST(RequestsTest, AHeadThatIsTooLargeIsRefused) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX: " +
              std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(client.read_message().status(), 431);
}

TEST(RequestsTest, AResponseHeadThatIsTooLargeIsABadGateway) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(client.read_message().status(), 502);
}

TEST(RequestsTest, AnIdleClientIsClosedWithoutAWord) {
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  proxy.wait_until([](const auto& counts) { return counts.connections_open == 1; });
  while (!client.has_input(2)) proxy.clock().advance(std::chrono::seconds(31));
  Ending ending = Ending::kStillOpen;
  EXPECT_EQ(client.read_to_end(ending), "");
  EXPECT_EQ(ending, Ending::kClosed);
}

}  // namespace
