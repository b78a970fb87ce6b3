// A proxy in the test's own process, on a thread of its own, with a clock that the test moves.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "proxy/config.h"
#include "proxy/server.h"
#include "storage/registry.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_scheme.h"
#include "tests/support/peer.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// Listens on 127.0.0.1, stores in memory, logs to a temporary file. The test's thread talks to it
/// through Peers only, or has something run on the proxy's thread.
class ProxyUnderTest {
 public:
  /// `change` may alter what the proxy is told; `scheme` is a specification for the registry.
  explicit ProxyUnderTest(const std::function<void(proxy::Config&)>& change = {},
                          const std::string& scheme = "scheme=memory,size=64M") {
    config_.listen = {"127.0.0.1", 0};
    config_.access_log = folder_.path() / "access.log";
    config_.admin = storage::HostPort{"127.0.0.1", 0};
    config_.via_name = "proxy-under-test";
    if (change) change(config_);
    buffers_ = std::make_unique<storage::BufferPool>(io_.get_executor(), 64 * 1024,
                                                     config_.limits.buffer_memory_bytes);
    std::string error;
    const auto spec = storage::parse_scheme_spec(scheme, error);
    auto made = storage::make_scheme(
        spec, storage::SchemeEnvironment{io_.get_executor(), clock_, *buffers_, 1, 128});
    if (!made.scheme) throw std::runtime_error(error + made.error);
    store_ = std::make_unique<FaultyScheme>(std::move(made.scheme));
    server_ = std::make_unique<proxy::Server>(io_.get_executor(), config_, clock_, *buffers_,
                                              *store_, std::chrono::milliseconds(2));
    start();
  }
  ~ProxyUnderTest() {
    if (thread_.joinable()) stop();
  }
  ProxyUnderTest(const ProxyUnderTest&) = delete;
  ProxyUnderTest& operator=(const ProxyUnderTest&) = delete;

  uint16_t port() const { return port_; }
  uint16_t admin_port() const { return admin_port_; }
  FakeClock& clock() { return clock_; }
  FaultyScheme& store() { return *store_; }

  Peer connect(int receive_buffer_bytes = 0) { return Peer::connect(port_, receive_buffer_bytes); }

  /// Runs `task` on the proxy's thread and returns what it returns.
  template <class Task>
  auto run_there(Task task) {
    std::packaged_task<decltype(task())()> packaged(std::move(task));
    auto result = packaged.get_future();
    boost::asio::post(io_, [&packaged] { packaged(); });
    return result.get();
  }
  proxy::ProxyCounters counters() {
    return run_there([this] { return server_->counters(); });
  }
  /// Waits until the counters are as wanted; throws where that never happens.
  void wait_until(const std::function<bool(const proxy::ProxyCounters&)>& wanted) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (!wanted(counters())) {
      if (std::chrono::steady_clock::now() > give_up) throw std::runtime_error("never happened");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void wait_for_requests(uint64_t in_progress) {
    wait_until([=](const auto& counts) { return counts.requests_in_progress == in_progress; });
  }

  /// As SIGTERM does, without waiting for the end.
  void begin_stop() {
    boost::asio::post(io_, [this] {
      boost::asio::co_spawn(
          io_, server_->stop(),
          [this](const std::exception_ptr&, const std::string& trouble) { trouble_ = trouble; });
    });
  }
  /// Stops it (if begin_stop() did not) and waits; returns what it complained of.
  std::string stop(bool begin = true) {
    if (begin) begin_stop();
    thread_.join();
    return trouble_;
  }

  /// The access log's lines; after stop().
  std::string access_log() const {
    std::ifstream file(*config_.access_log);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  /// The fourth columns of the access log, one a line.
  std::string logged_tags() const {
    std::istringstream lines(access_log());
    std::string line;
    std::string tags;
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string word;
      for (int column = 0; column < 4; ++column) words >> word;
      tags += word + "\n";
    }
    return tags;
  }

 private:
  void start() {
    std::promise<std::string> started;
    auto ready = started.get_future();
    boost::asio::co_spawn(io_, server_->start(),
                          [&](const std::exception_ptr& failure, const std::string& error) {
                            if (error.empty() && !failure) {
                              port_ = server_->port();
                              admin_port_ = server_->admin_port();
                            }
                            started.set_value(failure ? "exception" : error);
                          });
    thread_ = std::thread([this] { io_.run(); });
    const std::string error = ready.get();
    if (error.empty()) return;
    stop();
    throw std::runtime_error(error);
  }

  TempDir folder_;
  proxy::Config config_;
  FakeClock clock_;
  boost::asio::io_context io_{1};
  std::unique_ptr<storage::BufferPool> buffers_;
  std::unique_ptr<FaultyScheme> store_;
  std::unique_ptr<proxy::Server> server_;
  uint16_t port_ = 0;
  uint16_t admin_port_ = 0;
  std::string trouble_;
  std::thread thread_;
};

/// A GET in absolute form.
inline std::string get_request(const std::string& url, const std::string& fields = "",
                               const std::string& method = "GET") {
  const size_t host = url.find("//") + 2;
  return method + " " + url + " HTTP/1.1\r\nHost: " + url.substr(host, url.find('/', host) - host) +
         "\r\n" + fields + "\r\n";
}

/// A response with a body of known length that may be kept for a minute.
inline std::string ok_response(const std::string& body,
                               const std::string& fields = "Cache-Control: max-age=60\r\n") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields +
         "\r\n" + body;
}

}  // namespace testing_support
