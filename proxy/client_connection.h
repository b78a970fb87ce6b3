// A client's connection: what a session and its transactions write to and read from.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <string>
#include <utility>

#include "proxy/services.h"
#include "proxy/socket_io.h"

namespace proxy {

/// Owned by its session. Single-threaded.
class ClientConnection {
 public:
  ClientConnection(Services& services, Socket socket);

  Socket& socket() { return socket_; }
  boost::beast::flat_buffer& buffer() { return buffer_; }
  Deadlines::Entry& read_deadline() { return read_deadline_; }
  Deadlines::Entry& write_deadline() { return write_deadline_; }
  /// Of the client, without port.
  const std::string& address() const { return address_; }

  /// Writes everything, or the connection is broken (false). Gives up on a client that takes
  /// nothing for Timeouts::send.
  boost::asio::awaitable<bool> send(std::span<boost::asio::const_buffer> buffers);
  /// Counts what others wrote to the socket.
  void add_sent_bytes(uint64_t size_bytes) { sent_bytes_ += size_bytes; }
  /// Bytes sent since the last call.
  uint64_t take_sent_bytes() { return std::exchange(sent_bytes_, 0); }

  /// Cancels what waits for the client; broken() from now on.
  void give_up();
  bool broken() const { return broken_; }

 private:
  std::chrono::nanoseconds send_timeout_;
  Socket socket_;
  std::string address_;
  boost::beast::flat_buffer buffer_;
  Deadlines::Entry read_deadline_;
  Deadlines::Entry write_deadline_;
  uint64_t sent_bytes_ = 0;
  bool broken_ = false;
};

}  // namespace proxy
