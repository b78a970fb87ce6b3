#include "proxy/message_reader.h"
#include "storage/base/await.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

namespace proxy {

namespace {

/// Beast 1.81 aborts when it looks again at a last chunk of which fewer bytes have come than
/// `0 CRLF CRLF` has. No chunked body ends with fewer bytes left, so waiting for them loses
/// nothing.
constexpr size_t kChunkEndBytes = 5;

namespace asio = boost::asio;
using storage::kAwait;
/// Small heads and the first part of small bodies come in one read.
constexpr size_t kReadSizeBytes = 8 * 1024;

boost::system::error_code partial() {
  return http::make_error_code(http::error::partial_message);
}

}  // namespace

template <bool isRequest>
boost::system::error_code MessageReader<isRequest>::parse_head() {
  // Empty lines before a request are to be ignored (RFC 9112 2.2).
  while (isRequest && !started_ && buffer_.size() > 0) {
    const char first = *static_cast<const char*>(buffer_.data().data());
    if (first != '\r' && first != '\n') break;
    buffer_.consume(1);
  }
  if (buffer_.size() == 0) return http::make_error_code(http::error::need_more);
  started_ = true;
  boost::system::error_code error;
  while (!error && !parser_->is_header_done()) {
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
  }
  return error;
}

template <bool isRequest>
asio::awaitable<boost::system::error_code> MessageReader<isRequest>::read_head(
    HeadTimeouts timeouts) {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(header_size_bytes_max_));
  parser_->body_limit(boost::none);
  started_ = false;
  complete_ = true;
  framing_ = BodyFraming::kNone;
  deadline_.set_in(timeouts.first_byte);
  bool timing_whole = false;
  boost::system::error_code error = parse_head();
  while (error == http::error::need_more) {
    if (started_ && !timing_whole) {
      // One deadline for the whole head: a byte now and then does not prolong it.
      timing_whole = true;
      deadline_.set_in(timeouts.whole);
    }
    if (buffer_.size() >= buffer_.max_size()) {
      error = http::make_error_code(http::error::header_limit);
      break;
    }
    const size_t room = std::min(kReadSizeBytes, buffer_.max_size() - buffer_.size());
    auto [failure, done] = co_await socket_.async_read_some(buffer_.prepare(room), kAwait);
    if (failure) {
      error = deadline_.expired() ? asio::error::make_error_code(asio::error::timed_out) : failure;
      if (failure == asio::error::eof && started_) error = partial();
      break;
    }
    buffer_.commit(done);
    error = parse_head();
  }
  deadline_.clear();
  co_return error;
}

template <bool isRequest>
typename MessageReader<isRequest>::Head MessageReader<isRequest>::take_head() {
  return std::move(parser_->get().base());
}

template <bool isRequest>
void MessageReader<isRequest>::expect_body(MessageFraming framing) {
  framing_ = framing.framing;
  left_bytes_ = framing.framing == BodyFraming::kLength ? framing.length_bytes : 0;
  complete_ = framing_ == BodyFraming::kNone ||
              (framing_ == BodyFraming::kLength && left_bytes_ == 0) ||
              (framing_ == BodyFraming::kChunked && parser_->is_done());
}

template <bool isRequest>
IoResult MessageReader<isRequest>::take_buffered(std::span<std::byte> out) {
  if (framing_ == BodyFraming::kChunked) return take_chunked(out);
  size_t wanted = out.size();
  if (framing_ == BodyFraming::kLength) {
    wanted = static_cast<size_t>(std::min<uint64_t>(wanted, left_bytes_));
  }
  const size_t taken = std::min(wanted, buffer_.size());
  if (taken == 0) return IoResult(asio::error::would_block, 0);
  std::memcpy(out.data(), buffer_.data().data(), taken);
  buffer_.consume(taken);
  return finish_read(IoResult({}, taken));
}

template <bool isRequest>
IoResult MessageReader<isRequest>::take_chunked(std::span<std::byte> out) {
  auto& body = parser_->get().body();
  body.data = out.data();
  body.size = out.size();
  body.more = true;
  boost::system::error_code error;
  while (!parser_->is_done() && buffer_.size() >= kChunkEndBytes && body.size > 0) {
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error) break;
  }
  const size_t taken = out.size() - body.size;
  if (parser_->is_done()) {
    complete_ = true;
    return IoResult({}, taken);
  }
  if (taken > 0) return IoResult({}, taken);
  if (!error || error == http::error::need_more || error == http::error::need_buffer) {
    error = asio::error::would_block;
  }
  return IoResult(error, 0);
}

template <bool isRequest>
IoResult MessageReader<isRequest>::finish_read(IoResult got) {
  if (framing_ == BodyFraming::kLength && !got.error) {
    left_bytes_ -= got.size_bytes;
    complete_ = left_bytes_ == 0;
  }
  if (got.error == asio::error::eof) {
    if (framing_ == BodyFraming::kClose) {
      complete_ = true;
      return IoResult();
    }
    got.error = partial();
  }
  return got;
}

template <bool isRequest>
asio::awaitable<boost::system::error_code> MessageReader<isRequest>::fill_buffer(
    std::chrono::nanoseconds timeout) {
  if (buffer_.size() >= buffer_.max_size()) {
    co_return http::make_error_code(http::error::buffer_overflow);
  }
  const size_t room = std::min(kReadSizeBytes, buffer_.max_size() - buffer_.size());
  const auto target = buffer_.prepare(room);
  const IoResult got = co_await read_some(
      socket_, std::span<std::byte>(static_cast<std::byte*>(target.data()), target.size()),
      deadline_, timeout);
  buffer_.commit(got.size_bytes);
  co_return got.error == asio::error::eof ? partial() : got.error;
}

template <bool isRequest>
asio::awaitable<IoResult> MessageReader<isRequest>::read_body(std::span<std::byte> out,
                                                              std::chrono::nanoseconds timeout) {
  while (!complete_) {
    const IoResult ready = take_buffered(out);
    if (ready.error != asio::error::would_block) co_return ready;
    if (framing_ == BodyFraming::kChunked) {
      const auto error = co_await fill_buffer(timeout);
      if (error) co_return IoResult(error, 0);
      continue;
    }
    if (framing_ == BodyFraming::kLength && out.size() > left_bytes_) {
      out = out.first(static_cast<size_t>(left_bytes_));
    }
    const IoResult got = co_await read_some(socket_, out, deadline_, timeout);
    co_return finish_read(got);
  }
  co_return IoResult();
}

template <bool isRequest>
IoResult MessageReader<isRequest>::try_read_body(std::span<std::byte> out) {
  if (complete_) return IoResult();
  const IoResult ready = take_buffered(out);
  if (ready.error != asio::error::would_block || framing_ == BodyFraming::kChunked) return ready;
  if (framing_ == BodyFraming::kLength && out.size() > left_bytes_) {
    out = out.first(static_cast<size_t>(left_bytes_));
  }
  boost::system::error_code error;
  const size_t done = socket_.read_some(asio::buffer(out.data(), out.size()), error);
  if (error == asio::error::try_again) error = asio::error::would_block;
  return finish_read(IoResult(error, done));
}

template class MessageReader<true>;
template class MessageReader<false>;

}  // namespace proxy
