// The processes of a run as threads of one, with a network between them that takes its time.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "workload/ensemble/ensemble.h"

namespace testing_support {

/// Carries messages between the ranks, in order, each `delay` late. Safe to call from any thread.
class FakeNetwork {
 public:
  explicit FakeNetwork(size_t ranks, std::chrono::nanoseconds delay = std::chrono::nanoseconds(0))
      : delay_(delay), inboxes_(ranks), silenced_(ranks, false) {}

  size_t ranks() const { return inboxes_.size(); }
  /// From now on nothing of that rank arrives.
  void silence(size_t rank) {
    const std::lock_guard lock(mutex_);
    silenced_[rank] = true;
  }
  bool abandoned() const { return abandoned_; }
  /// Messages that were sent so far.
  uint64_t sent() const { return sent_; }

  void send(size_t from, size_t to, std::string bytes) {
    const std::lock_guard lock(mutex_);
    ++sent_;
    if (silenced_[from]) return;
    inboxes_[to].push_back({std::chrono::steady_clock::now() + delay_, {from, std::move(bytes)}});
  }

  std::optional<workload::EnsembleMessage> receive(size_t rank) {
    const std::lock_guard lock(mutex_);
    auto& inbox = inboxes_[rank];
    if (inbox.empty() || inbox.front().at > std::chrono::steady_clock::now()) return std::nullopt;
    auto message = std::move(inbox.front().message);
    inbox.pop_front();
    return message;
  }

  void abandon() { abandoned_ = true; }

 private:
  struct OnItsWay {
    std::chrono::steady_clock::time_point at;
    workload::EnsembleMessage message;
  };
  std::chrono::nanoseconds delay_;
  std::mutex mutex_;
  std::vector<std::deque<OnItsWay>> inboxes_;
  std::vector<bool> silenced_;
  std::atomic<bool> abandoned_{false};
  std::atomic<uint64_t> sent_{0};
};

/// One rank's end of it.
class FakeEnsemble final : public workload::Ensemble {
 public:
  FakeEnsemble(FakeNetwork& network, size_t rank) : network_(network), rank_(rank) {}

  size_t rank() const override { return rank_; }
  size_t size() const override { return network_.ranks(); }
  std::string host() const override { return "host" + std::to_string(rank_); }
  void send(size_t to, std::string bytes) override { network_.send(rank_, to, std::move(bytes)); }
  std::optional<workload::EnsembleMessage> receive() override { return network_.receive(rank_); }
  bool flush(std::chrono::nanoseconds) override { return true; }
  void abandon(int) override { network_.abandon(); }

 private:
  FakeNetwork& network_;
  size_t rank_;
};

}  // namespace testing_support
