#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "workload/ab/socket_watch.h"

namespace workload::ab {

namespace {

constexpr size_t kWatchedEventsMax = 256;

}  // namespace

/// Edge-triggered, so that a socket is registered once and never again.
struct SocketWatch::State {
  int epoll = -1;
  std::array<epoll_event, kWatchedEventsMax> events{};
};

SocketWatch::SocketWatch() : state_(std::make_unique<State>()) {}

SocketWatch::~SocketWatch() {
  if (state_->epoll >= 0) ::close(state_->epoll);
}

bool SocketWatch::open() {
  state_->epoll = epoll_create1(EPOLL_CLOEXEC);
  return state_->epoll >= 0;
}

bool SocketWatch::add(int fd, void* subject) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = subject;
  return epoll_ctl(state_->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void SocketWatch::await_writable(int) {}

void SocketWatch::forget(int) {}

int SocketWatch::wait(std::span<SocketEvent> events, int wait_max_ms) {
  const auto most = static_cast<int>(std::min(events.size(), state_->events.size()));
  const int count = epoll_wait(state_->epoll, state_->events.data(), most, wait_max_ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& seen = state_->events[static_cast<size_t>(i)];
    SocketEvent& event = events[static_cast<size_t>(i)];
    event.subject = seen.data.ptr;
    event.readable = (seen.events & EPOLLIN) != 0;
    event.writable = (seen.events & EPOLLOUT) != 0;
    event.ended = (seen.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    event.failed = (seen.events & (EPOLLHUP | EPOLLERR)) != 0;
  }
  return count;
}

}  // namespace workload::ab
