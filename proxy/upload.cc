#include "proxy/upload.h"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <string>

#include "proxy/head_text.h"

namespace proxy {

namespace asio = boost::asio;

Upload::Upload(Services& services, ClientConnection& client, RequestReader& reader,
               OriginExchange& exchange, const MessageFraming& framing)
    : services_(services),
      client_(client),
      reader_(reader),
      exchange_(exchange),
      chunked_(framing.framing == BodyFraming::kChunked),
      ended_(services.executor) {}

void Upload::start() {
  running_ = true;
  asio::co_spawn(services_.executor, run(), [this](const std::exception_ptr& failure) {
    running_ = false;
    // Only want of memory can bring us here; the origin must not wait for the rest.
    if (failure) exchange_.cancel();
    ended_.wake_all();
  });
}

asio::awaitable<bool> Upload::send_part(std::span<const std::byte> part) {
  std::string line;
  if (chunked_) append_chunk_line(part.size(), line);
  std::array<asio::const_buffer, 3> buffers{
      asio::buffer(line), asio::buffer(part.data(), part.size()), asio::const_buffer()};
  if (chunked_) buffers[2] = asio::const_buffer("\r\n", 2);
  co_return co_await exchange_.send_body(buffers) == OriginFailure::kNone;
}

asio::awaitable<void> Upload::run() {
  auto space = co_await services_.buffers.acquire();
  if (!space) {
    exchange_.cancel();
    co_return;
  }
  while (!stopping_) {
    const IoResult got = co_await reader_.read_body(space->bytes(), services_.config.timeouts.body);
    if (stopping_) co_return;
    if (got.error) {
      // The origin must not take a part for the whole: its connection is broken.
      client_error_ = got.error;
      exchange_.cancel();
      co_return;
    }
    if (got.size_bytes == 0) break;
    // An origin that takes no more may still have answered: that is for whoever reads it.
    if (!co_await send_part(space->bytes().first(got.size_bytes))) co_return;
  }
  if (chunked_) {
    std::array<asio::const_buffer, 1> end{asio::const_buffer("0\r\n\r\n", 5)};
    if (co_await exchange_.send_body(end) != OriginFailure::kNone) co_return;
  }
  complete_ = !stopping_;
}

asio::awaitable<void> Upload::finish() {
  if (running_) {
    stopping_ = true;
    exchange_.cancel();
    boost::system::error_code ignored;  // A socket that is closed already has nothing to cancel.
    client_.socket().cancel(ignored);
  }
  while (running_) co_await ended_.wait();
}

}  // namespace proxy
