// One fetch and its readers: shared, outlived, overtaken, broken off.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/proxy_under_test.h"

namespace {

using testing_support::Ending;
using testing_support::FakeOrigin;
using testing_support::get_request;
using testing_support::ok_response;
using testing_support::Peer;
using testing_support::ProxyUnderTest;

constexpr size_t kLargeBytes = 8 * 1024 * 1024;

/// A body in which every place is different, so that mixed-up parts show.
std::string large_body(size_t size_bytes, char kind = 'a') {
  std::string body;
  body.reserve(size_bytes + 16);
  for (uint64_t at = 0; body.size() < size_bytes; ++at) body += kind + std::to_string(at) + ";";
  body.resize(size_bytes);
  return body;
}

std::string head_for(size_t size_bytes) {
  return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: " +
         std::to_string(size_bytes) + "\r\n\r\n";
}

TEST(FillTest, JoinersGetTheSameBodyFromOneRequest) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  const std::string body = large_body(1'000'000);
  std::vector<Peer> clients;
  clients.push_back(proxy.connect());
  clients.back().send(request);
  Peer origin = server.accept();
  origin.read_message();
  for (int more = 0; more < 9; ++more) {
    clients.push_back(proxy.connect());
    clients.back().send(request);
  }
  proxy.wait_until([](const auto& counts) { return counts.fills_joined == 9; });
  std::thread sending([&] { origin.send(head_for(body.size()) + body); });
  for (Peer& client : clients) {
    const auto answer = client.read_message();
    EXPECT_EQ(answer.status(), 200);
    EXPECT_TRUE(answer.whole);
    EXPECT_EQ(answer.body, body);
  }
  sending.join();
  EXPECT_FALSE(server.has_connection());
  EXPECT_EQ(proxy.counters().fills_started, 1U);
  clients.clear();
  proxy.stop();
  const std::string tags = proxy.logged_tags();
  EXPECT_NE(tags.find("TCP_MISS/200"), std::string::npos);
  EXPECT_EQ(tags.find("TCP_MISS/200"), tags.rfind("TCP_MISS/200"));
  EXPECT_NE(tags.find("TCP_CF_HIT/200"), std::string::npos);
}

