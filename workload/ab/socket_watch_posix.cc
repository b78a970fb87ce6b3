#include <poll.h>

#include <vector>

#include "workload/ab/socket_watch.h"

namespace workload::ab {

/// Entries of sockets that are gone have the descriptor -1, which poll() passes over.
struct SocketWatch::State {
  struct Place {
    size_t entry = 0;
    void* subject = nullptr;
  };
  std::vector<pollfd> entries;
  std::vector<Place> places;  ///< By descriptor.
  std::vector<size_t> free_entries;
  size_t next = 0;  ///< Where the last wait() had to stop.
};

SocketWatch::SocketWatch() : state_(std::make_unique<State>()) {}

SocketWatch::~SocketWatch() = default;

bool SocketWatch::open() {
  return true;
}

bool SocketWatch::add(int fd, void* subject) {
  const auto number = static_cast<size_t>(fd);
  if (state_->places.size() <= number) state_->places.resize(number + 1);
  if (state_->free_entries.empty()) {
    state_->free_entries.push_back(state_->entries.size());
    state_->entries.emplace_back();
  }
  const size_t entry = state_->free_entries.back();
  state_->free_entries.pop_back();
  state_->entries[entry] = {fd, POLLIN | POLLOUT, 0};
  state_->places[number] = {entry, subject};
  return true;
}

void SocketWatch::await_writable(int fd) {
  state_->entries[state_->places[static_cast<size_t>(fd)].entry].events = POLLIN | POLLOUT;
}

void SocketWatch::forget(int fd) {
  const auto number = static_cast<size_t>(fd);
  if (number >= state_->places.size() || state_->places[number].subject == nullptr) return;
  state_->entries[state_->places[number].entry].fd = -1;
  state_->free_entries.push_back(state_->places[number].entry);
  state_->places[number] = {};
}

int SocketWatch::wait(std::span<SocketEvent> events, int wait_max_ms) {
  auto& entries = state_->entries;
  const int ready = ::poll(entries.data(), static_cast<nfds_t>(entries.size()), wait_max_ms);
  if (ready <= 0) return ready;
  size_t count = 0;
  // From where the last one stopped, so that each has its turn.
  for (size_t i = 0; i < entries.size() && count < events.size(); ++i) {
    state_->next = (state_->next + 1) % entries.size();
    pollfd& entry = entries[state_->next];
    if (entry.fd < 0 || entry.revents == 0) continue;
    SocketEvent& event = events[count++];
    event.subject = state_->places[static_cast<size_t>(entry.fd)].subject;
    event.readable = (entry.revents & POLLIN) != 0;
    event.writable = (entry.revents & POLLOUT) != 0;
    event.failed = (entry.revents & (POLLHUP | POLLERR)) != 0;
    event.ended = event.failed;
    // It stays writable, which is no news.
    if (event.writable) entry.events = POLLIN;
  }
  return static_cast<int>(count);
}

}  // namespace workload::ab
