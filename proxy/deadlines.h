// Deadlines of many connections, watched by one timer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <functional>

#include "storage/base/clock.h"

namespace proxy {

/// Setting and clearing a deadline costs a few pointer writes and no system call, because nearly
/// all of them are cleared before they pass; the price is that they are noticed up to one `tick`
/// late. Single-threaded on its executor.
class Deadlines {
 public:
  Deadlines(const boost::asio::any_io_executor& executor, const storage::Clock& clock,
            std::chrono::milliseconds tick);
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

  /// One deadline, unset at first. Must be gone before its Deadlines.
  class Entry : public Hook {
   public:
    /// `expire` runs once each time the deadline passes. It may cancel operations and wake
    /// waiters, but must not itself set, clear or destroy any Entry.
    Entry(Deadlines& owner, std::function<void()> expire)
        : owner_(owner), expire_(std::move(expire)) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    /// Sets the deadline anew, and forgets that an earlier one has passed.
    void set_in(std::chrono::nanoseconds duration);
    void clear() {
      if (is_linked()) unlink();
    }
    /// Whether it passed since it was last set.
    bool expired() const { return expired_; }

   private:
    friend class Deadlines;
    Deadlines& owner_;
    std::function<void()> expire_;
    storage::SteadyTime at_{};
    bool expired_ = false;
  };

  /// Watches until stop().
  boost::asio::awaitable<void> run();
  void stop();

  /// Expires what has passed by now.
  void sweep();

 private:
  const storage::Clock& clock_;
  std::chrono::milliseconds tick_;
  boost::asio::steady_timer timer_;
  bool stopped_ = false;
  boost::intrusive::list<Entry, boost::intrusive::constant_time_size<false>> entries_;
};

}  // namespace proxy
