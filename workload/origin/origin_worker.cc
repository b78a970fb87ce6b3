#include "workload/origin/origin_worker.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <utility>

#include "workload/origin/origin_connection.h"

namespace workload {
namespace {

constexpr size_t kScratchBytes = 65536;
/// How exact the deadlines of connections are.
constexpr auto kSweepInterval = std::chrono::milliseconds(100);

}  // namespace

OriginWorker::OriginWorker(const OriginOptions& options, const storage::Clock& clock,
                           std::function<OriginStatistics()> statistics)
    : options_(options),
      clock_(clock),
      statistics_(std::move(statistics)),
      io_(1),
      sweep_timer_(io_),
      scratch_(kScratchBytes) {
  if (options.access_log) access_log_.emplace(options.access_log);
}

OriginWorker::~OriginWorker() = default;

void OriginWorker::run() {
  // sendfile raises it where a peer has gone away, and has no flag against that.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  const auto work = boost::asio::make_work_guard(io_);
  sweep_later();
  io_.run();
  if (access_log_) access_log_->flush();
}

void OriginWorker::stop() {
  boost::asio::post(io_, [this] {
    stopping_ = true;
    sweep_timer_.cancel();
    for (auto* const connection : connections_) connection->close();
    // Behind the completions that the closed sockets have queued.
    boost::asio::post(io_, [this] { io_.stop(); });
  });
}

void OriginWorker::serve(boost::asio::ip::tcp::socket socket, uint64_t number) {
  auto connection = std::make_shared<OriginConnection>(*this, std::move(socket), number);
  boost::asio::co_spawn(
      io_, [connection] { return connection->run(); },
      [connection](const std::exception_ptr& failure) {
        if (!failure) return;
        // Only memory that is not to be had comes here; the connection is closed by its end.
        try {
          std::rethrow_exception(failure);
        } catch (const std::exception& problem) {
          std::cerr << "cacheoff origin: a connection failed: " << problem.what() << '\n';
        }
      });
}

void OriginWorker::sweep_later() {
  sweep_timer_.expires_after(kSweepInterval);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || stopping_) return;
    const auto now = clock_.steady_now();
    for (auto* const connection : connections_) {
      if (connection->deadline() < now) connection->close();
    }
    if (access_log_) access_log_->flush();
    sweep_later();
  });
}

uint64_t OriginWorker::connections_open() const {
  // Read first: a connection is counted as opened before it is as closed.
  const uint64_t closed = counts_.connections_closed.value();
  return counts_.connections_opened.value() - closed;
}

void OriginWorker::add_to(OriginStatistics& statistics) const {
  statistics.requests += counts_.requests.value();
  statistics.response_body_bytes += counts_.response_body_bytes.value();
  statistics.request_body_bytes += counts_.request_body_bytes.value();
  statistics.responses_cut += counts_.responses_cut.value();
  statistics.responses_broken_off += counts_.responses_broken_off.value();
  statistics.connections_open += connections_open();
  for (size_t status = 0; status < counts_.by_status.size(); ++status) {
    const uint64_t count = counts_.by_status[status].value();
    if (count != 0) statistics.responses_by_status[static_cast<unsigned>(status)] += count;
  }
}

}  // namespace workload
