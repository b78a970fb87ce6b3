#include "storage/io/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace storage {

namespace {

constexpr unsigned kUrgentInARow = 7;
constexpr size_t kWriteLimitFactor = 2;

bool urgent(const IoCall& call) {
  return call.kind == IoKind::kRead || call.kind == IoKind::kStat ||
         (call.kind == IoKind::kOpen && call.mode != OpenMode::kCreateExclusive);
}

bool creates(const IoCall& call) {
  return call.kind == IoKind::kOpen && call.mode == OpenMode::kCreateExclusive;
}

// Signals are for the thread of the event loop.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class ThreadPool final : public CallQueue {
 public:
  explicit ThreadPool(const ThreadPoolOptions& options) : options_(options) {}
  ~ThreadPool() override { stop_now(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::string start();

  const char* name() const override { return "thread_pool"; }
  bool takes(const IoCall&) const override { return true; }
  bool transfers_whole() const override { return true; }
  void submit(std::shared_ptr<IoCall> call) override;
  void cancel(const std::shared_ptr<IoCall>& call) override;
  bool refuses(const IoCall& call) override;
  bool overloaded() const override;
  void stop() override { stop_now(); }
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  void work();
  void stop_now();
  bool empty() const { return urgent_.empty() && others_.empty(); }
  size_t depth() const { return urgent_.size() + others_.size() - closes_waiting_; }
  std::shared_ptr<IoCall> take();
  void end(IoCall& call, const CallOutcome& outcome);

  const ThreadPoolOptions options_;
  std::vector<std::thread> threads_;

  mutable std::mutex mutex_;  // for all below
  std::condition_variable work_waits_;
  std::deque<std::shared_ptr<IoCall>> urgent_;
  std::deque<std::shared_ptr<IoCall>> others_;
  size_t closes_waiting_ = 0;  // they free something, and are not counted as load
  unsigned urgent_in_a_row_ = 0;
  bool stopping_ = false;
  size_t running_ = 0;
  size_t depth_max_ = 0;
  uint64_t refused_opens_ = 0;
  uint64_t refused_writes_ = 0;
  uint64_t close_errors_ = 0;
};

std::string ThreadPool::start() {
  const SignalsBlocked for_the_threads;
  for (unsigned i = 0; i < options_.threads; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& failure) {
      return "engine thread_pool: only " + std::to_string(i) + " of " +
             std::to_string(options_.threads) + " threads could be started (" +
             failure.code().message() + "): give a lower threads=, or raise ulimit -u";
    }
  }
  return "";
}

void ThreadPool::work() {
  pthread_setname_np(pthread_self(), "cacheoff-io");
  for (;;) {
    std::shared_ptr<IoCall> call;
    {
      std::unique_lock lock(mutex_);
      work_waits_.wait(lock, [this] { return stopping_ || !empty(); });
      if (empty()) return;
      call = take();
      call->state = IoCall::State::kRunning;
      ++running_;
    }
    const CallOutcome outcome = perform(*call);
    {
      const std::lock_guard lock(mutex_);
      call->state = IoCall::State::kEnded;
      --running_;
    }
    end(*call, outcome);
  }
}

std::shared_ptr<IoCall> ThreadPool::take() {
  const bool first = !urgent_.empty() && (others_.empty() || urgent_in_a_row_ < kUrgentInARow);
  auto& queue = first ? urgent_ : others_;
  urgent_in_a_row_ = first ? urgent_in_a_row_ + 1 : 0;
  std::shared_ptr<IoCall> call = std::move(queue.front());
  queue.pop_front();
  if (call->kind == IoKind::kClose) --closes_waiting_;
  return call;
}

void ThreadPool::end(IoCall& call, const CallOutcome& outcome) {
  const std::unique_ptr<CallWaiter> waiter = end_call(call, outcome);
  if (waiter != nullptr) {
    waiter->deliver_later(outcome);
  } else if (outcome.system_errno != 0) {
    const std::lock_guard lock(mutex_);
    ++close_errors_;
  }
}

void ThreadPool::submit(std::shared_ptr<IoCall> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      if (call->kind == IoKind::kClose) ++closes_waiting_;
      auto& queue = urgent(*call) ? urgent_ : others_;
      queue.push_back(std::move(call));
      depth_max_ = std::max(depth_max_, depth());
      work_waits_.notify_one();
      return;
    }
  }
  const bool closes = call->kind == IoKind::kClose;
  end(*call, closes ? perform(*call) : CallOutcome(ECANCELED, 0));
}

void ThreadPool::cancel(const std::shared_ptr<IoCall>& call) {
  if (call->kind == IoKind::kClose) return;
  {
    const std::lock_guard lock(mutex_);
    if (call->state != IoCall::State::kWaiting) return;
    auto& queue = urgent(*call) ? urgent_ : others_;
    if (std::erase(queue, call) == 0) return;
    call->state = IoCall::State::kEnded;
  }
  end(*call, CallOutcome(ECANCELED, 0));
}

bool ThreadPool::refuses(const IoCall& call) {
  const std::lock_guard lock(mutex_);
  if (creates(call) && depth() >= options_.queue_limit) {
    ++refused_opens_;
    return true;
  }
  if (call.kind == IoKind::kWrite && depth() >= kWriteLimitFactor * options_.queue_limit) {
    ++refused_writes_;
    return true;
  }
  return false;
}

bool ThreadPool::overloaded() const {
  const std::lock_guard lock(mutex_);
  return depth() >= options_.queue_limit;
}

void ThreadPool::stop_now() {
  std::vector<std::shared_ptr<IoCall>> given_up;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    const auto give_up = [&given_up](const std::shared_ptr<IoCall>& call) {
      if (call->kind == IoKind::kClose) return false;
      call->state = IoCall::State::kEnded;
      given_up.push_back(call);
      return true;
    };
    std::erase_if(urgent_, give_up);
    std::erase_if(others_, give_up);
  }
  work_waits_.notify_all();
  for (const auto& call : given_up) end(*call, CallOutcome(ECANCELED, 0));
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadPool::visit_counters(CounterVisitor& visitor) const {
  const std::lock_guard lock(mutex_);
  visitor.gauge("io_queue_depth", "", static_cast<double>(depth()));
  visitor.gauge("io_queue_depth_max", "", static_cast<double>(depth_max_));
  visitor.gauge("io_running", "", static_cast<double>(running_));
  visitor.gauge("io_threads", "", static_cast<double>(options_.threads));
  visitor.counter("io_refusals_total", "operation=\"open\"", refused_opens_);
  visitor.counter("io_refusals_total", "operation=\"write\"", refused_writes_);
  visitor.counter("io_background_close_errors_total", "", close_errors_);
}

}  // namespace

std::shared_ptr<CallQueue> make_thread_pool(const ThreadPoolOptions& options, std::string& error) {
  auto pool = std::make_shared<ThreadPool>(options);
  error = pool->start();
  if (!error.empty()) return nullptr;
  return pool;
}

}  // namespace storage
