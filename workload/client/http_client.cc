#include "workload/client/http_client.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>

#include "storage/base/await.h"
#include "workload/model/object.h"

namespace workload {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr size_t kBufferBytes = 64 * 1024;
constexpr uint32_t kHeadBytesMax = 32 * 1024;
constexpr int kInterimResponsesMax = 16;
/// Beast 1.81 aborts when it looks again at a last chunk of fewer bytes than `0 CRLF CRLF`.
constexpr size_t kChunkEndBytes = 5;

using storage::kAwait;

bool same_name(std::string_view left, std::string_view right) {
  return boost::beast::iequals(left, right);
}

}  // namespace

void ResponseHead::clear() {
  status = 0;
  chunked = false;
  content_length.reset();
  for (std::string* field :
       {&content_range, &etag, &last_modified, &date, &via, &body_stamp, &validation_stamp}) {
    field->clear();
  }
}

/// Fires when an exchange is late. Lives on until its handler has run, whatever became of the
/// client.
struct HttpClient::Watch {
  Watch(asio::any_io_executor executor, HttpClient* owner_in) : timer(executor), owner(owner_in) {}

  asio::steady_timer timer;
  HttpClient* owner;  ///< Null once the client is gone.
  std::optional<storage::SteadyTime> deadline;
  bool armed = false;
  bool expired = false;
};

/// Beast's parser, with the fields and the body handed on instead of kept.
class HttpClient::Parser final : public http::basic_parser<false> {
 public:
  Parser(ResponseHead& head, ResponseHandler& handler, bool head_only)
      : head_(head), handler_(handler) {
    eager(true);
    skip(head_only);
    header_limit(kHeadBytesMax);
    body_limit(boost::none);
  }

  bool given_up() const { return given_up_; }
  bool interim() const { return head_.status >= 100 && head_.status < 200; }

 private:
  void on_request_impl(http::verb, boost::beast::string_view, boost::beast::string_view, int,
                       error_code&) override {}

  void on_response_impl(int code, boost::beast::string_view, int, error_code&) override {
    head_.clear();
    head_.status = code;
  }

  void on_field_impl(http::field name, boost::beast::string_view name_text,
                     boost::beast::string_view value, error_code&) override {
    switch (name) {
      case http::field::etag:
        head_.etag = value;
        break;
      case http::field::content_range:
        head_.content_range = value;
        break;
      case http::field::last_modified:
        head_.last_modified = value;
        break;
      case http::field::date:
        head_.date = value;
        break;
      case http::field::via:
        head_.via = value;
        break;
      case http::field::unknown:
        if (same_name(name_text, kBodyStampHeader)) head_.body_stamp = value;
        if (same_name(name_text, kValidationStampHeader)) head_.validation_stamp = value;
        break;
      default:
        break;
    }
  }

  void on_header_impl(error_code& error) override {
    if (interim()) return;
    head_.chunked = chunked();
    if (const auto length = content_length()) head_.content_length = *length;
    if (!handler_.on_head(head_)) give_up(error);
  }

  void on_body_init_impl(const boost::optional<uint64_t>&, error_code&) override {}

  std::size_t on_body_impl(boost::beast::string_view body, error_code& error) override {
    if (!handler_.on_body(std::as_bytes(std::span(body.data(), body.size())))) give_up(error);
    return body.size();
  }

  void on_chunk_header_impl(uint64_t, boost::beast::string_view, error_code&) override {}

  std::size_t on_chunk_body_impl(uint64_t, boost::beast::string_view body,
                                 error_code& error) override {
    return on_body_impl(body, error);
  }

  void on_finish_impl(error_code&) override {}

  void give_up(error_code& error) {
    given_up_ = true;
    error = http::error::end_of_stream;
  }

  ResponseHead& head_;
  ResponseHandler& handler_;
  bool given_up_ = false;
};

/// Room for one parser: each response needs a new one, none needs an allocation.
struct HttpClient::ParserSlot {
  std::optional<Parser> parser;
};

HttpClient::HttpClient(asio::any_io_executor executor, const storage::Clock& clock,
                       HttpClientOptions options)
    : executor_(executor),
      clock_(clock),
      options_(std::move(options)),
      socket_(executor),
      watch_(std::make_shared<Watch>(executor, this)),
      parser_(std::make_unique<ParserSlot>()),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

HttpClient::~HttpClient() {
  watch_->owner = nullptr;
  watch_->timer.cancel();
  close();
}

bool HttpClient::connected() const {
  return socket_.is_open();
}

void HttpClient::close() {
  error_code ignored;  // The connection is given up either way.
  socket_.close(ignored);
  reusable_ = false;
}

void HttpClient::fail(Exchange& result, ErrorKind kind, std::string_view reason) {
  if (watch_->expired) {
    result.error = ErrorKind::kTimeout;
    result.reason = "not done in time";
  } else {
    result.error = kind;
    result.reason = reason;
  }
  close();
}

void HttpClient::set_deadline() {
  watch_->expired = false;
  watch_->deadline = clock_.steady_now() + options_.timeout;
  if (!watch_->armed) arm();
}

void HttpClient::arm() {
  watch_->armed = true;
  watch_->timer.expires_at(
      std::chrono::time_point_cast<asio::steady_timer::duration>(*watch_->deadline));
  watch_->timer.async_wait([watch = watch_](const error_code&) {
    watch->armed = false;
    if (watch->owner == nullptr || !watch->deadline) return;
    if (watch->owner->clock_.steady_now() < *watch->deadline) {
      watch->owner->arm();  // Another exchange has begun since: wait for its deadline.
      return;
    }
    watch->expired = true;
    error_code ignored;  // Closing is what ends the operation that waits.
    watch->owner->socket_.close(ignored);
  });
}

