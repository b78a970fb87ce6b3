// One thread's share of the origin: its event loop, its connections, its counts.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "workload/origin/access_log.h"
#include "workload/origin/origin_server.h"

namespace workload {

class OriginConnection;

/// A count that one thread writes and any may read.
class SharedCount {
 public:
  void add(uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct OriginCounts {
  static constexpr size_t kStatusEnd = 600;
  SharedCount requests;
  SharedCount response_body_bytes;
  SharedCount request_body_bytes;
  SharedCount connections_opened;
  SharedCount connections_closed;
  SharedCount responses_cut;
  SharedCount responses_broken_off;
  std::array<SharedCount, kStatusEnd> by_status;
};

/// Owns an event loop and what runs on it. run() is the thread; what is not said to be safe from
/// other threads belongs to it.
class OriginWorker {
 public:
  /// `options` and `clock` must outlive the worker; `statistics` (of the whole server) must be safe
  /// to call from this worker's thread.
  OriginWorker(const OriginOptions& options, const storage::Clock& clock,
               std::function<OriginStatistics()> statistics);
  ~OriginWorker();

  boost::asio::io_context& io() { return io_; }
  /// Runs the event loop until stop().
  void run();
  /// Ends run() from any thread: closes every connection first.
  void stop();
  /// Takes over a connection whose socket is on io(). From any thread. `number` tells connections
  /// apart and seeds how many requests this one serves.
  void serve(boost::asio::ip::tcp::socket socket, uint64_t number);
  /// Adds the counts of this worker. From any thread.
  void add_to(OriginStatistics& statistics) const;
  /// From any thread.
  uint64_t connections_open() const;

  // For the connections.
  const OriginOptions& options() const { return options_; }
  const storage::Clock& clock() const { return clock_; }
  OriginCounts& counts() { return counts_; }
  OriginStatistics statistics() const { return statistics_(); }
  /// Memory that any connection may use between two suspensions.
  std::span<std::byte> scratch() { return scratch_; }
  /// Null where none is kept.
  OriginAccessLog* access_log() { return access_log_ ? &*access_log_ : nullptr; }
  /// How many responses the connections have made in memory and not sent yet.
  unsigned& made_responses() { return made_responses_; }
  void enter(OriginConnection& connection) { connections_.insert(&connection); }
  void leave(OriginConnection& connection) { connections_.erase(&connection); }

 private:
  void sweep_later();

  const OriginOptions& options_;
  const storage::Clock& clock_;
  std::function<OriginStatistics()> statistics_;
  std::optional<OriginAccessLog> access_log_;
  unsigned made_responses_ = 0;
  boost::asio::io_context io_;
  boost::asio::steady_timer sweep_timer_;
  bool stopping_ = false;
  OriginCounts counts_;
  std::vector<std::byte> scratch_;
  std::unordered_set<OriginConnection*> connections_;
};

}  // namespace workload
