// Waiting for something in a store to change.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>

#include "storage/base/task.h"

namespace storage {

/// Wakes all who wait, each of whom then looks again. One executor.
class CossSignal {
 public:
  explicit CossSignal(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  CossSignal(const CossSignal&) = delete;
  CossSignal& operator=(const CossSignal&) = delete;

  void notify() {
    for (boost::asio::steady_timer* waiter : waiters_) waiter->cancel();
  }

  /// Waits for the next notify(), or until `deadline`: kOverloaded. kAborted when cancelled.
  Task<void> wait(boost::asio::steady_timer::time_point deadline) {
    const boost::asio::cancellation_state cancellation =
        co_await boost::asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != boost::asio::cancellation_type::none) {
      co_return Error(Errc::kAborted);
    }
    const Place place(*this, deadline);
    const auto [ended] =
        co_await place.timer->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (cancellation.cancelled() != boost::asio::cancellation_type::none) {
      co_return Error(Errc::kAborted);
    }
    if (!ended) co_return Error(Errc::kOverloaded);
    co_return Result<void>();
  }

  /// Waits for the next notify() however long it takes, cancelled or not.
  boost::asio::awaitable<void> wait_for_ever() {
    const Place place(*this, boost::asio::steady_timer::time_point::max());
    static_cast<void>(
        co_await place.timer->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
  }

 private:
  // A place among those who wait, left again however the coroutine ends.
  struct Place {
    Place(CossSignal& signal_in, boost::asio::steady_timer::time_point deadline)
        : signal(signal_in),
          timer(std::make_unique<boost::asio::steady_timer>(signal.executor_, deadline)),
          at(signal.waiters_.insert(signal.waiters_.end(), timer.get())) {}
    ~Place() { signal.waiters_.erase(at); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    CossSignal& signal;
    std::unique_ptr<boost::asio::steady_timer> timer;
    std::list<boost::asio::steady_timer*>::iterator at;
  };

  boost::asio::any_io_executor executor_;
  std::list<boost::asio::steady_timer*> waiters_;
};

}  // namespace storage