asio::awaitable<void> HttpClient::exchange(std::string_view request, bool head_only, bool keep,
                                           ResponseHandler& handler, Exchange& result) {
  result = Exchange();
  set_deadline();
  const bool was_reused = socket_.is_open();
  co_await attempt(request, head_only, handler, result);
  if (was_reused && result.error == ErrorKind::kReset && result.received_bytes == 0) {
    // The peer closed the idle connection while the request was on its way (RFC 9112 section
    // 9.3.1). Requests of the workload change nothing at the origin, so that even a POST may be
    // sent again.
    result = Exchange();
    result.retries = 1;
    co_await attempt(request, head_only, handler, result);
  }
  watch_->deadline.reset();
  if (!keep || !reusable_) close();
}

asio::awaitable<void> HttpClient::attempt(std::string_view request, bool head_only,
                                          ResponseHandler& handler, Exchange& result) {
  reusable_ = false;
  begin_ = end_ = 0;
  if (!socket_.is_open()) {
    co_await connect(result);
    if (result.error != ErrorKind::kNone) co_return;
  }
  auto [error, written] =
      co_await asio::async_write(socket_, asio::buffer(request.data(), request.size()), kAwait);
  if (error) {
    fail(result, ErrorKind::kReset, "the connection was closed while the request was sent");
    co_return;
  }
  co_await read_response(head_only, handler, result);
}

asio::awaitable<void> HttpClient::connect(Exchange& result) {
  error_code error;
  socket_.open(options_.peer.protocol(), error);
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  if (!error && options_.source) {
    // The port is chosen when connecting, when the peer is known: one port serves many peers.
    const int on = 1;
    setsockopt(socket_.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    socket_.bind(asio::ip::tcp::endpoint(*options_.source, 0), error);
  }
  if (error) {
    fail_locally(result, error);
    co_return;
  }
  result.opened = true;
  auto [failure] = co_await socket_.async_connect(options_.peer, kAwait);
  if (!failure) co_return;
  if (failure == asio::error::connection_refused) {
    fail(result, ErrorKind::kRefused, "the connection was refused");
  } else {
    fail_locally(result, failure);
  }
}

void HttpClient::fail_locally(Exchange& result, const error_code& error) {
  const char* reason = "no connection could be made";
  switch (error.value()) {
    case EADDRNOTAVAIL:
    case EADDRINUSE:
      result.local_errno = EADDRNOTAVAIL;
      reason = "no local port is free (net.ipv4.ip_local_port_range)";
      break;
    case EMFILE:
    case ENFILE:
      result.local_errno = error.value();
      reason = error.value() == EMFILE ? "no descriptor is free (ulimit -n)"
                                       : "no descriptor is free (fs.file-max)";
      break;
    default:
      break;
  }
  fail(result, ErrorKind::kConnect, reason);
}

asio::awaitable<void> HttpClient::read_response(bool head_only, ResponseHandler& handler,
                                                Exchange& result) {
  int interim_responses = 0;
  parser_->parser.emplace(head_, handler, head_only);
  for (;;) {
    auto [error, size] = co_await socket_.async_read_some(
        asio::buffer(buffer_.get() + end_, kBufferBytes - end_), kAwait);
    if (size > 0) {
      result.last_byte = clock_.steady_now();
      if (result.received_bytes == 0) result.first_byte = result.last_byte;
      result.received_bytes += size;
      end_ += size;
    }
    if (error) {
      end_of_stream(error, result);
      co_return;
    }
    while (parse_buffered(result)) {
      const bool failed = result.error != ErrorKind::kNone || result.given_up;
      if (failed || !parser_->parser->interim()) co_return;
      if (++interim_responses > kInterimResponsesMax) {
        fail(result, ErrorKind::kProtocol, "too many interim responses");
        co_return;
      }
      parser_->parser.emplace(head_, handler, head_only);
    }
  }
}

bool HttpClient::parse_buffered(Exchange& result) {
  Parser& parser = *parser_->parser;
  while (begin_ < end_) {
    error_code error;
    if (parser.is_header_done() && parser.chunked() && end_ - begin_ < kChunkEndBytes) break;
    begin_ += parser.put(asio::buffer(buffer_.get() + begin_, end_ - begin_), error);
    if (parser.given_up()) {
      result.given_up = true;
      close();
      return true;
    }
    if (error == http::error::need_more) break;
    if (error) {
      fail(result, ErrorKind::kProtocol, "the response is not HTTP/1");
      return true;
    }
    if (!parser.is_done()) continue;
    if (parser.interim()) return true;
    if (begin_ != end_) {
      fail(result, ErrorKind::kProtocol, "bytes came behind the end of the response");
      return true;
    }
    reusable_ = parser.keep_alive();
    return true;
  }
  // What is left is the beginning of something: keep it, at the front of the buffer.
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ < kBufferBytes) return false;
  fail(result, ErrorKind::kProtocol, "a line of the response is too long");
  return true;
}

void HttpClient::end_of_stream(const error_code& error, Exchange& result) {
  if (result.received_bytes == 0) {
    fail(result, ErrorKind::kReset, "the connection was closed before the response");
    return;
  }
  Parser& parser = *parser_->parser;
  if (error == asio::error::eof && parser.got_some()) {
    error_code parse_error;
    parser.put_eof(parse_error);
    // A body without length or chunks ends with the connection.
    if (!parse_error && parser.is_done()) {
      close();
      return;
    }
  }
  fail(result, ErrorKind::kTruncated, "the connection was closed within the response");
}

}  // namespace workload
