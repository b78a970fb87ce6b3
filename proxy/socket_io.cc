#include "proxy/socket_io.h"
#include "storage/base/await.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

namespace proxy {

namespace {

namespace asio = boost::asio;
using storage::kAwait;

bool would_block(const boost::system::error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

/// Drops `done` bytes from the front of `buffers`.
std::span<asio::const_buffer> drop_front(std::span<asio::const_buffer> buffers, size_t done) {
  while (!buffers.empty() && done >= buffers.front().size()) {
    done -= buffers.front().size();
    buffers = buffers.subspan(1);
  }
  if (!buffers.empty()) buffers.front() += done;
  return buffers;
}

}  // namespace

asio::awaitable<IoResult> write_all(Socket& socket, std::span<asio::const_buffer> buffers,
                                    Deadlines::Entry& deadline, std::chrono::nanoseconds timeout) {
  size_t written = 0;
  buffers = drop_front(buffers, 0);
  while (!buffers.empty()) {
    boost::system::error_code error;
    size_t done = socket.write_some(buffers, error);
    if (would_block(error)) {
      deadline.set_in(timeout);
      std::tie(error, done) = co_await socket.async_write_some(buffers, kAwait);
      deadline.clear();
      if (error && deadline.expired()) error = asio::error::timed_out;
    }
    written += done;
    if (error) co_return IoResult(error, written);
    buffers = drop_front(buffers, done);
  }
  co_return IoResult({}, written);
}

asio::awaitable<IoResult> read_some(Socket& socket, std::span<std::byte> buffer,
                                    Deadlines::Entry& deadline, std::chrono::nanoseconds timeout) {
  const asio::mutable_buffer target(buffer.data(), buffer.size());
  boost::system::error_code error;
  size_t done = socket.read_some(target, error);
  if (would_block(error)) {
    deadline.set_in(timeout);
    std::tie(error, done) = co_await socket.async_read_some(target, kAwait);
    deadline.clear();
    if (error && deadline.expired()) error = asio::error::timed_out;
  }
  co_return IoResult(error, done);
}

bool is_open_and_silent(Socket& socket) {
  char byte = 0;
  const auto got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void prepare_socket(Socket& socket) {
  boost::system::error_code ignored;  // A socket that failed meanwhile fails at its next use.
  socket.non_blocking(true, ignored);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
}

void reset_socket(Socket& socket) {
  boost::system::error_code ignored;  // It is thrown away whatever happens.
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

asio::awaitable<void> close_after_answer(Socket& socket, Deadlines::Entry& deadline) {
  constexpr size_t kDrainedBytesMax = 256 * 1024;
  constexpr std::chrono::seconds kDrainTimeMax(2);
  boost::system::error_code ignored;  // It is thrown away whatever happens.
  socket.shutdown(Socket::shutdown_send, ignored);
  std::array<std::byte, 4096> waste{};
  deadline.set_in(kDrainTimeMax);
  for (size_t drained = 0; drained < kDrainedBytesMax && !deadline.expired();) {
    auto [error, done] = co_await socket.async_read_some(asio::buffer(waste), kAwait);
    if (error) break;
    drained += done;
  }
  deadline.clear();
  socket.close(ignored);
}

}  // namespace proxy
