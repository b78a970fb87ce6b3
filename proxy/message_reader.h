// Receiving one HTTP message after the other from a connection.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <optional>

#include "proxy/http_message.h"
#include "proxy/request_checks.h"
#include "proxy/socket_io.h"

namespace proxy {

/// How long to wait for a head.
struct HeadTimeouts {
  std::chrono::nanoseconds first_byte{};  ///< Until something arrives.
  std::chrono::nanoseconds whole{};       ///< From then on, for all of it.

  HeadTimeouts(std::chrono::nanoseconds first_byte_in, std::chrono::nanoseconds whole_in)
      : first_byte(first_byte_in), whole(whole_in) {}
};

/// Reads requests (or responses). What was received beyond a message stays in the connection's
/// buffer, whose maximal size bounds heads and chunk headers. Single-threaded; the connection must
/// outlive it.
template <bool isRequest>
class MessageReader {
 public:
  using Head = http::header<isRequest, Fields>;

  /// `deadline` must cancel the socket.
  MessageReader(Socket& socket, boost::beast::flat_buffer& buffer, Deadlines::Entry& deadline,
                size_t header_size_bytes_max)
      : socket_(socket),
        buffer_(buffer),
        deadline_(deadline),
        header_size_bytes_max_(header_size_bytes_max) {}

  /// Reads the next head. asio::error::eof: the peer ended the connection between two messages;
  /// timed_out before any byte: it was idle too long (has_started() tells); http::error for what
  /// is no HTTP or too large.
  boost::asio::awaitable<boost::system::error_code> read_head(HeadTimeouts timeouts);

  /// Whether anything of the message has arrived.
  bool has_started() const { return started_; }
  /// Takes the head, once, after read_head() succeeded.
  Head take_head();

  /// Says how the body is delimited; before read_body().
  void expect_body(MessageFraming framing);

  /// Reads at least one byte of the body into `out`. No error and nothing read: the body is over
  /// and proved whole. http::error::partial_message: the connection ended before the body did.
  boost::asio::awaitable<IoResult> read_body(std::span<std::byte> out,
                                             std::chrono::nanoseconds timeout);
  /// As read_body(), as far as it is possible without waiting; would_block where it is not.
  IoResult try_read_body(std::span<std::byte> out);

  bool is_body_complete() const { return complete_; }
  /// Whether bytes of a next message are here already.
  bool has_more_input() const { return buffer_.size() > 0; }

 private:
  using Parser = http::parser<isRequest, http::buffer_body>;

  boost::system::error_code parse_head();
  IoResult take_buffered(std::span<std::byte> out);
  IoResult take_chunked(std::span<std::byte> out);
  IoResult finish_read(IoResult got);
  boost::asio::awaitable<boost::system::error_code> fill_buffer(std::chrono::nanoseconds timeout);

  Socket& socket_;
  boost::beast::flat_buffer& buffer_;
  Deadlines::Entry& deadline_;
  size_t header_size_bytes_max_;
  std::optional<Parser> parser_;
  bool started_ = false;
  BodyFraming framing_ = BodyFraming::kNone;
  uint64_t left_bytes_ = 0;
  bool complete_ = true;
};

using RequestReader = MessageReader<true>;
using ResponseReader = MessageReader<false>;

}  // namespace proxy
