#include "workload/origin/origin_connection.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <cstring>

#include "storage/base/await.h"
#include "workload/model/origin_abort.h"
#include "workload/origin/origin_status.h"
#include "workload/origin/origin_worker.h"

namespace workload {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

using storage::kAwait;

constexpr size_t kBufferBytesMin = 2048;
constexpr size_t kBufferBytesMax = 32768;  // More than a header may have.
// Beast 1.81 aborts when it looks again at a last chunk of fewer bytes than `0 CRLF CRLF`.
constexpr size_t kChunkEndBytes = 5;
constexpr uint64_t kBytesBetweenYields = uint64_t{1} << 20;
constexpr size_t kChunkBytes = 16384;
constexpr uint64_t kDrainBytesMax = uint64_t{1} << 20;

constexpr auto kHeaderTimeout = std::chrono::seconds(30);    // All of a header.
constexpr auto kProgressTimeout = std::chrono::seconds(60);  // Between two steps of a body.
constexpr auto kStallTimeout = std::chrono::minutes(5);      // Of the fault of that name.
constexpr auto kDrainTimeout = std::chrono::seconds(2);

constexpr uint64_t kThinkPurpose = 0x7468696e6bULL;
constexpr uint64_t kLimitPurpose = 0x6c696d6974ULL;

uint64_t requests_of_connection(const OriginOptions& options, uint64_t number) {
  if (!options.requests_per_connection) return UINT64_MAX;
  auto random = storage::Random(number).fork(kLimitPurpose);
  return std::max<uint64_t>(1, options.requests_per_connection->sample_count(random));
}

bool would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

OriginConnection::OriginConnection(OriginWorker& worker, asio::ip::tcp::socket socket,
                                   uint64_t number)
    : worker_(worker),
      socket_(std::move(socket)),
      think_timer_(socket_.get_executor()),
      deadline_(storage::SteadyTime::max()),
      number_(number),
      requests_left_(requests_of_connection(worker.options(), number)),
      buffer_(kBufferBytesMin) {}

void OriginConnection::close() {
  boost::system::error_code ignored;  // A socket that cannot be closed is gone already.
  socket_.close(ignored);
  think_timer_.cancel();
}

void OriginConnection::expect_progress_within(std::chrono::nanoseconds duration) {
  deadline_ = worker_.clock().steady_now() + duration;
}

asio::awaitable<void> OriginConnection::run() {
  worker_.enter(*this);
  worker_.counts().connections_opened.add(1);
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  if (!error) socket_.set_option(asio::ip::tcp::no_delay(true), error);
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
  for (;;) {
    const Read read = co_await read_request();
    if (read == Read::kEnd) co_return;
    if (read != Read::kRequest) {
      co_await refuse(read);
      co_return;
    }
    worker_.counts().request_body_bytes.add(request_.body_bytes);
    co_await think();
    if (!socket_.is_open()) co_return;
    --requests_left_;
    compose(parser_->keep_alive() && requests_left_ > 0);
    const bool sent = co_await answer();
    if (!sent) {
      worker_.counts().responses_cut.add(1);
      co_return;
    }
    if (breaks_off()) {
      worker_.counts().responses_broken_off.add(1);
      co_await drain();
      co_return;
    }
    if (fault_ != OriginFault::kNone) co_await misbehave_at_end();
    if (!socket_.is_open()) co_return;
    if (!keep_alive_) {
      co_await drain();
      co_return;
    }
  }
}

asio::awaitable<OriginConnection::Read> OriginConnection::read_request() {
  parser_.emplace(request_, worker_.options().request_body_bytes_max);
  expect_progress_within(worker_.options().idle_timeout);
  bool started = false;
  bool in_body = false;
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
        if (!parser_->is_done() && buffered_ == 0) co_await continue_if_expected();
      }
      if (parser_->is_done()) co_return Read::kRequest;
      if (!error && used > 0) continue;
      if (buffered_ == kBufferBytesMax) co_return Read::kHeaderTooLarge;
    }
    if (in_body) expect_progress_within(kProgressTimeout);
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

