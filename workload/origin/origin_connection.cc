#include "workload/origin/origin_connection.h"

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <utility>

#include "storage/base/await.h"
#include "workload/origin/object_responder.h"
#include "workload/origin/origin_status.h"
#include "workload/origin/origin_worker.h"
#include "workload/origin/pace.h"
#include "workload/origin/response_head.h"
#include "workload/origin/static/static_responder.h"

namespace workload {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using storage::kAwait;

constexpr size_t kBufferBytesMin = 2048;
constexpr size_t kBufferBytesMax = 32768;  // More than a header may have.
// Beast 1.81 aborts when it looks again at a last chunk of fewer bytes than `0 CRLF CRLF`.
constexpr size_t kChunkEndBytes = 5;
constexpr uint64_t kDrainBytesMax = uint64_t{1} << 20;

constexpr auto kHeaderTimeout = std::chrono::seconds(30);  // All of a header.
constexpr auto kTextTimeout = std::chrono::seconds(60);    // All of a small text.
constexpr auto kDrainTimeout = std::chrono::seconds(2);

constexpr uint64_t kLimitPurpose = 0x6c696d6974ULL;

uint64_t requests_of_connection(const OriginOptions& options, uint64_t number) {
  if (!options.requests_per_connection) return UINT64_MAX;
  auto random = storage::Random(number).fork(kLimitPurpose);
  return std::max<uint64_t>(1, options.requests_per_connection->sample_count(random));
}

std::unique_ptr<OriginResponder> responder_for(const OriginOptions& options,
                                               const asio::any_io_executor& executor) {
  if (options.files) return std::make_unique<StaticResponder>(*options.files);
  return std::make_unique<ObjectResponder>(executor);
}

}  // namespace

OriginConnection::OriginConnection(OriginWorker& worker, asio::ip::tcp::socket socket,
                                   uint64_t number)
    : worker_(worker),
      socket_(std::move(socket)),
      deadline_(storage::SteadyTime::max()),
      requests_left_(requests_of_connection(worker.options(), number)),
      buffer_(kBufferBytesMin),
      responder_(responder_for(worker.options(), socket_.get_executor())) {}

void OriginConnection::close() {
  boost::system::error_code ignored;  // A socket that cannot be closed is gone already.
  socket_.close(ignored);
  responder_->stop_waiting();
}

storage::SteadyTime OriginConnection::steady_now() const {
  return worker_.clock().steady_now();
}

int64_t OriginConnection::now_unix_s() const {
  return std::chrono::floor<std::chrono::seconds>(worker_.clock().wall_now().time_since_epoch())
      .count();
}

void OriginConnection::expect_progress_within(std::chrono::nanoseconds duration) {
  deadline_ = steady_now() + duration;
}

void OriginConnection::note_response(unsigned status) {
  worker_.counts().requests.add(1);
  worker_.counts().by_status[status].add(1);
  status_ = status;
}

void OriginConnection::note_body_bytes(uint64_t bytes) {
  worker_.counts().response_body_bytes.add(bytes);
  body_bytes_ += bytes;
}

asio::awaitable<void> OriginConnection::run() {
  worker_.enter(*this);
  worker_.counts().connections_opened.add(1);
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  if (worker_.access_log() != nullptr && !error) {
    const auto peer = socket_.remote_endpoint(error);
    if (!error) peer_address_ = peer.address().to_string();
  }
  try {
    if (!error) co_await serve_requests();
  } catch (...) {
    worker_.leave(*this);
    worker_.counts().connections_closed.add(1);
    close();
    throw;
  }
  worker_.leave(*this);
  worker_.counts().connections_closed.add(1);
  close();
}

asio::awaitable<void> OriginConnection::serve_requests() {
  bool goes_on = true;
  while (goes_on && socket_.is_open()) {
    const Read read = co_await read_request();
    if (read == Read::kEnd) co_return;
    status_ = 0;
    body_bytes_ = 0;
    if (read != Read::kRequest) {
      co_await refuse(read);
      log_response();
      co_return;
    }
    worker_.counts().request_body_bytes.add(request_.body_bytes);
    --requests_left_;
    goes_on = co_await respond(parser_->keep_alive() && requests_left_ > 0);
    log_response();
  }
}

asio::awaitable<bool> OriginConnection::respond(bool keep_alive) {
  const std::string_view path =
      std::string_view(request_.target).substr(0, request_.target.find('?'));
  if (path == kOriginStatusPath) return send_status(keep_alive);
  return responder_->respond(*this, request_, keep_alive);
}

