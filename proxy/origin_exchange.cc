#include "proxy/origin_exchange.h"

#include <array>

#include "proxy/head_text.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
/// An origin that sends more interim responses than this is not going to answer.
constexpr int kInterimResponsesMax = 16;

}  // namespace

OriginExchange::OriginExchange(OriginPool& pool, storage::HostPort origin,
                               const ExchangeOptions& options)
    : pool_(pool), origin_(std::move(origin)), options_(options) {}

OriginExchange::~OriginExchange() = default;

OriginFailure OriginExchange::failure_of(const boost::system::error_code& error) {
  if (!error) return OriginFailure::kNone;
  if (error == asio::error::timed_out) return OriginFailure::kTimeout;
  if (error == asio::error::operation_aborted) return OriginFailure::kCancelled;
  if (error == http::error::partial_message || error == http::error::end_of_stream ||
      error.category() == asio::error::get_system_category() ||
      error.category() == asio::error::get_misc_category()) {
    return OriginFailure::kClosed;
  }
  return OriginFailure::kInvalid;
}

asio::awaitable<OriginFailure> OriginExchange::fetch(const RequestHead& request) {
  OriginFailure failure = co_await connect(false);
  if (failure != OriginFailure::kNone) co_return failure;
  const bool reused = connection_->reused();
  failure = co_await send_head(request);
  if (failure == OriginFailure::kNone) failure = co_await read_head();
  if (failure == OriginFailure::kClosed && reused && !response_started() &&
      is_idempotent(request.method())) {
    failure = co_await connect(true);
    if (failure == OriginFailure::kNone) failure = co_await send_head(request);
    if (failure == OriginFailure::kNone) failure = co_await read_head();
  }
  co_return failure;
}

asio::awaitable<OriginFailure> OriginExchange::connect(bool fresh) {
  reader_.reset();
  connection_.reset();
  auto got = co_await pool_.acquire(origin_, fresh);
  if (cancelled_) co_return OriginFailure::kCancelled;
  if (got.failure != OriginFailure::kNone) co_return got.failure;
  connection_ = std::move(got.connection);
  address_ = connection_->address();
  reader_.emplace(connection_->socket(), connection_->buffer(), connection_->read_deadline(),
                  options_.header_size_bytes_max);
  co_return OriginFailure::kNone;
}

asio::awaitable<OriginFailure> OriginExchange::send_head(const RequestHead& request) {
  method_ = request.method();
  std::string text;
  append_head(request, text);
  std::array<asio::const_buffer, 1> buffers{asio::buffer(text)};
  co_return co_await send_body(buffers);
}

asio::awaitable<OriginFailure> OriginExchange::send_body(std::span<asio::const_buffer> buffers) {
  if (cancelled_) co_return OriginFailure::kCancelled;
  const IoResult sent = co_await write_all(
      connection_->socket(), buffers, connection_->write_deadline(), options_.progress_timeout);
  co_return cancelled_ ? OriginFailure::kCancelled : failure_of(sent.error);
}

asio::awaitable<OriginFailure> OriginExchange::read_head() {
  for (int interim = 0; interim <= kInterimResponsesMax; ++interim) {
    if (cancelled_) co_return OriginFailure::kCancelled;
    const HeadTimeouts timeouts(options_.progress_timeout, options_.progress_timeout);
    const auto error = co_await reader_->read_head(timeouts);
    if (cancelled_) co_return OriginFailure::kCancelled;
    if (error) co_return failure_of(error);
    head_ = reader_->take_head();
    if (head_.result_int() >= 100 && head_.result_int() < 200) {
      // The proxy never asks for an upgrade, so a switch of protocols is nonsense.
      if (head_.result_int() == 101) co_return OriginFailure::kInvalid;
      continue;
    }
    const auto framing = check_response(head_, method_);
    if (!framing) co_return OriginFailure::kInvalid;
    framing_ = *framing;
    reader_->expect_body(framing_);
    may_keep_ = may_keep_ && is_end_proved() && wants_keep_alive(head_, head_.version());
    finish_if_complete();
    co_return OriginFailure::kNone;
  }
  co_return OriginFailure::kInvalid;
}

std::optional<uint64_t> OriginExchange::body_size_bytes() const {
  if (framing_.framing == BodyFraming::kNone) return 0;
  if (framing_.framing == BodyFraming::kLength) return framing_.length_bytes;
  return std::nullopt;
}

asio::awaitable<IoResult> OriginExchange::read_body(std::span<std::byte> out) {
  if (cancelled_) co_return IoResult(asio::error::operation_aborted, 0);
  if (!connection_) co_return IoResult();
  IoResult got = co_await reader_->read_body(out, options_.progress_timeout);
  if (cancelled_) got = IoResult(asio::error::operation_aborted, 0);
  if (!got.error) finish_if_complete();
  co_return got;
}

IoResult OriginExchange::try_read_body(std::span<std::byte> out) {
  if (cancelled_) return IoResult(asio::error::operation_aborted, 0);
  if (!connection_) return IoResult();
  const IoResult got = reader_->try_read_body(out);
  if (!got.error) finish_if_complete();
  return got;
}

void OriginExchange::finish_if_complete() {
  if (!reader_->is_body_complete()) return;
  reader_.reset();
  if (may_keep_) {
    pool_.keep(std::move(connection_));
  } else {
    connection_.reset();
  }
}

void OriginExchange::cancel() {
  cancelled_ = true;
  if (!connection_) return;
  boost::system::error_code ignored;  // It is thrown away whatever happens.
  connection_->socket().close(ignored);
}

}  // namespace proxy
