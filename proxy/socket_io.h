// Reading and writing sockets: try at once, wait only if need be, and never for ever.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <span>

#include "proxy/deadlines.h"

namespace proxy {

using Socket = boost::asio::ip::tcp::socket;

/// What a read or write did. `error` is asio::error::timed_out where the deadline passed.
struct IoResult {
  boost::system::error_code error;
  size_t size_bytes = 0;

  IoResult() = default;
  IoResult(boost::system::error_code error_in, size_t size_in)
      : error(error_in), size_bytes(size_in) {}
};

/// Writes all of `buffers` (which are changed on the way). `deadline`, which must cancel the
/// socket, is set anew to `timeout` whenever something could be written. The socket must be
/// non-blocking.
boost::asio::awaitable<IoResult> write_all(Socket& socket,
                                           std::span<boost::asio::const_buffer> buffers,
                                           Deadlines::Entry& deadline,
                                           std::chrono::nanoseconds timeout);

/// Reads at least one byte, or fails; asio::error::eof at the end.
boost::asio::awaitable<IoResult> read_some(Socket& socket, std::span<std::byte> buffer,
                                           Deadlines::Entry& deadline,
                                           std::chrono::nanoseconds timeout);

/// Whether an unused connection is still open and silent, as it must be to carry a request.
bool is_open_and_silent(Socket& socket);

/// Sets what every connection of the proxy has: non-blocking, no delay for small segments.
void prepare_socket(Socket& socket);

/// Closes a socket so that the peer sees a reset, not a clean end: after a body that is cut off
/// where the end of the connection is the end of the body.
void reset_socket(Socket& socket);

/// Closes a socket after a last answer without losing it: stops sending, then reads away what the
/// peer still sends, a bounded time and amount, before closing. A plain close with unread input
/// would reset the connection and could destroy the answer on its way.
boost::asio::awaitable<void> close_after_answer(Socket& socket, Deadlines::Entry& deadline);

}  // namespace proxy
