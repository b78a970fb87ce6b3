#include "proxy/server.h"
#include "storage/base/await.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

namespace proxy {

namespace {

namespace asio = boost::asio;
using storage::kAwait;

OriginPoolOptions pool_options(const Config& config) {
  OriginPoolOptions options;
  options.connections_max = config.limits.origin_connections_max;
  options.connections_total_max = config.limits.origin_connections_total_max;
  options.connect_timeout = config.timeouts.connect;
  options.idle_timeout = config.timeouts.origin_idle;
  options.header_size_bytes_max = config.limits.header_size_bytes_max;
  return options;
}

CachingOptions caching_options(const Config& config) {
  CachingOptions options;
  options.heuristic_percent = config.heuristic_percent;
  options.stale_if_error_default = std::chrono::duration_cast<Seconds>(config.stale_if_error);
  return options;
}

ForwardingOptions forwarding_options(const Config& config) {
  ForwardingOptions options;
  if (!config.via_name.empty()) options.via_name = config.via_name;
  options.add_forwarded_for = config.add_forwarded_for;
  return options;
}

/// Ids of fills grow over restarts, so that a later fetch always has the higher one.
uint64_t first_fill_id(const storage::Clock& clock) {
  return static_cast<uint64_t>(clock.wall_now().time_since_epoch().count());
}

}  // namespace

Server::Server(const asio::any_io_executor& executor, const Config& config,
               const storage::Clock& clock, storage::BufferPool& buffers,
               storage::StorageScheme& store, std::chrono::milliseconds deadline_tick)
    : config_(config),
      store_(store),
      deadlines_(executor, clock, deadline_tick),
      origins_(executor, clock, deadlines_, pool_options(config)),
      fills_(executor, config.limits.fills_max, first_fill_id(clock)),
      services_{executor,
                config,
                clock,
                store,
                buffers,
                deadlines_,
                origins_,
                fills_,
                counters_,
                nullptr,
                forwarding_options(config),
                caching_options(config)},
      acceptor_(executor),
      house_timer_(executor),
      session_ended_(executor),
      task_ended_(executor) {}

Server::~Server() = default;

template <class Awaitable>
void Server::spawn(Awaitable task) {
  ++tasks_;
  asio::co_spawn(services_.executor, std::move(task), [this](const std::exception_ptr&) {
    // Only want of memory ends one of these early; the rest of the proxy goes on without it.
    --tasks_;
    task_ended_.wake_all();
  });
}

asio::awaitable<std::string> Server::start() {
  if (config_.access_log) {
    access_log_ = std::make_unique<AccessLogWriter>(config_.access_log->string());
    const auto opened = access_log_->open();
    if (!opened) {
      co_return "--access-log " + config_.access_log->string() + ": " + to_string(opened.error());
    }
    services_.access_log = access_log_.get();
  }
  std::string error = open_listener(acceptor_, config_.listen, "--listen");
  if (!error.empty()) co_return error;
  const auto& warnings = store_.info().warnings;
  const size_t warnings_before = warnings.size();
  const auto recovery = co_await store_.start();
  if (!recovery) {
    error = "the cache directory cannot be opened: " + to_string(recovery.error());
    for (size_t i = warnings_before; i < warnings.size(); ++i) error += "; " + warnings[i];
    co_return error;
  }
  started_ = true;
  start_warnings_.assign(warnings.begin() + static_cast<std::ptrdiff_t>(warnings_before),
                         warnings.end());
  if (config_.admin) {
    admin_ = std::make_unique<Admin>(services_, *recovery);
    error = admin_->listen(*config_.admin);
    if (!error.empty()) co_return error;
    spawn(admin_->run());
  }
  spawn(deadlines_.run());
  spawn(keep_house());
  spawn(accept());
  co_return std::string();
}

asio::awaitable<void> Server::accept() {
  while (!services_.stopping) {
    // Over the limit, clients wait in the kernel's queue.
    while (counters_.connections_open >= config_.limits.connections_max) {
      co_await session_ended_.wait();
    }
    if (services_.stopping) co_return;
    auto [error, socket] = co_await acceptor_.async_accept(kAwait);
    if (services_.stopping) co_return;
    if (error) {
      ++counters_.accept_errors;
      if (error == asio::error::connection_aborted) continue;
      // Mostly want of descriptors: give what is under way time to end.
      asio::steady_timer pause(services_.executor, std::chrono::milliseconds(100));
      co_await pause.async_wait(kAwait);
      continue;
    }
    boost::system::error_code gone;
    const auto peer = socket.remote_endpoint(gone);
    if (gone) continue;
    if (!is_client_allowed(config_, peer.address())) {
      ++counters_.connections_refused;
      continue;
    }
    ++counters_.connections_accepted;
    ++counters_.connections_open;
    asio::co_spawn(services_.executor, serve(std::move(socket)), [this](const std::exception_ptr&) {
      // Only want of memory breaks off a session; others must not suffer.
      --counters_.connections_open;
      session_ended_.wake_all();
    });
  }
}

asio::awaitable<void> Server::serve(Socket socket) {
  Session session(services_, std::move(socket));
  sessions_.push_back(session);
  co_await session.run();
}

asio::awaitable<void> Server::keep_house() {
  while (!services_.stopping) {
    house_timer_.expires_after(std::chrono::seconds(1));
    co_await house_timer_.async_wait(kAwait);
    origins_.close_idle();
    if (access_log_) access_log_->flush();
  }
}

asio::awaitable<void> Server::wait_for_sessions() {
  while (counters_.connections_open > 0) co_await session_ended_.wait();
}

void Server::break_off() {
  for (auto& session : sessions_) session.abort();
  fills_.abandon_all();
}

void Server::hurry() {
  hurrying_ = true;
  break_off();
}

std::string Server::reopen_access_log() {
  if (!access_log_) return {};
  const auto opened = access_log_->reopen();
  if (opened) return {};
  return "--access-log " + config_.access_log->string() + ": " + to_string(opened.error());
}

asio::awaitable<std::string> Server::stop() {
  services_.stopping = true;
  boost::system::error_code ignored;  // They are closed whatever happens.
  acceptor_.close(ignored);
  if (admin_) admin_->stop();
  for (auto& session : sessions_) session.stop_if_idle();
  session_ended_.wake_all();
  {
    Deadlines::Entry bound(deadlines_, [this] { break_off(); });
    bound.set_in(config_.timeouts.stop);
    if (hurrying_) break_off();
    co_await wait_for_sessions();
    co_await fills_.wait_until_empty();
    if (admin_) co_await admin_->wait_until_empty();
  }
  origins_.stop();
  deadlines_.stop();
  house_timer_.cancel();
  while (tasks_ > 0) co_await task_ended_.wait();
  if (access_log_) access_log_->flush();
  if (!started_) co_return std::string();
  const auto stopped = co_await store_.stop(storage::StopMode::kDrain);
  if (!stopped) co_return "the cache directory was not closed: " + to_string(stopped.error());
  co_return std::string();
}

}  // namespace proxy