asio::awaitable<OriginConnection::Read> OriginConnection::read_request() {
  parser_.emplace(request_, worker_.options().request_body_bytes_max);
  expect_progress_within(worker_.options().idle_timeout);
  bool started = false;
  bool in_body = false;
  storage::SteadyTime body_begun;
  for (;;) {
    const bool in_chunks = parser_->is_header_done() && parser_->chunked();
    if (buffered_ >= (in_chunks ? kChunkEndBytes : 1)) {
      // The deadline of a header is for all of it: a byte now and then does not extend it.
      if (!std::exchange(started, true)) expect_progress_within(kHeaderTimeout);
      boost::system::error_code error;
      const size_t used = parser_->put(asio::buffer(buffer_.data(), buffered_), error);
      buffered_ -= used;
      std::memmove(buffer_.data(), buffer_.data() + used, buffered_);
      if (error == http::error::body_limit) co_return Read::kBodyTooLarge;
      if (error == http::error::header_limit) co_return Read::kHeaderTooLarge;
      if (error && error != http::error::need_more) co_return Read::kMalformed;
      if (parser_->is_header_done() && !std::exchange(in_body, true)) {
        if (request_.http_1_1 && !request_.host_given) co_return Read::kMalformed;
        body_begun = steady_now();
        if (!parser_->is_done() && buffered_ == 0) co_await continue_if_expected();
      }
      if (parser_->is_done()) co_return Read::kRequest;
      if (!error && used > 0) continue;
      if (buffered_ == kBufferBytesMax) co_return Read::kHeaderTooLarge;
    }
    if (in_body) deadline_ = body_deadline(body_begun, steady_now(), request_.body_bytes);
    const bool received = co_await receive_more();
    if (!received) co_return Read::kEnd;
  }
}

asio::awaitable<bool> OriginConnection::receive_more() {
  if (buffered_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), kBufferBytesMax));
  const auto [error, received] = co_await socket_.async_read_some(
      asio::buffer(buffer_.data() + buffered_, buffer_.size() - buffered_), kAwait);
  if (error) co_return false;
  buffered_ += received;
  co_return true;
}

asio::awaitable<void> OriginConnection::continue_if_expected() {
  if (!request_.expects_continue || !request_.http_1_1) co_return;
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  // A peer that is gone is noticed by the read that follows.
  co_await asio::async_write(socket_, asio::buffer(kContinue), kAwait);
}

asio::awaitable<bool> OriginConnection::send(std::string_view text) {
  expect_progress_within(kTextTimeout);
  const auto [error, written] = co_await asio::async_write(socket_, asio::buffer(text), kAwait);
  if (error) worker_.counts().responses_cut.add(1);
  co_return !error;
}

asio::awaitable<bool> OriginConnection::send_status(bool keep_alive) {
  const std::string json = origin_status_json(worker_.statistics());
  TextResponse response;
  response.status = 200;
  response.media_type = "application/json";
  response.text = json;
  response.head_only = request_.method == OriginRequest::Method::kHead;
  std::string text;
  write_text_response(response, now_unix_s(), keep_alive, text);
  note_response(response.status);
  const bool sent = co_await send(text);
  if (sent && !response.head_only) note_text_bytes(json.size());
  if (sent && !keep_alive) co_await drain();
  co_return sent&& keep_alive;
}

asio::awaitable<void> OriginConnection::refuse(Read reason) {
  TextResponse response;
  response.status = 400;
  response.text = "This is no HTTP request.\n";
  if (reason == Read::kBodyTooLarge) {
    response.status = 413;
    response.text = "The body is too large.\n";
  } else if (reason == Read::kHeaderTooLarge) {
    response.status = 431;
    response.text = "The header is too large.\n";
  }
  response.head_only = request_.method == OriginRequest::Method::kHead;
  std::string text;
  write_text_response(response, now_unix_s(), false, text);
  note_response(response.status);
  const bool sent = co_await send(text);
  if (sent && !response.head_only) note_text_bytes(response.text.size());
  if (sent) co_await drain();
}

asio::awaitable<void> OriginConnection::drain() {
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) co_return;
  expect_progress_within(kDrainTimeout);
  for (uint64_t drained = 0; drained < kDrainBytesMax; drained += buffered_) {
    buffered_ = 0;
    const bool received = co_await receive_more();
    if (!received) co_return;
  }
}

asio::awaitable<void> OriginConnection::ignore_input() {
  bool open = true;
  while (open) {
    buffered_ = 0;
    open = co_await receive_more();
  }
}

void OriginConnection::log_response() {
  if (worker_.access_log() == nullptr || status_ == 0) return;
  AccessLogEntry entry;
  entry.client_address = peer_address_;
  entry.unix_s = now_unix_s();
  entry.method = request_.method_text;
  entry.target = request_.target;
  entry.http_1_1 = request_.http_1_1;
  entry.status = status_;
  entry.body_bytes = body_bytes_;
  worker_.access_log()->add(entry);
}

}  // namespace workload
