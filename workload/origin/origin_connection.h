// One connection to the origin: reads requests, and has a responder answer them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "workload/origin/origin_request.h"
#include "workload/origin/origin_responder.h"

namespace workload {

class OriginWorker;

/// Belongs to its worker's thread, construction excepted. What it answers itself are requests that
/// are none, and those for the statistics.
class OriginConnection {
 public:
  OriginConnection(OriginWorker& worker, boost::asio::ip::tcp::socket socket, uint64_t number);

  /// Serves requests until either side is done; ends soon after close().
  boost::asio::awaitable<void> run();
  /// Closes the socket; whatever run() waits for ends.
  void close();
  /// When the worker should close this connection.
  storage::SteadyTime deadline() const { return deadline_; }

  // For the responder.
  OriginWorker& worker() { return worker_; }
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  int64_t now_unix_s() const;
  storage::SteadyTime steady_now() const;
  void expect_progress_within(std::chrono::nanoseconds duration);
  void close_at(storage::SteadyTime deadline) { deadline_ = deadline; }
  /// Counts a response, which is about to be sent.
  void note_response(unsigned status);
  /// Counts bytes of its body that the kernel has taken.
  void note_body_bytes(uint64_t bytes);
  /// The same for a text of the server's own, which is none of the bytes that are counted.
  void note_text_bytes(uint64_t bytes) { body_bytes_ += bytes; }
  /// Sends all of a text; false where the peer went away first.
  boost::asio::awaitable<bool> send(std::string_view text);
  /// Closes our direction and lets the peer read what was sent: closing at once with unread bytes
  /// in the socket would reset the connection under it (RFC 9112 section 9.6).
  boost::asio::awaitable<void> drain();
  /// Throws away what the peer sends until it goes or the deadline comes.
  boost::asio::awaitable<void> ignore_input();

 private:
  enum class Read { kRequest, kEnd, kMalformed, kHeaderTooLarge, kBodyTooLarge };

  boost::asio::awaitable<void> serve_requests();
  boost::asio::awaitable<bool> respond(bool keep_alive);
  boost::asio::awaitable<Read> read_request();
  boost::asio::awaitable<bool> receive_more();
  boost::asio::awaitable<void> continue_if_expected();
  boost::asio::awaitable<void> refuse(Read reason);
  boost::asio::awaitable<bool> send_status(bool keep_alive);
  void log_response();

  OriginWorker& worker_;
  boost::asio::ip::tcp::socket socket_;
  storage::SteadyTime deadline_;
  uint64_t requests_left_;
  std::vector<char> buffer_;  ///< Bytes received and not parsed yet, from 0 to `buffered_`.
  size_t buffered_ = 0;
  std::optional<OriginRequestParser> parser_;
  OriginRequest request_;
  std::unique_ptr<OriginResponder> responder_;
  std::string peer_address_;  ///< For the access log; empty where there is none.
  unsigned status_ = 0;       ///< Of the response at hand, and the bytes of its body so far.
  uint64_t body_bytes_ = 0;
};

}  // namespace workload
