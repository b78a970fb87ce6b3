// Coroutines run from a test's ordinary code.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace testing_support {

/// Runs handlers of `io` until `done()`; throws std::runtime_error after `hang_guard`, which is
/// only there so that a hang becomes a failure.
template <class Predicate>
void run_until(boost::asio::io_context& io, Predicate done,
               std::chrono::seconds hang_guard = std::chrono::seconds(120)) {
  const auto deadline = std::chrono::steady_clock::now() + hang_guard;
  io.restart();
  // Work that comes from other threads may still be on its way while the context is idle.
  auto work = boost::asio::make_work_guard(io);
  while (!done()) {
    io.run_one_until(deadline);
    if (!done() && std::chrono::steady_clock::now() >= deadline) {
      throw std::runtime_error("a coroutine did not end within the hang guard");
    }
  }
}

/// A coroutine that runs beside the test's code; it makes progress while the test runs `io`. It
/// must have ended, or `io` must be gone, before this is destroyed; cancel() then finish().
template <class T>
class Spawned {
 public:
  Spawned(boost::asio::io_context& io, boost::asio::awaitable<T> task)
      : io_(io), state_(std::make_shared<State>()) {
    boost::asio::co_spawn(
        io, std::move(task),
        boost::asio::bind_cancellation_slot(state_->signal.slot(),
                                            [state = state_](std::exception_ptr failure, T value) {
                                              state->failure = failure;
                                              if (!failure) state->value.emplace(std::move(value));
                                              state->ended = true;
                                            }));
  }

  bool ended() const { return state_->ended; }
  /// Asks the coroutine to stop (terminal cancellation).
  void cancel() {
    if (state_->ended) return;
    state_->signal.emit(boost::asio::cancellation_type::terminal);
    // The signal reaches the coroutine by way of the context, through memory that the state owns:
    // keep that until it has passed, even if the coroutine ends before.
    boost::asio::post(io_, [state = state_] {});
  }
  /// Runs the context until the coroutine has ended and returns its value, or throws what it threw.
  T finish() {
    run_until(io_, [this] { return state_->ended; });
    if (state_->failure) std::rethrow_exception(state_->failure);
    return std::move(*state_->value);
  }

 private:
  struct State {
    boost::asio::cancellation_signal signal;
    std::exception_ptr failure;
    std::optional<T> value;
    bool ended = false;
  };
  boost::asio::io_context& io_;
  std::shared_ptr<State> state_;
};

/// Starts `task` on `io`, e.g. `auto reading = spawn_task(io, reader->read(0, 100));`. The first
/// step runs when the context runs.
template <class T>
Spawned<T> spawn_task(boost::asio::io_context& io, boost::asio::awaitable<T> task) {
  return Spawned<T>(io, std::move(task));
}

/// Runs `task` on `io` to its end, e.g. `Result<size_t> got = run_task(io, file->read(0,
/// buffer));`.
template <class T>
T run_task(boost::asio::io_context& io, boost::asio::awaitable<T> task) {
  return Spawned<T>(io, std::move(task)).finish();
}

}  // namespace testing_support
