// Waiting for many sockets at once: where systems differ.
#pragma once

#include <memory>
#include <span>

namespace workload::ab {

/// What has happened on a socket.
struct SocketEvent {
  void* subject = nullptr;  ///< As given to add().
  bool readable = false;
  bool writable = false;
  bool ended = false;   ///< The peer sends nothing more, or it has failed.
  bool failed = false;  ///< The connection is broken, or both sides have ended.
};

/// Watches connections. What can be read is told of at least when more has come, what can be
/// written once after add() and once after each await_writable(), or more often. One thread.
class SocketWatch {
 public:
  SocketWatch();
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  /// Comes first. False, with errno, on failure.
  bool open();
  /// False, with errno, on failure. `subject` stands for the socket in its events.
  bool add(int fd, void* subject);
  /// A write found no room.
  void await_writable(int fd);
  /// Must come before the socket is closed.
  void forget(int fd);
  /// Waits for at most `wait_max_ms`; how many of `events` are filled, or -1 and errno.
  int wait(std::span<SocketEvent> events, int wait_max_ms);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workload::ab
