#include "workload/ab/run.h"

#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace workload::ab {

namespace {

constexpr int kProgressMs = 50;

double per_second(uint64_t count, double duration_s) {
  return duration_s > 0 ? static_cast<double>(count) / duration_s : 0;
}

/// Waits until the workers are through, and meanwhile tells the progress and minds the signals.
class Watch {
 public:
  Watch(RunState& state, const std::vector<std::unique_ptr<Worker>>& workers,
        const RunInputs& inputs)
      : state_(state), workers_(workers), inputs_(inputs), left_(workers.size()) {}

  /// From the workers' threads.
  void one_is_through() {
    const std::lock_guard lock(mutex_);
    --left_;
    changed_.notify_one();
  }

  const ProgressSamples& progress() const { return progress_; }

  /// True where a signal came. `begin_ns` is the run's, on the steady clock.
  bool until_all_are_through(uint64_t begin_ns) {
    bool interrupted = false;
    std::unique_lock lock(mutex_);
    while (left_ > 0) {
      changed_.wait_for(lock, std::chrono::milliseconds(kProgressMs), [&] { return left_ == 0; });
      lock.unlock();
      look(begin_ns);
      pollfd signals{inputs_.stop_fd, POLLIN, 0};
      if (inputs_.stop_fd >= 0 && ::poll(&signals, 1, 0) > 0) {
        interrupted = true;
        state_.stop = true;
      }
      lock.lock();
    }
    return interrupted;
  }

 private:
  void look(uint64_t begin_ns) {
    ProgressSample now;
    for (const auto& worker : workers_) {
      // In this order, so that there are never more good ones than complete ones.
      now.good += worker->good();
      now.complete += worker->complete();
    }
    now.elapsed_s = static_cast<double>(steady_now_ns() - begin_ns) / 1e9;
    progress_.add(now);
    if (inputs_.progress) inputs_.progress(now.complete);
  }

  RunState& state_;
  const std::vector<std::unique_ptr<Worker>>& workers_;
  const RunInputs& inputs_;
  ProgressSamples progress_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t left_;
};

}  // namespace

void ProgressSamples::add(const ProgressSample& sample, bool is_last) {
  if (is_last) {
    // What was looked at between the last request's end and the end of the threads is no part of
    // the run.
    while (!samples_.empty() && samples_.back().elapsed_s >= sample.elapsed_s) samples_.pop_back();
    return samples_.push_back(sample);
  }
  if (offered_++ % stride_ != stride_ - 1) return;
  if (samples_.size() == kSamplesMax) {
    // Keeps the second of each pair, which is the end of both.
    for (size_t i = 0; i < kSamplesMax / 2; ++i) samples_[i] = samples_[2 * i + 1];
    samples_.resize(kSamplesMax / 2);
    // This one ends the first half of what the next one that is kept stands for.
    offered_ = stride_;
    stride_ *= 2;
    return;
  }
  samples_.push_back(sample);
}

double Measurement::requests_per_s() const {
  return per_second(tally.complete, duration_s);
}

double Measurement::good_per_s() const {
  return per_second(tally.good, duration_s);
}

double Measurement::cpu_s() const {
  double sum = 0;
  for (const auto& thread : threads) sum += thread.cpu_s;
  return sum;
}

double Measurement::busiest_percent() const {
  double most = 0;
  for (const auto& thread : threads) {
    if (thread.wall_s <= 0) continue;
    most = std::max(most, 100 * (thread.cpu_s + thread.runnable_s) / thread.wall_s);
  }
  return std::min(most, 100.0);
}

Expected<Address> resolve(const std::string& what, const storage::HostPort& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (failure != 0 || found == nullptr) {
    return usage_problem(what + ": '" + host.host + "' has no address: " +
                         (failure != 0 ? gai_strerror(failure) : "none was found"));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  Address address;
  address.size = found->ai_addrlen;
  std::memcpy(&address.bytes, found->ai_addr, std::min<size_t>(address.size, sizeof address.bytes));
  return address;
}

Measurement run_once(const Options& options, const RunInputs& inputs) {
  RunState state(options, inputs.request, inputs.peer, inputs.local);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned i = 0; i < options.threads; ++i) {
    const unsigned share =
        options.concurrency / options.threads + (i < options.concurrency % options.threads ? 1 : 0);
    workers.push_back(std::make_unique<Worker>(state, share));
  }
  Watch watch(state, workers, inputs);
  const uint64_t begin_ns = steady_now_ns();
  state.steady_to_unix_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::system_clock::now().time_since_epoch())
                                .count() -
                            static_cast<int64_t>(begin_ns);
  if (options.time_limit) {
    state.deadline_ns = begin_ns + static_cast<uint64_t>(options.time_limit->count());
  }
  std::vector<std::thread> threads;
  for (auto& worker : workers) {
    threads.emplace_back([&state, &watch, &worker] {
      try {
        worker->run();
      } catch (const std::exception& problem) {
        state.break_off(problem.what());
      }
      watch.one_is_through();
    });
  }
  Measurement result;
  result.interrupted = watch.until_all_are_through(begin_ns);
  for (auto& thread : threads) thread.join();
  uint64_t end_ns = 0;
  for (const auto& worker : workers) {
    result.tally.merge(worker->tally());
    result.threads.push_back(worker->use());
    end_ns = std::max(end_ns, worker->last_end_ns());
  }
  // A run that time ended lasted that long, whenever its last response came.
  result.out_of_time = state.out_of_time && result.tally.complete < options.requests;
  if (result.out_of_time || result.interrupted) end_ns = steady_now_ns();
  if (end_ns > begin_ns) result.duration_s = static_cast<double>(end_ns - begin_ns) / 1e9;
  if (const auto* digest = state.first.digest()) {
    result.first_body = *digest;
    result.server = state.first.server();
  }
  result.broken_off = state.broken_off();
  ProgressSamples progress = watch.progress();
  progress.add({result.duration_s, result.tally.complete, result.tally.good}, true);
  result.progress = progress.samples();
  return result;
}

}  // namespace workload::ab
