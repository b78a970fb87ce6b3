#include "workload/origin/object_responder.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>

#include "storage/base/await.h"
#include "workload/model/origin_abort.h"
#include "workload/origin/origin_connection.h"
#include "workload/origin/origin_worker.h"

namespace workload {
namespace {

namespace asio = boost::asio;
using storage::kAwait;

constexpr uint64_t kBytesBetweenYields = uint64_t{1} << 20;
constexpr size_t kChunkBytes = 16384;

constexpr auto kProgressTimeout = std::chrono::seconds(60);  // Between two steps of a body.
constexpr auto kStallTimeout = std::chrono::minutes(5);      // Of the fault of that name.

constexpr uint64_t kThinkPurpose = 0x7468696e6bULL;

bool would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

std::chrono::nanoseconds think_time(const OriginOptions& options, const OriginRequest& request) {
  if (options.think.always_zero()) return std::chrono::nanoseconds(0);
  const auto object = parse_object_path(request.target);
  if (!object) return std::chrono::nanoseconds(0);
  auto random = storage::Random(storage::mix64(object->seed) ^ object->id)
                    .fork(kThinkPurpose)
                    .fork(request.transaction.value_or(0));
  const auto think = options.think.sample_duration(random);
  return std::chrono::nanoseconds(
      static_cast<int64_t>(static_cast<double>(think.count()) / options.time_scale));
}

}  // namespace

ObjectResponder::ObjectResponder(const asio::any_io_executor& executor) : think_timer_(executor) {}

asio::awaitable<bool> ObjectResponder::respond(OriginConnection& connection,
                                               const OriginRequest& request, bool keep_alive) {
  co_await think(connection, request);
  if (!connection.socket().is_open()) co_return false;
  compose(connection, request, keep_alive);
  const bool sent = co_await answer(connection, request);
  if (!sent) {
    connection.worker().counts().responses_cut.add(1);
    co_return false;
  }
  connection.note_text_bytes(response_.text_size_bytes);
  if (breaks_off(request)) {
    connection.worker().counts().responses_broken_off.add(1);
    co_await connection.drain();
    co_return false;
  }
  if (fault_ != OriginFault::kNone) co_await misbehave_at_end(connection);
  if (!connection.socket().is_open()) co_return false;
  if (!keep_alive_) co_await connection.drain();
  co_return keep_alive_;
}

asio::awaitable<void> ObjectResponder::think(OriginConnection& connection,
                                             const OriginRequest& request) {
  const auto duration = think_time(connection.worker().options(), request);
  if (duration.count() <= 0) co_return;
  connection.close_at(storage::SteadyTime::max());
  think_timer_.expires_after(duration);
  co_await think_timer_.async_wait(kAwait);
}

void ObjectResponder::compose(OriginConnection& connection, const OriginRequest& request,
                              bool keep_alive) {
  OriginContext context;
  context.now_unix_s = connection.now_unix_s();
  context.keep_alive = keep_alive;
  fault_ = OriginFault::kNone;
  keep_alive_ = keep_alive;
  if (connection.worker().options().test_faults) {
    const auto fault = fault_of_target(request.target);
    if (!fault) {
      const bool head_only = request.method == OriginRequest::Method::kHead;
      answer_text(400, "There is no such fault.\n", head_only, context, response_);
      return;
    }
    fault_ = context.fault = *fault;
    const bool ends_by_close = fault_ == OriginFault::kNoLength ||
                               fault_ == OriginFault::kChunkedNoEnd ||
                               (fault_ == OriginFault::kChunked && !request.http_1_1);
    if (ends_by_close) context.keep_alive = false;
  }
  keep_alive_ = context.keep_alive;
  answer_request(request, context, response_);
}

bool ObjectResponder::breaks_off(const OriginRequest& request) const {
  return fault_ == OriginFault::kNone && request.break_off && response_.body_size_bytes > 0;
}

asio::awaitable<bool> ObjectResponder::answer(OriginConnection& connection,
                                              const OriginRequest& request) {
  connection.note_response(response_.status);
  if (breaks_off(request)) {
    co_return co_await send_object(
        connection, bytes_before_abort(*request.break_off, response_.body_size_bytes));
  }
  if (response_.chunked) co_return co_await send_chunked(connection);
  const bool half = fault_ == OriginFault::kTruncate || fault_ == OriginFault::kReset ||
                    fault_ == OriginFault::kStall;
  co_return co_await send_object(connection,
                                 half ? response_.body_size_bytes / 2 : response_.body_size_bytes);
}

asio::awaitable<bool> ObjectResponder::send_object(OriginConnection& connection,
                                                   uint64_t body_bytes) {
  const auto scratch = connection.worker().scratch();
  size_t head_sent = 0;
  uint64_t body_sent = 0;
  uint64_t until_yield = kBytesBetweenYields;
  connection.expect_progress_within(kProgressTimeout);
  while (head_sent < response_.head.size() || body_sent < body_bytes) {
    const auto piece = scratch.first(std::min<uint64_t>(scratch.size(), body_bytes - body_sent));
    fill_body(response_.object, response_.body_offset_bytes + body_sent, piece);
    const std::array<asio::const_buffer, 2> parts{
        asio::buffer(response_.head.data() + head_sent, response_.head.size() - head_sent),
        asio::buffer(piece.data(), piece.size())};
    boost::system::error_code error;
    const size_t written = connection.socket().write_some(parts, error);
    if (would_block(error)) {
      const auto [wait_error] =
          co_await connection.socket().async_wait(asio::ip::tcp::socket::wait_write, kAwait);
      if (wait_error) co_return false;
      connection.expect_progress_within(kProgressTimeout);
      continue;
    }
    if (error) co_return false;
    const size_t of_head = std::min(written, response_.head.size() - head_sent);
    head_sent += of_head;
    body_sent += written - of_head;
    connection.note_body_bytes(written - of_head);
    until_yield -= std::min<uint64_t>(until_yield, written);
    if (until_yield == 0) {  // A peer that drains fast must not keep the thread to itself.
      until_yield = kBytesBetweenYields;
      co_await asio::post(asio::use_awaitable);
    }
  }
  co_return true;
}

asio::awaitable<bool> ObjectResponder::send_chunked(OriginConnection& connection) {
  std::vector<std::byte> piece(kChunkBytes);
  std::string size_line;
  auto& socket = connection.socket();
  const auto [head_error, head_bytes] =
      co_await asio::async_write(socket, asio::buffer(response_.head), kAwait);
  if (head_error) co_return false;
  for (uint64_t sent = 0; sent < response_.body_size_bytes;) {
    connection.expect_progress_within(kProgressTimeout);
    piece.resize(std::min<uint64_t>(kChunkBytes, response_.body_size_bytes - sent));
    fill_body(response_.object, response_.body_offset_bytes + sent, piece);
    std::array<char, 16> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
    size_line.assign(digits.data(), end).append("\r\n");
    const std::array<asio::const_buffer, 3> parts{asio::buffer(size_line), asio::buffer(piece),
                                                  asio::buffer("\r\n", 2)};
    const auto [error, written] = co_await asio::async_write(socket, parts, kAwait);
    if (error) co_return false;
    sent += piece.size();
    connection.note_body_bytes(piece.size());
  }
  if (fault_ == OriginFault::kChunkedNoEnd) co_return true;
  static constexpr std::string_view kLastChunk = "0\r\n\r\n";
  const auto [error, written] =
      co_await asio::async_write(socket, asio::buffer(kLastChunk), kAwait);
  co_return !error;
}

asio::awaitable<void> ObjectResponder::misbehave_at_end(OriginConnection& connection) {
  if (fault_ == OriginFault::kTruncate) {
    co_await connection.drain();
    connection.close();
  } else if (fault_ == OriginFault::kReset) {
    boost::system::error_code ignored;  // Without the option the close is an orderly one.
    connection.socket().set_option(asio::socket_base::linger(true, 0), ignored);
    connection.close();
  } else if (fault_ == OriginFault::kStall) {
    connection.expect_progress_within(kStallTimeout);
    co_await connection.ignore_input();
    connection.close();
  }
}

}  // namespace workload
