#include "tests/support/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace testing_support {
namespace {

constexpr size_t kRequestBytesMax = 16 << 20;

struct BoundSocket {
  int fd = -1;
  uint16_t port = 0;
};

BoundSocket bind_loopback() {
  BoundSocket bound;
  bound.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bound.fd < 0 || bind(bound.fd, generic, size) != 0 ||
      getsockname(bound.fd, generic, &size) != 0) {
    throw std::runtime_error("no socket for a scripted server");
  }
  bound.port = ntohs(address.sin_port);
  return bound;
}

bool same_letter(char left, char right) {
  return std::tolower(static_cast<unsigned char>(left)) ==
         std::tolower(static_cast<unsigned char>(right));
}

/// Takes a whole request off the front of `buffer`; false where it is not there yet.
bool take_request(std::string& buffer, ScriptedRequest& request) {
  const size_t end = buffer.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  request.head = buffer.substr(0, end + 2);
  const size_t space = request.head.find(' ');
  const size_t second = request.head.find(' ', space + 1);
  request.method = request.head.substr(0, space);
  request.target = request.head.substr(space + 1, second - space - 1);
  const std::string length = request.field("Content-Length");
  const size_t body_size = length.empty() ? 0 : std::stoul(length);
  if (buffer.size() < end + 4 + body_size) return false;
  request.body = buffer.substr(end + 4, body_size);
  buffer.erase(0, end + 4 + body_size);
  return true;
}

}  // namespace

std::string ScriptedRequest::field(std::string_view name) const {
  for (size_t start = head.find("\r\n"); start != std::string::npos;) {
    start += 2;
    const size_t end = head.find("\r\n", start);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(head).substr(start, end - start);
    const size_t colon = line.find(':');
    if (colon == name.size() && std::equal(name.begin(), name.end(), line.begin(), same_letter)) {
      const size_t value = line.find_first_not_of(' ', colon + 1);
      return value == std::string_view::npos ? "" : std::string(line.substr(value));
    }
    start = end;
  }
  return {};
}

struct ScriptedServer::State {
  explicit State(Script script_in) : script(std::move(script_in)) {}

  void accept_all();
  void serve(int fd, uint64_t connection);
  /// False where the connection is over.
  bool answer(int fd, const ScriptedRequest& request);
  void wait_for_end(int fd) const;
  void close_connection(int fd);

  Script script;
  BoundSocket listener;
  std::mutex script_mutex;  ///< One call of the script at a time.
  mutable std::mutex mutex;
  std::set<int> open;
  std::vector<std::thread> threads;
  uint64_t requests = 0;
  uint64_t connections = 0;
  uint64_t under_way = 0;
  uint64_t under_way_max = 0;
  bool stopping = false;
  std::thread acceptor;
};

void ScriptedServer::State::accept_all() {
  for (;;) {
    const int fd = accept4(listener.fd, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex);
    if (stopping) {
      if (fd >= 0) close(fd);
      return;
    }
    if (fd < 0) continue;
    open.insert(fd);
    threads.emplace_back([this, fd, number = connections++] { serve(fd, number); });
  }
}

void ScriptedServer::State::serve(int fd, uint64_t connection) {
  std::string buffer;
  std::array<char, 16384> chunk{};
  bool alive = true;
  while (alive && buffer.size() < kRequestBytesMax) {
    ScriptedRequest request;
    request.connection = connection;
    if (take_request(buffer, request)) {
      alive = answer(fd, request);
      continue;
    }
    const ssize_t size = recv(fd, chunk.data(), chunk.size(), 0);
    if (size <= 0) break;
    buffer.append(chunk.data(), static_cast<size_t>(size));
  }
  close_connection(fd);
}

bool ScriptedServer::State::answer(int fd, const ScriptedRequest& request) {
  ScriptedRequest numbered = request;
  {
    const std::lock_guard lock(mutex);
    numbered.sequence = requests++;
    under_way_max = std::max(under_way_max, ++under_way);
  }
  ScriptedReply reply;
  {
    const std::lock_guard lock(script_mutex);
    reply = script(numbered);
  }
  {
    const std::lock_guard lock(mutex);
    --under_way;  // Before the answer, as the client may ask again as soon as it has it.
  }
  for (size_t sent = 0; sent < reply.bytes.size();) {
    const ssize_t size =
        send(fd, reply.bytes.data() + sent, reply.bytes.size() - sent, MSG_NOSIGNAL);
    if (size <= 0) return false;
    sent += static_cast<size_t>(size);
  }
  if (reply.then == ScriptedReply::Then::kStall) wait_for_end(fd);
  if (reply.then == ScriptedReply::Then::kReset) {
    const linger now{1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  return reply.then == ScriptedReply::Then::kKeep;
}

void ScriptedServer::State::wait_for_end(int fd) const {
  std::array<char, 4096> chunk{};
  while (recv(fd, chunk.data(), chunk.size(), 0) > 0) {
  }
}

void ScriptedServer::State::close_connection(int fd) {
  const std::lock_guard lock(mutex);
  open.erase(fd);
  close(fd);
}

ScriptedServer::ScriptedServer(Script script) : state_(std::make_unique<State>(std::move(script))) {
  state_->listener = bind_loopback();
  if (listen(state_->listener.fd, SOMAXCONN) != 0) {
    throw std::runtime_error("a scripted server cannot listen");
  }
  state_->acceptor = std::thread([state = state_.get()] { state->accept_all(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    for (int fd : state_->open) shutdown(fd, SHUT_RDWR);
  }
  shutdown(state_->listener.fd, SHUT_RDWR);
  state_->acceptor.join();
  close(state_->listener.fd);
  for (std::thread& thread : state_->threads) thread.join();
}

uint16_t ScriptedServer::port() const {
  return state_->listener.port;
}

uint64_t ScriptedServer::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

uint64_t ScriptedServer::connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->connections;
}

uint64_t ScriptedServer::requests_under_way_max() const {
  const std::lock_guard lock(state_->mutex);
  return state_->under_way_max;
}

uint16_t unused_port() {
  const BoundSocket bound = bind_loopback();
  close(bound.fd);
  return bound.port;
}

}  // namespace testing_support
