// A failing store never fails a client's request.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/proxy_under_test.h"

namespace {

using testing_support::FakeOrigin;
using testing_support::FaultyScheme;
using testing_support::get_request;
using testing_support::ok_response;
using testing_support::Peer;
using testing_support::ProxyUnderTest;

/// One operation of the store that fails.
struct Fault {
  const char* name;
  std::atomic<bool> FaultyScheme::*flag;
};

class StoreFailureTest : public ::testing::TestWithParam<Fault> {};

TEST_P(StoreFailureTest, RequestsAreServedFromTheOrigin) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  (proxy.store().*GetParam().flag).store(true);
  const std::string body(300'000, 'b');
  Peer client = proxy.connect();
  Peer origin(-1);
  for (int round = 0; round < 3; ++round) {
    client.send(get_request(server.url("/a")));
    if (round == 0) origin = server.accept();
    origin.read_message();
    origin.send(ok_response(body));
    const auto answer = client.read_message();
    EXPECT_EQ(answer.status(), 200);
    EXPECT_EQ(answer.body, body);
    proxy.wait_until([&](const auto& counts) {
      return counts.fills_stored + counts.stores_declined >= static_cast<uint64_t>(round) + 1;
    });
  }
  // It comes back.
  (proxy.store().*GetParam().flag).store(false);
  client.send(get_request(server.url("/b")));
  origin.read_message();
  origin.send(ok_response(body));
  EXPECT_EQ(client.read_message().body, body);
  client.send(get_request(server.url("/b")));
  EXPECT_EQ(client.read_message().body, body);
  EXPECT_FALSE(origin.has_input());
}

INSTANTIATE_TEST_SUITE_P(Operation, StoreFailureTest,
                         ::testing::Values(Fault{"open", &FaultyScheme::fail_open},
                                           Fault{"create", &FaultyScheme::fail_create},
                                           Fault{"reserve", &FaultyScheme::fail_reserve},
                                           Fault{"append", &FaultyScheme::fail_append},
                                           Fault{"commit", &FaultyScheme::fail_commit},
                                           Fault{"read", &FaultyScheme::fail_read}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(StoreFailureTest, AFailureInMidBodyIsSeenByNobody) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string body(4'000'000, 'b');
  const std::string whole = ok_response(body);
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(whole.substr(0, 100'000));
  client.read_head();
  EXPECT_EQ(client.read_bytes(50'000), body.substr(0, 50'000));
  proxy.store().fail_append = true;
  proxy.store().fail_reserve = true;
  std::thread sending([&] { origin.send(whole.substr(100'000)); });
  EXPECT_EQ(client.read_bytes(body.size() - 50'000).size(), body.size() - 50'000);
  sending.join();
  EXPECT_EQ(proxy.counters().fills_stored, 0U);
}

TEST(StoreFailureTest, AFailedUpdateStillAnswersWithTheValidatedBody) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  Peer client = proxy.connect();
  client.send(request);
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response("hello", "Cache-Control: max-age=10\r\nETag: \"v1\"\r\n"));
  EXPECT_EQ(client.read_message().body, "hello");
  proxy.store().fail_update = true;
  proxy.clock().advance(std::chrono::seconds(20));
  client.send(request);
  origin.read_message();
  origin.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n");
  EXPECT_EQ(client.read_message().body, "hello");
}

TEST(StoreFailureTest, AFailedRemovalDoesNotFailTheRequest) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  proxy.store().fail_remove = true;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a"), "Content-Length: 0\r\n", "PUT"));
  Peer origin = server.accept();
  origin.read_message();
  origin.send("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(client.read_message().status(), 204);
  EXPECT_EQ(proxy.counters().store_failures, 1U);
}

TEST(StoreFailureTest, AnObjectThatTheStoreCannotHoldIsPassedOn) {
  FakeOrigin server;
  ProxyUnderTest proxy({}, "scheme=memory,size=1M");
  const std::string body(5'000'000, 'b');
  Peer client = proxy.connect();
  Peer origin(-1);
  for (int round = 0; round < 2; ++round) {
    client.send(get_request(server.url("/a")));
    if (round == 0) origin = server.accept();
    origin.read_message();
    std::thread sending([&] { origin.send(ok_response(body)); });
    EXPECT_EQ(client.read_message().body, body);
    sending.join();
  }
  EXPECT_EQ(proxy.counters().fills_stored, 0U);
}

}  // namespace
