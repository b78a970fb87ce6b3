// Waking coroutines that wait for something to change.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proxy {

/// A place to wait. Waiters look again at what they wait for after each wake-up: a wake-up says
/// only that something may have changed. Single-threaded on its executor; must outlive its waiters.
class Wakeup {
 public:
  explicit Wakeup(const boost::asio::any_io_executor& executor)
      : timer_(executor, boost::asio::steady_timer::time_point::max()) {}

  /// Returns at the next wake_all() or at a wake_one() in order of arrival.
  boost::asio::awaitable<void> wait() {
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }
  void wake_all() { timer_.cancel(); }
  void wake_one() { timer_.cancel_one(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace proxy
