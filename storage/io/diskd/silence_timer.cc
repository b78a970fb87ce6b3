#include "storage/io/diskd/silence_timer.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace storage {

struct SilenceTimer::State {
  State(const boost::asio::any_io_executor& executor, std::chrono::milliseconds timeout,
        std::function<void()> on_tick_in)
      : timer(executor), interval(timeout / kTicksOfTimeout), on_tick(std::move(on_tick_in)) {}

  boost::asio::steady_timer timer;
  const std::chrono::nanoseconds interval;
  const std::function<void()> on_tick;
  bool heeding = false;
  uint64_t turn = 0;  // a tick may be on its way when it is ignored
  uint64_t silent_ticks = 0;
  uint64_t ticks = 0;
};

SilenceTimer::SilenceTimer(const boost::asio::any_io_executor& executor,
                           std::chrono::milliseconds timeout, std::function<void()> on_tick)
    : state_(std::make_shared<State>(executor, timeout, std::move(on_tick))) {}

SilenceTimer::~SilenceTimer() {
  ignore();
}

void SilenceTimer::heed() {
  if (std::exchange(state_->heeding, true)) return;
  state_->silent_ticks = 0;
  await_tick(state_);
}

void SilenceTimer::ignore() {
  if (!std::exchange(state_->heeding, false)) return;
  ++state_->turn;
  state_->timer.cancel();
}

void SilenceTimer::broken() {
  state_->silent_ticks = 0;
}

std::chrono::nanoseconds SilenceTimer::duration() const {
  return state_->interval * state_->silent_ticks;
}

uint64_t SilenceTimer::tick() const {
  return state_->ticks;
}

void SilenceTimer::await_tick(const std::shared_ptr<State>& state) {
  state->timer.expires_after(state->interval);
  state->timer.async_wait(
      [weak = std::weak_ptr(state), turn = state->turn](const boost::system::error_code& failure) {
        const auto its_state = weak.lock();
        if (its_state == nullptr || failure || its_state->turn != turn) return;
        ++its_state->ticks;
        ++its_state->silent_ticks;
        its_state->on_tick();
        if (its_state->turn == turn) await_tick(its_state);
      });
}

}  // namespace storage
