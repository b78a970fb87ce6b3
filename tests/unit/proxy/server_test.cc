// The server as a whole: its end, its administrator's port, its limits.
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

TEST(ServerTest, StopFinishesWhatIsUnderWay) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer idle = proxy.connect();
  Peer busy = proxy.connect();
  busy.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  proxy.begin_stop();
  EXPECT_EQ(idle.wait_for_end(), Ending::kClosed);
  origin.send(ok_response("hello"));
  const auto answer = busy.read_message();
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.field("Connection"), "close");
  EXPECT_EQ(busy.wait_for_end(), Ending::kClosed);
  EXPECT_EQ(proxy.stop(false), "");
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\n");
}

TEST(ServerTest, StopBreaksOffWhatDoesNotFinish) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  proxy.begin_stop();
  while (!client.has_input(2)) proxy.clock().advance(std::chrono::seconds(11));
  EXPECT_NE(client.wait_for_end(), Ending::kStillOpen);
  EXPECT_NE(origin.wait_for_end(), Ending::kStillOpen);
  EXPECT_EQ(proxy.stop(false), "");
}

TEST(ServerTest, StopFinishesAFetchForTheStore) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  const std::string whole = ok_response(std::string(100'000, 'x'));
  origin.send(whole.substr(0, 50'000));
  client.read_head();
  client.reset();
  proxy.begin_stop();
  EXPECT_TRUE(origin.send(whole.substr(50'000)));
  EXPECT_EQ(proxy.stop(false), "");
}

TEST(ServerTest, MetricsAndStatusAreServed) {
  ProxyUnderTest proxy;
  Peer metrics = Peer::connect(proxy.admin_port());
  metrics.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto numbers = metrics.read_message();
  EXPECT_EQ(numbers.status(), 200);
  EXPECT_NE(numbers.body.find("\ncacheoff_proxy_connections_open 0\n"), std::string::npos);
  EXPECT_NE(numbers.body.find("cacheoff_proxy_requests_total{tag=\"TCP_HIT\"} 0\n"),
            std::string::npos);
  EXPECT_NE(numbers.body.find("cacheoff_storage_"), std::string::npos);
  EXPECT_NE(numbers.body.find("{scheme=\"memory\""), std::string::npos);
  Peer status = Peer::connect(proxy.admin_port());
  status.send("GET /status HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto text = status.read_message();
  EXPECT_EQ(text.field("Content-Type"), "application/json");
  for (const char* key :
       {"version", "uptime_s", "scheme", "warnings", "recovery", "objects", "bytes"}) {
    EXPECT_NE(text.body.find('"' + std::string(key) + "\":"), std::string::npos) << key;
  }
  Peer nothing = Peer::connect(proxy.admin_port());
  nothing.send("GET /secret HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(nothing.read_message().status(), 404);
}

TEST(ServerTest, ClientsBeyondTheLimitWaitForTheirTurn) {
  FakeOrigin server;
  ProxyUnderTest proxy([](proxy::Config& config) { config.limits.connections_max = 1; });
  Peer first = proxy.connect();
  first.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  Peer second = proxy.connect();
  second.send(get_request(server.url("/a")));
  origin.send(ok_response("hello"));
  EXPECT_EQ(first.read_message().body, "hello");
  EXPECT_EQ(proxy.counters().connections_open, 1U);
  EXPECT_FALSE(second.has_input());
  first.close();
  EXPECT_EQ(second.read_message().body, "hello");
}

TEST(ServerTest, FetchesBeyondTheLimitAreRefused) {
  FakeOrigin server;
  ProxyUnderTest proxy([](proxy::Config& config) { config.limits.fills_max = 1; });
  Peer first = proxy.connect();
  first.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  Peer second = proxy.connect();
  second.send(get_request(server.url("/b")));
  EXPECT_EQ(second.read_message().status(), 503);
  origin.read_message();
  origin.send(ok_response("hello"));
  EXPECT_EQ(first.read_message().body, "hello");
}

TEST(ServerTest, ConnectionsToAnOriginAreBounded) {
  FakeOrigin server;
  ProxyUnderTest proxy([](proxy::Config& config) { config.limits.origin_connections_max = 1; });
  Peer first = proxy.connect();
  first.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  Peer second = proxy.connect();
  second.send(get_request(server.url("/b")));
  proxy.wait_for_requests(2);
  EXPECT_FALSE(server.has_connection());
  origin.send(ok_response("one"));
  EXPECT_EQ(first.read_message().body, "one");
  EXPECT_EQ(origin.read_message().start_line(), "GET /b HTTP/1.1");
  origin.send(ok_response("two"));
  EXPECT_EQ(second.read_message().body, "two");
}

}  // namespace
