// One HTTP/1.1 connection of a client: sends a request, reads the response in place.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/base/clock.h"
#include "workload/measure/tally.h"

namespace workload {

/// What a response says of itself. Fields that are absent are empty.
struct ResponseHead {
  int status = 0;
  bool chunked = false;
  std::optional<uint64_t> content_length;
  std::string content_range;
  std::string etag;
  std::string last_modified;
  std::string date;
  std::string via;               ///< Of the proxies on the way; for messages to people.
  std::string body_stamp;        ///< kBodyStampHeader of object.h.
  std::string validation_stamp;  ///< kValidationStampHeader of object.h.

  /// Empties all fields and keeps their memory.
  void clear();
};

/// Receives a response as it arrives. Calls come from within HttpClient::exchange.
class ResponseHandler {
 public:
  virtual ~ResponseHandler() = default;
  /// The final head (1xx responses are skipped); valid until the exchange ends. False gives up.
  virtual bool on_head(const ResponseHead& head) = 0;
  /// The next bytes of the body, without any transfer coding, valid during the call. False gives
  /// the response up: the connection is closed and the exchange ends.
  virtual bool on_body(std::span<const std::byte> bytes) = 0;
};

/// How an exchange went.
struct Exchange {
  Exchange() = default;

  /// kNone where the response is complete (or was given up); kConnect, kRefused, kReset, kTimeout,
  /// kTruncated or kProtocol otherwise.
  ErrorKind error = ErrorKind::kNone;
  std::string_view reason;           ///< A phrase for people, static; empty where all is well.
  bool given_up = false;             ///< By the handler.
  bool opened = false;               ///< A connection was opened for it.
  uint32_t retries = 0;              ///< How often an idle connection turned out to be closed.
  storage::SteadyTime first_byte{};  ///< Both valid where a byte came, as seen here.
  storage::SteadyTime last_byte{};
  uint64_t received_bytes = 0;  ///< Head, body and framing.
  /// EMFILE, ENFILE or EADDRNOTAVAIL where no connection could be made for want of descriptors or
  /// local ports: the limit is this side. Else 0.
  int local_errno = 0;
};

struct HttpClientOptions {
  boost::asio::ip::tcp::endpoint peer;
  /// Local address of connections, so that many do not exhaust the ports of one; none: any.
  std::optional<boost::asio::ip::address> source;
  std::chrono::nanoseconds timeout =
      std::chrono::seconds(60);  ///< Of an exchange, connect included.
};

/// A keep-alive connection that is opened when needed. One exchange at a time, all on one thread.
/// Reads into one buffer for life, allocates nothing for a response whose fields fit into what
/// earlier ones took, and holds one timer, which is armed once a time-out, not once an exchange.
class HttpClient {
 public:
  /// `clock` must outlive the client.
  HttpClient(boost::asio::any_io_executor executor, const storage::Clock& clock,
             HttpClientOptions options);
  /// Closes the connection. No exchange may be under way.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends `request` (head and body, whole) and reads the response. A connection that was kept
  /// open and turns out to be closed before the first byte of the response is replaced, and the
  /// request sent again, once. `head_only`: it is a HEAD request. `keep`: whether to keep the
  /// connection afterwards if the peer does. Never throws for what a peer does.
  boost::asio::awaitable<void> exchange(std::string_view request, bool head_only, bool keep,
                                        ResponseHandler& handler, Exchange& result);

  bool connected() const;
  /// Closes the connection now; an exchange under way ends with an error.
  void close();

 private:
  class Parser;
  struct ParserSlot;
  struct Watch;

  boost::asio::awaitable<void> attempt(std::string_view request, bool head_only,
                                       ResponseHandler& handler, Exchange& result);
  boost::asio::awaitable<void> connect(Exchange& result);
  boost::asio::awaitable<void> read_response(bool head_only, ResponseHandler& handler,
                                             Exchange& result);
  /// Parses what is buffered; true where the response is over, well or badly.
  bool parse_buffered(Exchange& result);
  void end_of_stream(const boost::system::error_code& error, Exchange& result);
  void fail(Exchange& result, ErrorKind kind, std::string_view reason);
  void fail_locally(Exchange& result, const boost::system::error_code& error);
  void set_deadline();
  void arm();

  boost::asio::any_io_executor executor_;
  const storage::Clock& clock_;
  HttpClientOptions options_;
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<Watch> watch_;
  std::unique_ptr<ParserSlot> parser_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;  ///< Bytes of the buffer that are not parsed yet.
  size_t end_ = 0;
  ResponseHead head_;
  bool reusable_ = false;  ///< The last exchange left the connection usable.
};

}  // namespace workload