TEST(FillTest, AJoinerInMidBodyGetsItWhole) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  const std::string body = large_body(600'000);
  Peer first = proxy.connect();
  first.send(request);
  Peer origin = server.accept();
  origin.read_message();
  origin.send(head_for(body.size()) + body.substr(0, 500'000));
  first.read_head();
  EXPECT_EQ(first.read_bytes(500'000), body.substr(0, 500'000));
  Peer second = proxy.connect();
  second.send(request);
  proxy.wait_until([](const auto& counts) { return counts.fills_joined == 1; });
  origin.send(body.substr(500'000));
  EXPECT_EQ(second.read_message().body, body);
  EXPECT_EQ(first.read_bytes(100'000), body.substr(500'000));
}

TEST(FillTest, AVanishedFirstClientDoesNotHurtTheOthers) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  const std::string body = large_body(kLargeBytes);
  Peer first = proxy.connect();
  first.send(request);
  Peer origin = server.accept();
  origin.read_message();
  Peer second = proxy.connect();
  second.send(request);
  proxy.wait_until([](const auto& counts) { return counts.fills_joined == 1; });
  origin.send(head_for(body.size()) + body.substr(0, 1000));
  first.read_head();
  first.reset();
  std::thread sending([&] { origin.send(body.substr(1000)); });
  EXPECT_EQ(second.read_message().body, body);
  sending.join();
  second.send(request);
  EXPECT_EQ(second.read_message().body, body);
  EXPECT_FALSE(server.has_connection());
}

TEST(FillTest, AFetchThatLostItsOnlyClientIsFinishedForTheStore) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  const std::string body = large_body(kLargeBytes);
  Peer first = proxy.connect();
  first.send(request);
  Peer origin = server.accept();
  origin.read_message();
  origin.send(head_for(body.size()) + body.substr(0, 1'000'000));
  first.read_head();
  first.reset();
  // A client's end is noticed at the next write to it.
  EXPECT_TRUE(origin.send(body.substr(1'000'000, 1'000'000)));
  proxy.wait_until([](const auto& counts) { return counts.connections_open == 0; });
  EXPECT_TRUE(origin.send(body.substr(2'000'000)));
  proxy.wait_until([](const auto& counts) { return counts.fills_stored == 1; });
  Peer second = proxy.connect();
  second.send(request);
  EXPECT_EQ(second.read_message().body, body);
  second.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS_ABORTED/200\nTCP_MEM_HIT/200\n");
}

TEST(FillTest, AFetchWithTooMuchLeftIsAbandonedWithItsLastClient) {
  FakeOrigin server;
  ProxyUnderTest proxy([](proxy::Config& config) { config.limits.fill_unread_bytes_max = 1000; });
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(head_for(kLargeBytes) + large_body(1'000'000));
  client.read_head();
  client.reset();
  origin.send("more");
  proxy.wait_until([](const auto& counts) { return counts.fills_abandoned == 1; });
  EXPECT_NE(origin.wait_for_end(), Ending::kStillOpen);
  EXPECT_EQ(proxy.counters().fills_stored, 0U);
}

TEST(FillTest, ASlowClientSlowsNobody) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  const std::string body = large_body(kLargeBytes + kLargeBytes / 2);
  Peer slow = proxy.connect(4096);
  slow.send(request);
  Peer origin = server.accept();
  origin.read_message();
  // The origin can send everything although the only client has read nothing.
  EXPECT_TRUE(origin.send(head_for(body.size()) + body));
  proxy.wait_until([](const auto& counts) { return counts.fills_stored == 1; });
  Peer fast = proxy.connect();
  fast.send(request);
  EXPECT_EQ(fast.read_message().body, body);
  // The slow one fell out of the window and goes on from the store.
  const auto answer = slow.read_message();
  EXPECT_TRUE(answer.whole);
  EXPECT_EQ(answer.body, body);
  EXPECT_FALSE(server.has_connection());
}

TEST(FillTest, WithoutAStoreTheFetchKeepsPaceWithItsClient) {
  FakeOrigin server;
  ProxyUnderTest proxy({}, "scheme=none");
  const std::string body = large_body(3 * kLargeBytes);
  Peer slow = proxy.connect(4096);
  slow.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  std::thread sending([&] { origin.send(head_for(body.size()) + body); });
  proxy.wait_until([](const auto& counts) { return counts.fill_bytes > 256 * 1024; });
  EXPECT_LT(proxy.counters().fill_bytes, body.size());
  EXPECT_EQ(slow.read_message().body, body);
  sending.join();
}

TEST(FillTest, AClientThatTakesNothingIsGivenUp) {
  FakeOrigin server;
  ProxyUnderTest proxy({}, "scheme=none");
  Peer stuck = proxy.connect(4096);
  stuck.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  std::thread sending(
      [&] { origin.send(head_for(kLargeBytes * 8) + large_body(kLargeBytes * 8)); });
  proxy.wait_until([](const auto& counts) { return counts.fill_bytes > 256 * 1024; });
  // Nothing more is taken from the origin then; before, its own deadline would pass first.
  for (uint64_t before = 0, now = proxy.counters().fill_bytes; before != now;
       now = proxy.counters().fill_bytes) {
    before = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  // Until its deadline has been set, moving the clock would not pass it.
  while (proxy.counters().connections_open > 0) {
    proxy.clock().advance(std::chrono::seconds(61));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  proxy.wait_until([](const auto& counts) { return counts.fills_abandoned == 1; });
  sending.join();
}

/// How an origin can break off a response of which 40 of 100 bytes were sent.
struct BrokenOff {
  const char* name;
  std::string head;
  std::string sent;
  bool reset;
  bool may_be_refused = false;
};

class TruncatedTest : public ::testing::TestWithParam<BrokenOff> {};

TEST_P(TruncatedTest, IsNeverStoredNorEndedCleanly) {
  const BrokenOff& how = GetParam();
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  Peer client = proxy.connect();
  client.send(request);
  int status = 0;
  {
    Peer origin = server.accept();
    origin.read_message();
    origin.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + how.head + "\r\n" + how.sent);
    const auto head = client.read_head();
    // What is broken before anything went out can still be told in order.
    status = head.status();
    EXPECT_TRUE(status == 200 || (how.may_be_refused && status == 502)) << status;
    if (how.reset) {
      client.read_bytes(40);
      origin.reset();
    }
  }
  if (status == 200) {
    Ending ending = Ending::kStillOpen;
    const std::string got = client.read_to_end(ending);
    EXPECT_EQ(got.find("\r\n0\r\n"), std::string::npos) << "the body was ended as if it were whole";
    EXPECT_LT(got.size(), 100U);
  }
  proxy.wait_until([](const auto& counts) { return counts.fills_failed == 1; });
  EXPECT_EQ(proxy.counters().fills_stored, 0U);

  Peer again = proxy.connect();
  again.send(request);
  Peer origin = server.accept();
  origin.read_message();
  origin.send(ok_response(std::string(100, 'y')));
  EXPECT_EQ(again.read_message().body, std::string(100, 'y'));
  client.close();
  again.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), status == 200 ? "TCP_MISS_ABORTED/200\nTCP_MISS/200\n"
                                               : "TCP_MISS/502\nTCP_MISS/200\n");
}

