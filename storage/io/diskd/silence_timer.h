// Notices that somebody who should say something has said nothing for too long.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace storage {

/// Ticks a few times in each `timeout` while it heeds, and only then keeps a context from ending.
/// Counting ticks instead of comparing times forgives a process that was itself stopped. All calls
/// on the executor. Once it is destroyed, or ignores, there is no tick any more.
class SilenceTimer {
 public:
  /// So many ticks in a row without a word are the timeout.
  static constexpr uint64_t kTicksOfTimeout = 4;

  /// `on_tick` must not destroy the timer.
  SilenceTimer(const boost::asio::any_io_executor& executor, std::chrono::milliseconds timeout,
               std::function<void()> on_tick);
  ~SilenceTimer();
  SilenceTimer(const SilenceTimer&) = delete;
  SilenceTimer& operator=(const SilenceTimer&) = delete;

  /// Begins anew, unless it heeds already.
  void heed();
  void ignore();

  /// Something was said.
  void broken();
  /// How long nothing has been said, by the ticks.
  std::chrono::nanoseconds duration() const;
  /// Ticks so far.
  uint64_t tick() const;

 private:
  struct State;
  static void await_tick(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace storage
