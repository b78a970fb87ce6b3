#include "workload/origin/origin_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"
#include "workload/model/object.h"

namespace workload {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

/// A peer that blocks. Every wait ends after a minute at the latest, as an error.
class Peer {
 public:
  explicit Peer(const OriginServer& server) : socket_(io_) {
    const auto address = server.address();
    socket_.connect({asio::ip::make_address(address.host), address.port});
    const timeval limit{60, 0};
    setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }

  void send(const std::string& text) { asio::write(socket_, asio::buffer(text)); }

  /// The next response's head, blank line included; empty where the peer closed instead.
  std::string head() {
    boost::system::error_code error;
    const size_t length = asio::read_until(socket_, buffer_, "\r\n\r\n", error);
    if (error) return {};
    return take(length);
  }

  /// Exactly `length` bytes of body, or fewer where the connection ended first.
  std::string body(size_t length) {
    boost::system::error_code error;
    while (buffer_.size() < length && !error) {
      buffer_.commit(socket_.read_some(buffer_.prepare(65536), error));
    }
    return take(std::min(length, buffer_.size()));
  }

  /// Everything up to the end of the connection; says whether that was orderly.
  std::string rest(bool* orderly = nullptr) {
    boost::system::error_code error;
    while (!error) buffer_.commit(socket_.read_some(buffer_.prepare(65536), error));
    if (orderly != nullptr) *orderly = error == asio::error::eof;
    return take(buffer_.size());
  }

  Tcp::socket& socket() { return socket_; }

 private:
  std::string take(size_t length) {
    const auto begin = asio::buffers_begin(buffer_.data());
    std::string text(begin, begin + static_cast<ptrdiff_t>(length));
    buffer_.consume(length);
    return text;
  }

  asio::io_context io_;
  Tcp::socket socket_;
  asio::streambuf buffer_;
};

/// A server on a free port of the loopback interface.
class OriginServerTest : public testing::Test {
 protected:
  OriginServer& start(OriginOptions options = {}) {
    server_ = std::make_unique<OriginServer>(std::move(options), clock_);
    EXPECT_TRUE(server_->start().has_value());
    return *server_;
  }

