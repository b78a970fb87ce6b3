#include "workload/origin/origin_server.h"

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <iostream>
#include <thread>
#include <vector>

#include "storage/base/await.h"
#include "workload/origin/origin_worker.h"

namespace workload {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

using storage::kAwait;
/// How long to leave waiting connections waiting while there are no descriptors for them.
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

storage::Error io_error(const boost::system::error_code& error) {
  // Errors of name look-up have numbers of their own that are no errno.
  return {storage::Errc::kIo,
          error.category() == boost::system::system_category() ? error.value() : 0};
}

}  // namespace

struct OriginServer::State {
  State(OriginOptions options_in, const storage::Clock& clock_in)
      : options(std::move(options_in)), clock(clock_in) {}

  boost::system::error_code bind();
  asio::awaitable<void> accept_connections();
  OriginStatistics statistics() const;
  uint64_t connections_open() const;

  const OriginOptions options;
  const storage::Clock& clock;
  std::vector<std::unique_ptr<OriginWorker>> workers;
  std::optional<Tcp::acceptor> acceptor;  ///< On the first worker, as is what follows.
  std::optional<asio::steady_timer> pause;
  Tcp::endpoint endpoint;
  std::vector<std::thread> threads;
  SharedCount accepted;
  SharedCount refused;
};

boost::system::error_code OriginServer::State::bind() {
  boost::system::error_code error;
  auto& io = workers.front()->io();
  Tcp::resolver resolver(io);
  const auto found =
      resolver.resolve(options.listen.host, std::to_string(options.listen.port),
                       Tcp::resolver::passive | Tcp::resolver::numeric_service, error);
  if (error) return error;
  const Tcp::endpoint wanted = found.begin()->endpoint();
  acceptor.emplace(io);
  pause.emplace(io);
  acceptor->open(wanted.protocol(), error);
  if (!error) acceptor->set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor->bind(wanted, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint = acceptor->local_endpoint(error);
  return error;
}

asio::awaitable<void> OriginServer::State::accept_connections() {
  for (uint64_t number = 0; acceptor->is_open(); ++number) {
    OriginWorker& worker = *workers[number % workers.size()];
    auto [error, socket] = co_await acceptor->async_accept(worker.io(), kAwait);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      pause->expires_after(kAcceptPause);
      co_await pause->async_wait(kAwait);
      continue;
    }
    accepted.add(1);
    if (connections_open() >= options.connections_max) {
      refused.add(1);
      continue;  // The socket closes itself.
    }
    worker.serve(std::move(socket), number);
  }
}

uint64_t OriginServer::State::connections_open() const {
  uint64_t open = 0;
  for (const auto& worker : workers) open += worker->connections_open();
  return open;
}

OriginStatistics OriginServer::State::statistics() const {
  OriginStatistics all;
  for (const auto& worker : workers) worker->add_to(all);
  all.connections_accepted = accepted.value();
  all.connections_refused = refused.value();
  return all;
}

OriginServer::OriginServer(OriginOptions options, const storage::Clock& clock)
    : state_(std::make_unique<State>(std::move(options), clock)) {
  for (unsigned i = 0; i < std::max(1u, state_->options.threads); ++i) {
    state_->workers.push_back(std::make_unique<OriginWorker>(
        state_->options, clock, [state = state_.get()] { return state->statistics(); }));
  }
}

OriginServer::~OriginServer() {
  stop();
}

storage::Result<void> OriginServer::start() {
  if (const auto error = state_->bind()) return io_error(error);
  asio::co_spawn(state_->workers.front()->io(), state_->accept_connections(),
                 [](const std::exception_ptr& failure) {
                   if (!failure) return;
                   std::cerr << "cacheoff origin: no more connections are accepted: no memory\n";
                 });
  for (auto& worker : state_->workers) {
    state_->threads.emplace_back([&worker] { worker->run(); });
  }
  return {};
}

storage::HostPort OriginServer::address() const {
  return {state_->endpoint.address().to_string(), state_->endpoint.port()};
}

void OriginServer::stop() {
  if (state_->threads.empty()) return;
  asio::post(state_->workers.front()->io(), [state = state_.get()] {
    boost::system::error_code ignored;  // An acceptor that cannot be closed is closed already.
    state->acceptor->close(ignored);
    state->pause->cancel();
  });
  for (auto& worker : state_->workers) worker->stop();
  for (auto& thread : state_->threads) thread.join();
  state_->threads.clear();
}

OriginStatistics OriginServer::statistics() const {
  return state_->statistics();
}

}  // namespace workload
