#include "tests/support/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace testing_support {

namespace {

constexpr int kHangGuardMs = 120'000;

bool wait_for(int descriptor, short events, int wait_ms) {
  pollfd watched{descriptor, events, 0};
  for (;;) {
    const int ready = ::poll(&watched, 1, wait_ms);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) throw std::runtime_error("poll failed");
  }
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

std::string ReceivedMessage::start_line() const {
  return head.substr(0, head.find("\r\n"));
}

int ReceivedMessage::status() const {
  if (head.compare(0, 5, "HTTP/") != 0 || head.size() < 12) return 0;
  return std::stoi(head.substr(9, 3));
}

bool ReceivedMessage::has_field(std::string_view name) const {
  for (size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
    if (strncasecmp(head.c_str() + at + 2, name.data(), name.size()) == 0 &&
        head[at + 2 + name.size()] == ':') {
      return true;
    }
  }
  return false;
}

std::string ReceivedMessage::field(std::string_view name) const {
  for (size_t at = head.find("\r\n"); at != std::string::npos; at = head.find("\r\n", at + 2)) {
    const size_t start = at + 2 + name.size();
    if (strncasecmp(head.c_str() + at + 2, name.data(), name.size()) != 0) continue;
    if (head[start] != ':') continue;
    const size_t value = head.find_first_not_of(' ', start + 1);
    return head.substr(value, head.find("\r\n", value) - value);
  }
  return {};
}

Peer Peer::connect(uint16_t port, int receive_buffer_bytes) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw std::runtime_error("socket failed");
  Peer peer(descriptor);
  if (receive_buffer_bytes > 0) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof receive_buffer_bytes);
  }
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error("connect failed");
  }
  return peer;
}

Peer::~Peer() {
  close();
}

Peer::Peer(Peer&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      ending_(other.ending_) {}

Peer& Peer::operator=(Peer&& other) noexcept {
  close();
  descriptor_ = std::exchange(other.descriptor_, -1);
  buffer_ = std::move(other.buffer_);
  ending_ = other.ending_;
  return *this;
}

bool Peer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for(descriptor_, POLLOUT, kHangGuardMs)) throw std::runtime_error("send hangs");
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

/// Waits for more bytes; false at the end of the connection.
bool Peer::fill() {
  if (ending_ != Ending::kStillOpen) return false;
  if (!wait_for(descriptor_, POLLIN, kHangGuardMs)) throw std::runtime_error("read hangs");
  std::array<char, 64 * 1024> part{};
  const auto got = ::recv(descriptor_, part.data(), part.size(), 0);
  if (got > 0) {
    buffer_.append(part.data(), static_cast<size_t>(got));
    return true;
  }
  ending_ = got == 0 ? Ending::kClosed : Ending::kReset;
  return false;
}

ReceivedMessage Peer::read_head() {
  ReceivedMessage message;
  size_t end = buffer_.find("\r\n\r\n");
  while (end == std::string::npos && fill()) end = buffer_.find("\r\n\r\n");
  if (end == std::string::npos) return message;
  message.head = buffer_.substr(0, end) + "\r\n";
  buffer_.erase(0, end + 4);
  return message;
}

ReceivedMessage Peer::read_message(bool bodiless) {
  ReceivedMessage message = read_head();
  if (message.head.empty()) return message;
  const int status = message.status();
  message.whole = true;
  if (bodiless || status == 204 || status == 304 || (status >= 100 && status < 200)) return message;
  if (message.field("Transfer-Encoding") == "chunked") {
    for (;;) {
      size_t line_end = buffer_.find("\r\n");
      while (line_end == std::string::npos && fill()) line_end = buffer_.find("\r\n");
      message.whole = line_end != std::string::npos;
      if (!message.whole) return message;
      const size_t size = std::stoul(buffer_.substr(0, line_end), nullptr, 16);
      buffer_.erase(0, line_end + 2);
      const std::string part = read_bytes(size + 2);
      message.whole = part.size() == size + 2;
      message.body += part.substr(0, size);
      if (!message.whole || size == 0) return message;
    }
  }
  if (message.has_field("Content-Length")) {
    const size_t size = std::stoul(message.field("Content-Length"));
    message.body = read_bytes(size);
    message.whole = message.body.size() == size;
  } else if (status != 0) {
    Ending ending = Ending::kStillOpen;
    message.body = read_to_end(ending);
    message.whole = ending == Ending::kClosed;
  }
  return message;
}

std::string Peer::read_bytes(size_t size_bytes) {
  while (buffer_.size() < size_bytes && fill()) {
  }
  const std::string bytes = buffer_.substr(0, size_bytes);
  buffer_.erase(0, size_bytes);
  return bytes;
}

std::string Peer::read_to_end(Ending& ending) {
  while (fill()) {
  }
  ending = ending_;
  return std::exchange(buffer_, {});
}

Ending Peer::wait_for_end() {
  while (fill()) buffer_.clear();
  return ending_;
}

bool Peer::has_input(int wait_ms) {
  return !buffer_.empty() || wait_for(descriptor_, POLLIN, wait_ms);
}

void Peer::half_close() {
  ::shutdown(descriptor_, SHUT_WR);
}

void Peer::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void Peer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

FakeOrigin::FakeOrigin() {
  descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (descriptor_ < 0 ||
      ::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor_, 128) != 0 ||
      ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("the fake origin cannot listen");
  }
  port_ = ntohs(address.sin_port);
}

FakeOrigin::~FakeOrigin() {
  ::close(descriptor_);
}

Peer FakeOrigin::accept() {
  if (!wait_for(descriptor_, POLLIN, kHangGuardMs)) throw std::runtime_error("nobody connects");
  const int accepted = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) throw std::runtime_error("accept failed");
  const int on = 1;
  ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return Peer(accepted);
}

bool FakeOrigin::has_connection(int wait_ms) {
  return wait_for(descriptor_, POLLIN, wait_ms);
}

}  // namespace testing_support
