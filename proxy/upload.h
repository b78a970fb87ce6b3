// A request body on its way from a client to an origin, while the response may already come back.
#pragma once

#include "proxy/client_connection.h"
#include "proxy/message_reader.h"
#include "proxy/origin_exchange.h"
#include "proxy/wakeup.h"

namespace proxy {

/// Runs beside the coroutine that waits for the response. The connections must outlive it, so
/// finish() must be awaited before anything of them is destroyed.
class Upload {
 public:
  Upload(Services& services, ClientConnection& client, RequestReader& reader,
         OriginExchange& exchange, const MessageFraming& framing);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  void start();
  /// The whole body was sent.
  bool is_complete() const { return complete_; }
  /// Why reading from the client failed, if it did.
  const boost::system::error_code& client_error() const { return client_error_; }
  /// Stops it if it is still under way, and waits until it touches nothing any more.
  boost::asio::awaitable<void> finish();

 private:
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<bool> send_part(std::span<const std::byte> part);

  Services& services_;
  ClientConnection& client_;
  RequestReader& reader_;
  OriginExchange& exchange_;
  bool chunked_;
  bool running_ = false;
  bool stopping_ = false;
  bool complete_ = false;
  boost::system::error_code client_error_;
  Wakeup ended_;
};

}  // namespace proxy