INSTANTIATE_TEST_SUITE_P(
    Origin, TruncatedTest,
    ::testing::Values(
        BrokenOff{"length_closed", "Content-Length: 100\r\n", std::string(40, 'x'), false},
        BrokenOff{"length_reset", "Content-Length: 100\r\n", std::string(40, 'x'), true},
        BrokenOff{"chunked_between_chunks", "Transfer-Encoding: chunked\r\n",
                  "28\r\n" + std::string(40, 'x') + "\r\n", false},
        BrokenOff{"chunked_in_a_chunk", "Transfer-Encoding: chunked\r\n",
                  "64\r\n" + std::string(40, 'x'), false},
        BrokenOff{"chunked_last_chunk_cut", "Transfer-Encoding: chunked\r\n",
                  "28\r\n" + std::string(40, 'x') + "\r\n0\r\n", false},
        BrokenOff{"chunked_garbage", "Transfer-Encoding: chunked\r\n",
                  "28\r\n" + std::string(40, 'x') + "\r\nxyz\r\n", false, true},
        BrokenOff{"chunked_reset", "Transfer-Encoding: chunked\r\n",
                  "64\r\n" + std::string(40, 'x'), true}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(FillTest, AStalledOriginIsAFailure) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(head_for(100) + "0123456789");
  client.read_head();
  EXPECT_EQ(client.read_bytes(10), "0123456789");
  while (proxy.counters().fills_failed == 0) {
    proxy.clock().advance(std::chrono::seconds(61));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_NE(client.wait_for_end(), Ending::kStillOpen);
}

TEST(FillTest, AnOriginThatNeverAnswersIsAGatewayTimeout) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  while (proxy.counters().fills_failed == 0) {
    proxy.clock().advance(std::chrono::seconds(61));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(client.read_message().status(), 504);
}

TEST(FillTest, AnOriginThatClosesWithoutAnAnswerIsABadGateway) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  server.accept().read_message();
  EXPECT_EQ(client.read_message().status(), 502);
  client.send(get_request("http://127.0.0.1:1/nobody"));
  EXPECT_EQ(client.read_message().status(), 502);
}

TEST(FillTest, AnUnprovedEndIsPassedOnButNotStored) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  for (const char* body : {"one", "two"}) {
    client.send(get_request(server.url("/a")));
    Peer origin = server.accept();
    origin.read_message();
    origin.send(std::string("HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\n\r\n") + body);
    origin.close();
    const auto answer = client.read_message();
    EXPECT_TRUE(answer.whole);
    EXPECT_EQ(answer.body, body);
  }
}

TEST(FillTest, ChunkedBodiesAreStoredWithTheirLength) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer client = proxy.connect();
  client.send(get_request(server.url("/a")));
  Peer origin = server.accept();
  origin.read_message();
  origin.send(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: max-age=60\r\n\r\n"
      "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(client.read_message().body, "hello world");
  proxy.wait_until([](const auto& counts) { return counts.fills_stored == 1; });
  client.send(get_request(server.url("/a")));
  const auto stored = client.read_message();
  EXPECT_EQ(stored.body, "hello world");
  EXPECT_EQ(stored.field("Content-Length"), "11");
}

TEST(FillTest, JoinersOfAnUncachableResponseFetchForThemselves) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string request = get_request(server.url("/a"));
  Peer first = proxy.connect();
  first.send(request);
  Peer origin = server.accept();
  origin.read_message();
  Peer second = proxy.connect();
  second.send(request);
  proxy.wait_until([](const auto& counts) { return counts.fills_joined == 1; });
  origin.send(ok_response("mine", "Cache-Control: private\r\n"));
  EXPECT_EQ(first.read_message().body, "mine");
  origin.read_message();
  origin.send(ok_response("yours", "Cache-Control: private\r\n"));
  EXPECT_EQ(second.read_message().body, "yours");
  first.close();
  second.close();
  proxy.stop();
  EXPECT_EQ(proxy.logged_tags(), "TCP_MISS/200\nTCP_MISS/200\n");
}

TEST(FillTest, JoinersOfAnotherVariantFetchForThemselves) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  const std::string fields = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n";
  Peer first = proxy.connect();
  first.send(get_request(server.url("/a"), "Accept-Language: de\r\n"));
  Peer origin = server.accept();
  origin.read_message();
  Peer second = proxy.connect();
  second.send(get_request(server.url("/a"), "Accept-Language: en\r\n"));
  Peer third = proxy.connect();
  third.send(get_request(server.url("/a"), "Accept-Language: de\r\n"));
  proxy.wait_until([](const auto& counts) { return counts.fills_joined == 2; });
  origin.send(ok_response("hallo", fields));
  EXPECT_EQ(first.read_message().body, "hallo");
  EXPECT_EQ(third.read_message().body, "hallo");
  origin.read_message();
  origin.send(ok_response("hello", fields));
  EXPECT_EQ(second.read_message().body, "hello");
}

TEST(FillTest, AnInvalidatedFetchIsNotStored) {
  FakeOrigin server;
  ProxyUnderTest proxy;
  Peer reader = proxy.connect();
  reader.send(get_request(server.url("/a")));
  Peer slow_answer = server.accept();
  slow_answer.read_message();
  Peer writer = proxy.connect();
  writer.send(get_request(server.url("/a"), "Content-Length: 0\r\n", "DELETE"));
  Peer quick_answer = server.accept();
  quick_answer.read_message();
  quick_answer.send("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(writer.read_message().status(), 204);
  slow_answer.send(ok_response("before the change"));
  EXPECT_EQ(reader.read_message().body, "before the change");
  writer.send(get_request(server.url("/a")));
  Peer& next = slow_answer.has_input(1000) ? slow_answer : quick_answer;
  next.read_message();
  next.send(ok_response("after the change"));
  EXPECT_EQ(writer.read_message().body, "after the change");
}

}  // namespace
