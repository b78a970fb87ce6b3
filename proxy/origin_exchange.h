// One request to an origin and its response.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "proxy/http_message.h"
#include "proxy/message_reader.h"
#include "proxy/origin_pool.h"
#include "proxy/request_checks.h"

namespace proxy {

/// What an exchange is bounded by.
struct ExchangeOptions {
  std::chrono::nanoseconds progress_timeout{};  ///< Of writing, of the head, of each body part.
  size_t header_size_bytes_max = 0;
};

/// Carries one request to an origin and reads the response. The connection goes back to the pool
/// when the response was read to its end and both sides keep it; else it is closed, with the
/// exchange at the latest. Single-threaded. Steps in order: connect, send_head, [send_body...],
/// read_head, read_body until the end; fetch() does all up to the response's head for a request
/// without body, and once more where a kept connection turns out to be dead.
class OriginExchange {
 public:
  OriginExchange(OriginPool& pool, storage::HostPort origin, const ExchangeOptions& options);
  ~OriginExchange();
  OriginExchange(const OriginExchange&) = delete;
  OriginExchange& operator=(const OriginExchange&) = delete;

  /// A whole request without body, and the head of its final response. A kept connection that dies
  /// before a byte of the response is replaced once by a new one, if the method is idempotent.
  boost::asio::awaitable<OriginFailure> fetch(const RequestHead& request);

  /// `fresh`: not on a kept connection.
  boost::asio::awaitable<OriginFailure> connect(bool fresh);
  boost::asio::awaitable<OriginFailure> send_head(const RequestHead& request);
  /// Part of a body, framed already.
  boost::asio::awaitable<OriginFailure> send_body(std::span<boost::asio::const_buffer> buffers);
  /// The head of the final response: interim ones (1xx) are read over.
  boost::asio::awaitable<OriginFailure> read_head();

  /// After read_head().
  const ResponseHead& head() const { return head_; }
  const MessageFraming& framing() const { return framing_; }
  /// Length of the body where it is known.
  std::optional<uint64_t> body_size_bytes() const;
  /// Whether the end of the body is proved by the message itself. A body that ends with its
  /// connection could be cut off unseen.
  bool is_end_proved() const { return framing_.framing != BodyFraming::kClose; }

  /// Whether the body was read to its end (after read_head()).
  bool is_over() const { return !connection_; }

  /// At least one byte, or none with kNone: the body is over. Then the connection is given back.
  boost::asio::awaitable<IoResult> read_body(std::span<std::byte> out);
  /// As read_body() without waiting: asio::error::would_block where nothing is there.
  IoResult try_read_body(std::span<std::byte> out);
  /// What an IoResult's error means.
  static OriginFailure failure_of(const boost::system::error_code& error);

  /// The request was not sent whole, so the connection cannot be kept.
  void forbid_keeping() { may_keep_ = false; }
  /// Gives the exchange up: steps under way and later ones fail with kCancelled.
  void cancel();
  /// Address of the origin, without port; empty until connected.
  const std::string& address() const { return address_; }

 private:
  bool response_started() const { return reader_ && reader_->has_started(); }
  void finish_if_complete();

  OriginPool& pool_;
  storage::HostPort origin_;
  ExchangeOptions options_;
  std::unique_ptr<OriginConnection> connection_;
  std::optional<ResponseReader> reader_;
  http::verb method_ = http::verb::get;
  ResponseHead head_;
  MessageFraming framing_;
  std::string address_;
  bool may_keep_ = true;
  bool cancelled_ = false;
};

}  // namespace proxy