std::chrono::nanoseconds OriginConnection::think_time() const {
  const auto& options = worker_.options();
  if (options.think.always_zero()) return std::chrono::nanoseconds(0);
  const auto object = parse_object_path(request_.target);
  if (!object) return std::chrono::nanoseconds(0);
  auto random = storage::Random(storage::mix64(object->seed) ^ object->id)
                    .fork(kThinkPurpose)
                    .fork(request_.transaction.value_or(0));
  const auto think = options.think.sample_duration(random);
  return std::chrono::nanoseconds(
      static_cast<int64_t>(static_cast<double>(think.count()) / options.time_scale));
}

asio::awaitable<void> OriginConnection::think() {
  const auto duration = think_time();
  if (duration.count() <= 0) co_return;
  deadline_ = storage::SteadyTime::max();
  think_timer_.expires_after(duration);
  co_await think_timer_.async_wait(kAwait);
}

void OriginConnection::compose(bool keep_alive) {
  OriginContext context;
  context.now_unix_s = std::chrono::duration_cast<std::chrono::seconds>(
                           worker_.clock().wall_now().time_since_epoch())
                           .count();
  context.keep_alive = keep_alive;
  fault_ = OriginFault::kNone;
  keep_alive_ = keep_alive;
  const std::string_view path =
      std::string_view(request_.target).substr(0, request_.target.find('?'));
  const bool head_only = request_.method == OriginRequest::Method::kHead;
  if (path == kOriginStatusPath) {
    answer_text(200, "application/json", origin_status_json(worker_.statistics()), head_only,
                context, response_);
    return;
  }
  if (worker_.options().test_faults) {
    const auto fault = fault_of_target(request_.target);
    if (!fault) {
      answer_text(400, "text/plain", "There is no such fault.\n", head_only, context, response_);
      return;
    }
    fault_ = context.fault = *fault;
    const bool ends_by_close = fault_ == OriginFault::kNoLength ||
                               fault_ == OriginFault::kChunkedNoEnd ||
                               (fault_ == OriginFault::kChunked && !request_.http_1_1);
    if (ends_by_close) context.keep_alive = false;
  }
  keep_alive_ = context.keep_alive;
  answer_request(request_, context, response_);
}

void OriginConnection::count_response() {
  worker_.counts().requests.add(1);
  worker_.counts().by_status[response_.status].add(1);
}

bool OriginConnection::breaks_off() const {
  return fault_ == OriginFault::kNone && request_.break_off && response_.body_size_bytes > 0;
}

asio::awaitable<bool> OriginConnection::answer() {
  count_response();
  if (breaks_off()) {
    co_return co_await send_object(
        bytes_before_abort(*request_.break_off, response_.body_size_bytes));
  }
  if (response_.chunked) co_return co_await send_chunked();
  const bool half = fault_ == OriginFault::kTruncate || fault_ == OriginFault::kReset ||
                    fault_ == OriginFault::kStall;
  co_return co_await send_object(half ? response_.body_size_bytes / 2 : response_.body_size_bytes);
}

