// One connection to the origin: reads requests, thinks, writes responses.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/clock.h"
#include "workload/origin/origin_request.h"
#include "workload/origin/origin_response.h"

namespace workload {

class OriginWorker;

/// Belongs to its worker's thread, construction excepted. Holds no body: bytes are made in the
/// worker's scratch memory each time that the socket takes some, so a slow peer costs nothing.
class OriginConnection {
 public:
  OriginConnection(OriginWorker& worker, boost::asio::ip::tcp::socket socket, uint64_t number);

  /// Serves requests until either side is done; ends soon after close().
  boost::asio::awaitable<void> run();
  /// Closes the socket; whatever run() waits for ends.
  void close();
  /// When the worker should close this connection.
  storage::SteadyTime deadline() const { return deadline_; }

 private:
  enum class Read { kRequest, kEnd, kMalformed, kHeaderTooLarge, kBodyTooLarge };

  boost::asio::awaitable<void> serve_requests();
  boost::asio::awaitable<Read> read_request();
  boost::asio::awaitable<bool> receive_more();
  boost::asio::awaitable<void> continue_if_expected();
  boost::asio::awaitable<void> think();
  boost::asio::awaitable<bool> answer();
  boost::asio::awaitable<bool> send_object(uint64_t body_bytes);
  boost::asio::awaitable<bool> send_chunked();
  /// Whether the response at hand is to be broken off in its body, on a robot's wish.
  bool breaks_off() const;
  boost::asio::awaitable<void> misbehave_at_end();
  boost::asio::awaitable<void> refuse(Read reason);
  boost::asio::awaitable<void> drain();

  void compose(bool keep_alive);
  void count_response();
  std::chrono::nanoseconds think_time() const;
  void expect_progress_within(std::chrono::nanoseconds duration);

  OriginWorker& worker_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer think_timer_;
  storage::SteadyTime deadline_;
  uint64_t number_;
  uint64_t requests_left_;
  std::vector<char> buffer_;  ///< Bytes received and not parsed yet, from 0 to `buffered_`.
  size_t buffered_ = 0;
  std::optional<OriginRequestParser> parser_;
  OriginRequest request_;
  OriginResponse response_;
  OriginFault fault_ = OriginFault::kNone;
  bool keep_alive_ = true;  ///< Behind the response at hand.
};

}  // namespace workload
