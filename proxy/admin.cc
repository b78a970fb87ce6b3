#include "proxy/admin.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json.hpp>
#include <exception>

#include "proxy/fill_table.h"
#include "proxy/metrics_text.h"
#include "proxy/test_delay.h"
#include "storage/base/await.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using storage::kAwait;
constexpr unsigned kConnectionsMax = 32;
constexpr std::chrono::seconds kTimeout(10);

/// Picks the levels that /status shows out of a scheme's counters.
class LevelsVisitor final : public storage::CounterVisitor {
 public:
  void counter(std::string_view, std::string_view, uint64_t) override {}
  void gauge(std::string_view name, std::string_view, double value) override {
    if (name == "objects") objects = value;
    if (name == "size_bytes" || name == "used_bytes") bytes = value;
  }
  double objects = 0;
  double bytes = 0;
};

}  // namespace

Admin::Admin(Services& services, const storage::RecoveryReport& recovery)
    : services_(services),
      recovery_(recovery),
      started_(services.clock.steady_now()),
      acceptor_(services.executor),
      ended_(services.executor) {}

std::string open_listener(asio::ip::tcp::acceptor& acceptor, const storage::HostPort& address,
                          std::string_view option) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address.host, error), address.port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  return std::string(option) + " " + address.text() + ": cannot listen there: " + error.message();
}

std::string Admin::listen(const storage::HostPort& address) {
  return open_listener(acceptor_, address, "--admin");
}

uint16_t Admin::port() const {
  return acceptor_.local_endpoint().port();
}

asio::awaitable<void> Admin::run() {
  for (;;) {
    while (open_ >= kConnectionsMax) co_await ended_.wait();
    if (!acceptor_.is_open()) co_return;
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (!acceptor_.is_open()) co_return;
    if (error) {
      ++services_.counters.accept_errors;
      asio::steady_timer pause(services_.executor, std::chrono::milliseconds(100));
      co_await pause.async_wait(kAwait);
      continue;
    }
    ++open_;
    asio::co_spawn(services_.executor, serve(std::move(socket)), [this](const std::exception_ptr&) {
      // A failed answer to the administrator concerns nobody else.
      --open_;
      ended_.wake_all();
    });
  }
}

void Admin::stop() {
  boost::system::error_code ignored;  // It is closed whatever happens.
  acceptor_.close(ignored);
}

asio::awaitable<void> Admin::wait_until_empty() {
  while (open_ > 0) co_await ended_.wait();
}

asio::awaitable<void> Admin::serve(asio::ip::tcp::socket socket) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer(16 * 1024);
  stream.expires_after(kTimeout);
  http::request<http::empty_body> request;
  auto [read_error, read] = co_await http::async_read(stream, buffer, request, kAwait);
  if (read_error) co_return;
  http::response<http::string_body> response(http::status::ok, 11);
  response.keep_alive(false);
  response.set(http::field::cache_control, "no-store");
  const std::string_view target = request.target();
  response.body() = page(target.substr(0, target.find('?')));
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    response.result(http::status::method_not_allowed);
    response.set(http::field::allow, "GET, HEAD");
    response.body().clear();
  } else if (response.body().empty()) {
    response.result(http::status::not_found);
    response.body() = "There are /metrics and /status.\n";
  }
  const bool is_json = !response.body().empty() && response.body().front() == '{';
  response.set(http::field::content_type,
               is_json ? "application/json" : "text/plain; version=0.0.4; charset=utf-8");
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  stream.expires_after(kTimeout);
  co_await http::async_write(stream, response, kAwait);
  beast::error_code ignored;  // It is thrown away whatever happens.
  stream.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
}

std::string Admin::page(std::string_view path) const {
  if (path == "/metrics") return metrics();
  if (path == "/status") return status();
  return {};
}

std::string Admin::metrics() const {
  MetricsText text;
  text.begin_group("cacheoff_proxy_", "");
  services_.counters.visit(text);
  services_.origins.visit_counters(text);
  services_.buffers.visit_counters(text);
  text.gauge("fills_in_progress", "", static_cast<double>(services_.fills.size()));
  text.begin_group("cacheoff_storage_", "scheme=\"" + services_.store.info().name + "\"");
  services_.store.visit_counters(text);
  return text.text();
}

std::string Admin::status() const {
  namespace json = boost::json;
  const auto& info = services_.store.info();
  LevelsVisitor levels;
  services_.store.visit_counters(levels);
  const std::chrono::duration<double> uptime = services_.clock.steady_now() - started_;
  const std::chrono::duration<double> recovery_time = recovery_.duration;
  json::array warnings;
  for (const auto& warning : info.warnings) warnings.emplace_back(warning);
  json::array own_warnings;
  if (services_.config.test_delay.count() > 0) {
    own_warnings.emplace_back(test_delay_warning(services_.config.test_delay));
  }
  const json::object status{
      {"version", CACHEOFF_VERSION},
      {"uptime_s", uptime.count()},
      {"warnings", own_warnings},
      {"scheme", json::object{{"name", info.name},
                              {"persistent", info.persistent},
                              {"capacity_bytes", info.capacity_bytes},
                              {"object_size_bytes_max", info.object_size_bytes_max},
                              {"alignment_bytes", info.alignment_bytes},
                              {"warnings", warnings}}},
      {"recovery", json::object{{"clean", recovery_.clean},
                                {"objects", recovery_.objects},
                                {"size_bytes", recovery_.size_bytes},
                                {"dropped_damaged", recovery_.dropped_damaged},
                                {"dropped_stray", recovery_.dropped_stray},
                                {"duration_s", recovery_time.count()}}},
      {"objects", static_cast<uint64_t>(levels.objects)},
      {"bytes", static_cast<uint64_t>(levels.bytes)},
  };
  return json::serialize(status) + "\n";
}

}  // namespace proxy
