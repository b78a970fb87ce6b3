// Connections to origins: opened, kept, shared out and bounded.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "proxy/deadlines.h"
#include "proxy/socket_io.h"
#include "proxy/wakeup.h"
#include "storage/base/clock.h"
#include "storage/base/counters.h"
#include "storage/base/units.h"

namespace proxy {

/// Why an origin gave no (whole) response.
enum class OriginFailure {
  kNone,
  kName,            ///< Its name could not be resolved.
  kConnect,         ///< It refused, or the network did.
  kConnectTimeout,  ///< It did not answer the connection attempt in time.
  kOverloaded,      ///< The proxy's own limits on connections are reached.
  kClosed,          ///< It closed or reset the connection before the response was whole.
  kTimeout,         ///< It made no progress for too long.
  kInvalid,         ///< It sent what is no valid HTTP, or more than the limits allow.
  kCancelled,       ///< The proxy gave it up.
};

/// Name for logs, counters and error pages, e.g. `origin_timeout`.
const char* name_of(OriginFailure failure);

/// What the pool is bounded by.
struct OriginPoolOptions {
  uint64_t connections_max = 0;        ///< To one origin.
  uint64_t connections_total_max = 0;  ///< To all origins.
  std::chrono::nanoseconds connect_timeout{};
  std::chrono::nanoseconds idle_timeout{};
  size_t header_size_bytes_max = 0;
};

class OriginPool;

/// A connection to an origin. Destroying it closes it and gives its place back; OriginPool::keep()
/// keeps it for another request. Must not outlive its pool.
class OriginConnection {
 public:
  OriginConnection(OriginPool& pool, const std::string& origin);
  ~OriginConnection();
  OriginConnection(const OriginConnection&) = delete;
  OriginConnection& operator=(const OriginConnection&) = delete;

  Socket& socket() { return socket_; }
  boost::beast::flat_buffer& buffer() { return buffer_; }
  Deadlines::Entry& read_deadline() { return read_deadline_; }
  Deadlines::Entry& write_deadline() { return write_deadline_; }
  /// Whether it carried a request before: then the origin may have closed it meanwhile.
  bool reused() const { return reused_; }
  /// Address of the origin, without port.
  const std::string& address() const { return address_; }

 private:
  friend class OriginPool;
  OriginPool& pool_;
  std::string origin_;
  Socket socket_;
  boost::beast::flat_buffer buffer_;
  Deadlines::Entry read_deadline_;
  Deadlines::Entry write_deadline_;
  bool reused_ = false;
  std::string address_;
  storage::SteadyTime idle_since_{};
};

/// A connection, or why there is none.
struct OriginConnectionOrFailure {
  std::unique_ptr<OriginConnection> connection;
  OriginFailure failure = OriginFailure::kNone;

  explicit OriginConnectionOrFailure(std::unique_ptr<OriginConnection> made)
      : connection(std::move(made)) {}
  explicit OriginConnectionOrFailure(OriginFailure failure_in) : failure(failure_in) {}
};

/// Single-threaded on its executor.
class OriginPool {
 public:
  OriginPool(const boost::asio::any_io_executor& executor, const storage::Clock& clock,
             Deadlines& deadlines, const OriginPoolOptions& options);
  ~OriginPool();
  OriginPool(const OriginPool&) = delete;
  OriginPool& operator=(const OriginPool&) = delete;

  /// Lends the connection that was kept last, if it is still open, or a new one. Where the origin's
  /// limit is reached it waits in order of arrival, as long as a connection attempt may take.
  /// `fresh`: a new one in any case. `address` must stay until it is done.
  boost::asio::awaitable<OriginConnectionOrFailure> acquire(const storage::HostPort& address,
                                                            bool fresh);

  /// Keeps a connection whose response was read to its end and that both sides want to keep.
  void keep(std::unique_ptr<OriginConnection> connection);

  /// Closes kept connections that were unused too long; call it about once a second.
  void close_idle();
  /// Closes all kept connections; from now on none is kept.
  void stop();

  void visit_counters(storage::CounterVisitor& visitor) const;

 private:
  friend class OriginConnection;
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  /// What is known of one origin. Exists while there are connections or waiters.
  struct Origin {
    explicit Origin(const boost::asio::any_io_executor& executor) : freed(executor) {}
    uint64_t open = 0;
    uint64_t waiting = 0;
    std::vector<std::unique_ptr<OriginConnection>> idle;  ///< The newest last.
    Wakeup freed;
  };
  struct Name {
    Endpoints endpoints;
    storage::SteadyTime valid_until{};
  };

  Origin& origin(const std::string& name);
  void forget_if_unused(const std::string& name);
  std::unique_ptr<OriginConnection> take_idle(Origin& origin);
  bool make_room();
  boost::asio::awaitable<bool> wait_for_place(std::string name);
  boost::asio::awaitable<Endpoints> resolve(const storage::HostPort& address);
  boost::asio::awaitable<OriginFailure> connect(OriginConnection& connection,
                                                const storage::HostPort& address);

  boost::asio::any_io_executor executor_;
  const storage::Clock& clock_;
  Deadlines& deadlines_;
  OriginPoolOptions options_;
  std::unordered_map<std::string, std::unique_ptr<Origin>> origins_;
  std::unordered_map<std::string, Name> names_;
  uint64_t open_total_ = 0;
  uint64_t idle_total_ = 0;
  bool stopped_ = false;
  uint64_t connects_total_ = 0;
  uint64_t reuses_total_ = 0;
  uint64_t connect_failures_total_ = 0;
};

}  // namespace proxy
