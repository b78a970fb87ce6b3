#include "proxy/client_connection.h"

namespace proxy {

namespace {

void cancel_socket(Socket& socket) {
  boost::system::error_code ignored;  // A socket that is closed already has nothing to cancel.
  socket.cancel(ignored);
}

std::string address_of(const Socket& socket) {
  boost::system::error_code gone;
  const auto endpoint = socket.remote_endpoint(gone);
  return gone ? std::string() : endpoint.address().to_string();
}

}  // namespace

ClientConnection::ClientConnection(Services& services, Socket socket)
    : send_timeout_(services.config.timeouts.send),
      socket_(std::move(socket)),
      address_(address_of(socket_)),
      buffer_(services.config.limits.header_size_bytes_max + 16 * 1024),
      read_deadline_(services.deadlines, [this] { cancel_socket(socket_); }),
      write_deadline_(services.deadlines, [this] { cancel_socket(socket_); }) {
  prepare_socket(socket_);
}

boost::asio::awaitable<bool> ClientConnection::send(std::span<boost::asio::const_buffer> buffers) {
  if (broken_) co_return false;
  const IoResult sent = co_await write_all(socket_, buffers, write_deadline_, send_timeout_);
  sent_bytes_ += sent.size_bytes;
  if (sent.error) broken_ = true;
  co_return !broken_;
}

void ClientConnection::give_up() {
  broken_ = true;
  boost::system::error_code ignored;  // It is thrown away whatever happens.
  socket_.close(ignored);
}

}  // namespace proxy
