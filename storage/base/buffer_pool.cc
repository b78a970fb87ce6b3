#include "storage/base/buffer_pool.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <mutex>
#include <new>
#include <vector>

namespace storage {
namespace asio = boost::asio;
namespace {

constexpr std::align_val_t kAlignment{4096};

/// One acquire() that waits. The timer is touched on the executor only, the rest under the mutex.
struct Waiter {
  explicit Waiter(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  std::byte* granted = nullptr;
};

}  // namespace

/// Shared by the pool and its leases, so that a late lease still knows where to go.
struct BufferPool::State : std::enable_shared_from_this<State> {
  State(asio::any_io_executor executor_in, size_t buffer_size_bytes_in, uint64_t size_bytes_max)
      : executor(std::move(executor_in)),
        buffer_size_bytes(std::max<size_t>(buffer_size_bytes_in, 1)),
        count_max(std::max<uint64_t>(size_bytes_max / buffer_size_bytes, 1)) {}
  ~State() {
    for (std::byte* buffer : idle) ::operator delete(buffer, kAlignment);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// A buffer that may be lent now, or null. Needs the mutex.
  std::byte* take() {
    if (leased >= count_max || !waiters.empty() || closed) return nullptr;
    std::byte* buffer = nullptr;
    if (!idle.empty()) {
      buffer = idle.back();
      idle.pop_back();
    } else {
      buffer = static_cast<std::byte*>(::operator new(buffer_size_bytes, kAlignment, std::nothrow));
      if (buffer == nullptr) return nullptr;
      idle.reserve(leased + 1);  // So that give_back(), which may not fail, never allocates.
    }
    ++leased;
    return buffer;
  }

  /// Takes a buffer back, on any thread; the first waiter gets it.
  void give_back(std::byte* buffer) noexcept {
    std::shared_ptr<Waiter> next;
    {
      const std::lock_guard lock(mutex);
      if (waiters.empty()) {
        --leased;
        idle.push_back(buffer);
        return;
      }
      next = std::move(waiters.front());
      waiters.pop_front();
      next->granted = buffer;
    }
    asio::post(executor, [next = std::move(next)] { next->timer.cancel(); });
  }

  Space lease(std::byte* buffer) {
    std::shared_ptr<void> owner(
        buffer, [state = shared_from_this()](std::byte* returned) { state->give_back(returned); });
    return Space(std::span(buffer, buffer_size_bytes), std::move(owner));
  }

  const asio::any_io_executor executor;
  const size_t buffer_size_bytes;
  const uint64_t count_max;
  std::mutex mutex;
  std::vector<std::byte*> idle;
  std::deque<std::shared_ptr<Waiter>> waiters;
  uint64_t leased = 0;
  uint64_t waits_total = 0;
  uint64_t refusals_total = 0;
  bool closed = false;
};

namespace {

/// A place in the queue, left again however the waiting coroutine ends, its destruction included.
template <class State>
class PlaceInQueue {
 public:
  explicit PlaceInQueue(std::shared_ptr<State> state)
      : state_(std::move(state)), waiter_(std::make_shared<Waiter>(state_->executor)) {}
  ~PlaceInQueue() {
    std::byte* unused = take_granted();
    if (unused != nullptr) state_->give_back(unused);
  }
  PlaceInQueue(const PlaceInQueue&) = delete;
  PlaceInQueue& operator=(const PlaceInQueue&) = delete;

  /// Stands behind all others, or returns the buffer that came back just now.
  std::byte* enter() {
    const std::lock_guard lock(state_->mutex);
    std::byte* buffer = state_->take();
    if (buffer != nullptr) return buffer;
    ++state_->waits_total;
    state_->waiters.push_back(waiter_);
    return nullptr;
  }
  asio::steady_timer& timer() { return waiter_->timer; }

  /// Leaves the queue with what was granted, or null.
  std::byte* take_granted() {
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->waiters, waiter_);
    return std::exchange(waiter_->granted, nullptr);
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Waiter> waiter_;
};

}  // namespace

BufferPool::BufferPool(asio::any_io_executor executor, size_t buffer_size_bytes,
                       uint64_t size_bytes_max)
    : state_(std::make_shared<State>(std::move(executor), buffer_size_bytes, size_bytes_max)) {}

BufferPool::~BufferPool() {
  std::deque<std::shared_ptr<Waiter>> abandoned;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    abandoned.swap(state_->waiters);
  }
  for (const std::shared_ptr<Waiter>& waiter : abandoned) waiter->timer.cancel();
}

size_t BufferPool::buffer_size_bytes() const {
  return state_->buffer_size_bytes;
}

Task<Space> BufferPool::acquire(std::chrono::milliseconds wait_max) {
  const std::shared_ptr<State> state = state_;  // The pool may go while this waits.
  const asio::cancellation_state cancellation = co_await asio::this_coro::cancellation_state;
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return Error(Errc::kAborted);
  std::byte* buffer = nullptr;
  {
    const std::lock_guard lock(state->mutex);
    buffer = state->take();
  }
  if (buffer != nullptr) co_return state->lease(buffer);

  PlaceInQueue<State> place(state);
  buffer = place.enter();
  if (buffer != nullptr) co_return state->lease(buffer);
  place.timer().expires_after(wait_max);
  const auto [failure] = co_await place.timer().async_wait(asio::as_tuple(asio::use_awaitable));
  if (cancellation.cancelled() != asio::cancellation_type::none) co_return Error(Errc::kAborted);
  buffer = place.take_granted();
  if (buffer != nullptr) co_return state->lease(buffer);
  if (failure) co_return Error(Errc::kStopped);
  const std::lock_guard lock(state->mutex);
  ++state->refusals_total;
  co_return Error(Errc::kOverloaded);
}

Result<Space> BufferPool::try_acquire() {
  std::byte* buffer = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    buffer = state_->take();
    if (buffer == nullptr) ++state_->refusals_total;
  }
  if (buffer == nullptr) return Error(Errc::kOverloaded);
  return state_->lease(buffer);
}

void BufferPool::visit_counters(CounterVisitor& visitor) const {
  uint64_t leased = 0;
  uint64_t waits_total = 0;
  uint64_t refusals_total = 0;
  {
    const std::lock_guard lock(state_->mutex);
    leased = state_->leased;
    waits_total = state_->waits_total;
    refusals_total = state_->refusals_total;
  }
  visitor.gauge("buffer_pool_leased_bytes", "",
                static_cast<double>(leased * state_->buffer_size_bytes));
  visitor.counter("buffer_pool_waits_total", "", waits_total);
  visitor.counter("buffer_pool_refusals_total", "", refusals_total);
}

}  // namespace storage