asio::awaitable<bool> OriginConnection::send_object(uint64_t body_bytes) {
  size_t head_sent = 0;
  uint64_t body_sent = 0;
  uint64_t until_yield = kBytesBetweenYields;
  expect_progress_within(kProgressTimeout);
  while (head_sent < response_.head.size() || body_sent < body_bytes) {
    const auto piece = worker_.scratch().first(
        std::min<uint64_t>(worker_.scratch().size(), body_bytes - body_sent));
    fill_body(response_.object, response_.body_offset_bytes + body_sent, piece);
    const std::array<asio::const_buffer, 2> parts{
        asio::buffer(response_.head.data() + head_sent, response_.head.size() - head_sent),
        asio::buffer(piece.data(), piece.size())};
    boost::system::error_code error;
    const size_t written = socket_.write_some(parts, error);
    if (would_block(error)) {
      const auto [wait_error] =
          co_await socket_.async_wait(asio::ip::tcp::socket::wait_write, kAwait);
      if (wait_error) co_return false;
      expect_progress_within(kProgressTimeout);
      continue;
    }
    if (error) co_return false;
    const size_t of_head = std::min(written, response_.head.size() - head_sent);
    head_sent += of_head;
    body_sent += written - of_head;
    worker_.counts().response_body_bytes.add(written - of_head);
    until_yield -= std::min<uint64_t>(until_yield, written);
    if (until_yield == 0) {  // A peer that drains fast must not keep the thread to itself.
      until_yield = kBytesBetweenYields;
      co_await asio::post(asio::use_awaitable);
    }
  }
  co_return true;
}

asio::awaitable<bool> OriginConnection::send_chunked() {
  std::vector<std::byte> piece(kChunkBytes);
  std::string size_line;
  const auto [head_error, head_bytes] =
      co_await asio::async_write(socket_, asio::buffer(response_.head), kAwait);
  if (head_error) co_return false;
  for (uint64_t sent = 0; sent < response_.body_size_bytes;) {
    expect_progress_within(kProgressTimeout);
    piece.resize(std::min<uint64_t>(kChunkBytes, response_.body_size_bytes - sent));
    fill_body(response_.object, response_.body_offset_bytes + sent, piece);
    std::array<char, 16> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
    size_line.assign(digits.data(), end).append("\r\n");
    const std::array<asio::const_buffer, 3> parts{asio::buffer(size_line), asio::buffer(piece),
                                                  asio::buffer("\r\n", 2)};
    const auto [error, written] = co_await asio::async_write(socket_, parts, kAwait);
    if (error) co_return false;
    sent += piece.size();
    worker_.counts().response_body_bytes.add(piece.size());
  }
  if (fault_ == OriginFault::kChunkedNoEnd) co_return true;
  static constexpr std::string_view kLastChunk = "0\r\n\r\n";
  const auto [error, written] =
      co_await asio::async_write(socket_, asio::buffer(kLastChunk), kAwait);
  co_return !error;
}

asio::awaitable<void> OriginConnection::misbehave_at_end() {
  if (fault_ == OriginFault::kTruncate) {
    co_await drain();
    close();
  } else if (fault_ == OriginFault::kReset) {
    boost::system::error_code ignored;  // Without the option the close is an orderly one.
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  } else if (fault_ == OriginFault::kStall) {
    expect_progress_within(kStallTimeout);
    bool open = true;
    while (open) {
      buffered_ = 0;
      open = co_await receive_more();
    }
    close();
  }
}

asio::awaitable<void> OriginConnection::refuse(Read reason) {
  OriginContext context;
  context.keep_alive = false;
  context.now_unix_s = std::chrono::duration_cast<std::chrono::seconds>(
                           worker_.clock().wall_now().time_since_epoch())
                           .count();
  fault_ = OriginFault::kNone;
  const bool head_only = request_.method == OriginRequest::Method::kHead;
  const auto answer_with = [&](unsigned status, std::string_view text) {
    answer_text(status, "text/plain", text, head_only, context, response_);
  };
  if (reason == Read::kBodyTooLarge) {
    answer_with(413, "The body is too large.\n");
  } else if (reason == Read::kHeaderTooLarge) {
    answer_with(431, "The header is too large.\n");
  } else {
    answer_with(400, "This is no HTTP request.\n");
  }
  const bool sent = co_await answer();
  if (sent) co_await drain();
}

/// Closes our direction and lets the peer read what was sent: closing at once with unread bytes
/// in the socket would reset the connection under it (RFC 9112 section 9.6).
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

}  // namespace workload