  testing_support::FakeClock clock_;
  std::unique_ptr<OriginServer> server_;
};

ObjectSpec sample_object(uint64_t size_bytes = 10000) {
  return {7, 9, ContentType::kHtml, size_bytes, true, 1700000000, 86400};
}

std::string get(const std::string& path, const std::string& fields = {}) {
  return "GET " + path + " HTTP/1.1\r\nHost: origin\r\n" + fields + "\r\n";
}

bool is_object(const ObjectSpec& object, uint64_t offset, const std::string& bytes) {
  return !first_wrong_byte(object, offset, std::as_bytes(std::span(bytes))).has_value();
}

TEST_F(OriginServerTest, ServesObjectsOnOneConnection) {
  Peer peer(start());
  for (const uint64_t size : {0u, 1u, 10000u, 65536u, 70000u, 5000000u}) {
    const auto object = sample_object(size);
    peer.send(get(object_path(object), "X-Cacheoff-Transaction: 0000000000000001\r\n"));
    const auto head = peer.head();
    EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
    EXPECT_NE(head.find("X-Cacheoff-Body-For: 0000000000000001\r\n"), std::string::npos);
    const auto body = peer.body(size);
    EXPECT_EQ(body.size(), size);
    EXPECT_TRUE(is_object(object, 0, body));
  }
}

TEST_F(OriginServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Peer peer(start());
  std::string requests;
  for (uint64_t size = 1; size <= 50; ++size) requests += get(object_path(sample_object(size)));
  peer.send(requests);
  for (uint64_t size = 1; size <= 50; ++size) {
    EXPECT_NE(peer.head().find("Content-Length: " + std::to_string(size) + "\r\n"),
              std::string::npos);
    EXPECT_TRUE(is_object(sample_object(size), 0, peer.body(size)));
  }
}

TEST_F(OriginServerTest, RequestsMayArriveByteByByte) {
  Peer peer(start());
  for (const char letter : get(object_path(sample_object(5)))) peer.send(std::string(1, letter));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(peer.body(5).size(), 5u);
}

TEST_F(OriginServerTest, AbsoluteFormAndRange) {
  Peer peer(start());
  const auto object = sample_object();
  peer.send(get("http://origin:80" + object_path(object), "Range: bytes=100-199\r\n"));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 206"));
  EXPECT_TRUE(is_object(object, 100, peer.body(100)));
}

TEST_F(OriginServerTest, Http10ClosesUnlessAskedNotTo) {
  const auto object = sample_object(100);
  Peer peer(start());
  const std::string line = "GET " + object_path(object) + " HTTP/1.0\r\n";
  peer.send(line + "Connection: keep-alive\r\n\r\n");
  EXPECT_NE(peer.head().find("Connection: keep-alive\r\n"), std::string::npos);
  EXPECT_EQ(peer.body(100).size(), 100u);
  peer.send(line + "\r\n");
  EXPECT_NE(peer.head().find("Connection: close\r\n"), std::string::npos);
  bool orderly = false;
  EXPECT_EQ(peer.rest(&orderly).size(), 100u);
  EXPECT_TRUE(orderly);
}

TEST_F(OriginServerTest, ConnectionServesAsManyRequestsAsItMay) {
  OriginOptions options;
  options.requests_per_connection = Distribution::constant(3);
  Peer peer(start(options));
  for (int i = 1; i <= 3; ++i) {
    peer.send(get(object_path(sample_object(1))));
    const bool says_close = peer.head().find("Connection: close\r\n") != std::string::npos;
    EXPECT_EQ(says_close, i == 3);
    peer.body(1);
  }
  EXPECT_EQ(peer.rest(), "");
}

TEST_F(OriginServerTest, IdleConnectionsAreClosedByTheClock) {
  Peer peer(start());
  peer.send(get(object_path(sample_object(1))));
  peer.head();
  peer.body(1);
  // The next answer proves that the idle time has begun anew.
  clock_.advance(std::chrono::seconds(14));
  peer.send(get(object_path(sample_object(1))));
  peer.head();
  EXPECT_EQ(peer.body(1).size(), 1u);
  std::jthread mover([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock_.advance(std::chrono::seconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_EQ(peer.rest(), "");
}

TEST_F(OriginServerTest, AHeaderHasOneDeadlineHoweverItTrickles) {
  Peer peer(start());
  std::jthread mover([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      clock_.advance(std::chrono::seconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  boost::system::error_code error;
  asio::write(peer.socket(), asio::buffer(std::string("GET / HTTP/1.1\r\nX: ")), error);
  while (!error) {
    asio::write(peer.socket(), asio::buffer("a", 1), error);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // The server would have read 16 KiB of this before it called the header too large.
  EXPECT_EQ(server_->statistics().responses_by_status.count(431), 0u);
}

TEST_F(OriginServerTest, BodiesOfPostsAreReadAndCounted) {
  OriginOptions options;
  options.request_body_bytes_max = 100000;
  Peer peer(start(options));
  const auto object = sample_object(10);
  const std::string line = "POST " + object_path(object) + " HTTP/1.1\r\nHost: o\r\n";
  peer.send(line + "Content-Length: 70000\r\n\r\n" + std::string(70000, 'x'));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(is_object(object, 0, peer.body(10)));
  peer.send(line + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(is_object(object, 0, peer.body(10)));
  EXPECT_EQ(server_->statistics().request_body_bytes, 70005u);
  peer.send(line + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(peer.head(), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("abc");
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
  peer.body(10);
  peer.send(line + "Content-Length: 100001\r\n\r\n");
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 413"));
}

TEST_F(OriginServerTest, MalformedRequestsGet400) {
  start();
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: "
                    "2\r\n\r\nab"),
        std::string("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n")}) {
    Peer peer(*server_);
    peer.send(request);
    EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 400")) << request;
  }
  Peer peer(*server_);
  peer.send("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n");
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 431"));
}

TEST_F(OriginServerTest, StatusTellsTheCounts) {
  Peer peer(start());
  peer.send(get(object_path(sample_object(1000))));
  peer.head();
  peer.body(1000);
  peer.send(get("/nothing", "Connection: close\r\n"));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 404"));
  peer.rest();
  Peer asker(*server_);
  asker.send(get("/cacheoff/status", "Connection: close\r\n"));
  asker.head();
  const auto status = boost::json::parse(asker.rest());
  EXPECT_EQ(status.at("requests").to_number<int>(), 2);
  EXPECT_EQ(status.at("response_body_bytes").to_number<int>(), 1000);
  EXPECT_EQ(status.at("responses_by_status").at("200").to_number<int>(), 1);
  EXPECT_EQ(status.at("responses_by_status").at("404").to_number<int>(), 1);
  EXPECT_EQ(status.at("connections_accepted").to_number<int>(), 2);
  EXPECT_GE(status.at("cpu_s").to_number<double>(), 0.0);
}

TEST_F(OriginServerTest, ConnectionsOverTheLimitAreClosed) {
  OriginOptions options;
  options.connections_max = 1;
  Peer first(start(options));
  first.send(get(object_path(sample_object(1))));
  first.head();
  first.body(1);
  Peer second(*server_);
  EXPECT_EQ(second.rest(), "");
  first.send(get(object_path(sample_object(1))));
  EXPECT_TRUE(first.head().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(server_->statistics().connections_refused, 1u);
}

TEST_F(OriginServerTest, ThinksBeforeItAnswersAndStopsWhileThinking) {
  OriginOptions options;
  options.think = Distribution::constant(3600e9);
  Peer patient(start(options));
  patient.send(get(object_path(sample_object(1))));
  Peer other(*server_);
  other.send(get("/nothing"));
  EXPECT_TRUE(other.head().starts_with("HTTP/1.1 404"));  // Only objects take thought.
  EXPECT_EQ(server_->statistics().responses_by_status.count(200), 0u);
  server_->stop();
  EXPECT_EQ(patient.rest(), "");
}

TEST_F(OriginServerTest, TimeScaleDividesTheThinkTime) {
  OriginOptions options;
  options.think = Distribution::constant(3600e9);
  options.time_scale = 1e6;  // 3.6 ms
  Peer peer(start(options));
  peer.send(get(object_path(sample_object(1))));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
}

TEST_F(OriginServerTest, SeveralThreadsServeSideBySide) {
  OriginOptions options;
  options.threads = 3;
  start(options);
  std::vector<std::jthread> threads;
  std::atomic<int> right{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 20; ++round) {
        Peer peer(*server_);
        for (int i = 0; i < 5; ++i) {
          const auto object = sample_object(static_cast<uint64_t>(1000 * thread + i));
          peer.send(get(object_path(object)));
          peer.head();
          const auto body = peer.body(object.size_bytes);
          right += body.size() == object.size_bytes && is_object(object, 0, body) ? 1 : 0;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(right, 400);
  EXPECT_EQ(server_->statistics().requests, 400u);
}

TEST_F(OriginServerTest, APeerThatLeavesInMidBodyIsCountedAndHarmsNobody) {
  start();
  {
    Peer leaver(*server_);
    leaver.send(get(object_path(sample_object(uint64_t{1} << 40))));
    leaver.body(100000);
  }
  Peer peer(*server_);
  peer.send(get(object_path(sample_object(10))));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 200"));
  peer.body(10);
  while (server_->statistics().responses_cut == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_F(OriginServerTest, StopEndsEveryConnectionAndMayBeRepeated) {
  Peer idle(start());
  Peer busy(*server_);
  busy.send(get(object_path(sample_object(uint64_t{1} << 40))));
  busy.body(1000);
  server_->stop();
  server_->stop();
  busy.rest();
  EXPECT_EQ(idle.rest(), "");
}

TEST_F(OriginServerTest, AnAddressInUseIsAnError) {
  start();
  OriginOptions options;
  options.listen = server_->address();
  OriginServer second(options, clock_);
  const auto started = second.start();
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, storage::Errc::kIo);
  EXPECT_EQ(started.error().system_errno, EADDRINUSE);
}

class OriginFaultTest : public OriginServerTest {
 protected:
  void SetUp() override {
    OriginOptions options;
    options.test_faults = true;
    start(options);
  }
  static std::string faulty(const std::string& fault) {
    return get(object_path(sample_object()) + "?fault=" + fault);
  }
};

TEST_F(OriginFaultTest, WithoutTheOptionFaultsAreIgnored) {
  Peer peer(start());
  peer.send(faulty("truncate"));
  peer.head();
  EXPECT_EQ(peer.body(10000).size(), 10000u);
}

TEST_F(OriginFaultTest, TruncateAndReset) {
  for (const bool reset : {false, true}) {
    Peer peer(*server_);
    peer.send(faulty(reset ? "reset" : "truncate"));
    EXPECT_NE(peer.head().find("Content-Length: 10000\r\n"), std::string::npos);
    bool orderly = false;
    const auto body = peer.rest(&orderly);
    EXPECT_EQ(orderly, !reset);
    EXPECT_LE(body.size(), 5000u);
    EXPECT_TRUE(is_object(sample_object(), 0, body));
  }
}

TEST_F(OriginFaultTest, StallSendsHalfAndNoMore) {
  Peer peer(*server_);
  peer.send(faulty("stall"));
  peer.head();
  EXPECT_EQ(peer.body(5000).size(), 5000u);
  server_->stop();
  EXPECT_EQ(peer.rest(), "");
}

TEST_F(OriginFaultTest, ChunkedWithAndWithoutEnd) {
  for (const bool ended : {true, false}) {
    Peer peer(*server_);
    peer.send(faulty(ended ? "chunked" : "chunked-no-end"));
    const auto head = peer.head();
    EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    EXPECT_EQ(peer.body(6), "2710\r\n");
    EXPECT_TRUE(is_object(sample_object(), 0, peer.body(10000)));
    EXPECT_EQ(peer.body(2), "\r\n");
    if (ended) {
      EXPECT_EQ(peer.body(5), "0\r\n\r\n");
      peer.send(get("/nothing"));
      EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 404"));
    } else {
      EXPECT_EQ(peer.rest(), "");
    }
  }
}

TEST_F(OriginFaultTest, NoLengthEndsByTheClose) {
  for (const char* version : {"HTTP/1.1", "HTTP/1.0"}) {
    Peer peer(*server_);
    const std::string fault = version == std::string("HTTP/1.0") ? "chunked" : "no-length";
    peer.send("GET " + object_path(sample_object()) + "?fault=" + fault + ' ' + version +
              "\r\nHost: o\r\nConnection: keep-alive\r\n\r\n");
    const auto head = peer.head();
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    EXPECT_EQ(head.find("Transfer-Encoding"), std::string::npos);
    EXPECT_NE(head.find("Connection: close\r\n"), std::string::npos);
    const auto body = peer.rest();
    EXPECT_EQ(body.size(), 10000u);
    EXPECT_TRUE(is_object(sample_object(), 0, body));
  }
}

TEST_F(OriginFaultTest, ErrorAndUnknownNames) {
  Peer peer(*server_);
  peer.send(faulty("error"));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 500"));
  peer.body(23);
  peer.send(faulty("none-such"));
  EXPECT_TRUE(peer.head().starts_with("HTTP/1.1 400"));
}

}  // namespace
}  // namespace workload
