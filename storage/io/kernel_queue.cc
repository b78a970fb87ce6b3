#include "storage/io/kernel_queue.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cerrno>

#include "storage/io/wake_event.h"

namespace storage {
namespace asio = boost::asio;

KernelQueue::KernelQueue(const asio::any_io_executor& executor, unsigned depth_max)
    : executor_(executor), depth_max_(std::max(depth_max, 1U)) {}

KernelQueue::~KernelQueue() = default;

int KernelQueue::open_event() {
  OwnedFd fd;
  const int failure = open_wake_event(fd, event_writer_);
  if (failure == 0) event_.emplace(executor_, fd.release());
  return failure;
}

void KernelQueue::submit(std::shared_ptr<IoCall> call) {
  if (stopped_) {
    const bool closes = call->kind == IoKind::kClose;
    finish(*call, closes ? perform(*call) : CallOutcome(ECANCELED, 0), false);
  } else if (in_flight_ < depth_max_ && waiting_.empty()) {
    start_or_wait(std::move(call));
  } else {
    waiting_.push_back(std::move(call));
  }
}

void KernelQueue::start_or_wait(std::shared_ptr<IoCall> call) {
  call->state = IoCall::State::kRunning;
  call->self = call;
  const int failure = start(*call);
  if (failure == 0) {
    ++in_flight_;
    in_flight_max_ = std::max(in_flight_max_, in_flight_);
    watch();
    return;
  }
  call->self.reset();
  if (failure == EAGAIN && in_flight_ > 0) {
    call->state = IoCall::State::kWaiting;
    waiting_.push_front(std::move(call));
    return;
  }
  const bool must = call->kind == IoKind::kClose;
  finish(*call, must ? perform(*call) : CallOutcome(failure, 0), false);
}

void KernelQueue::start_waiting() {
  while (!waiting_.empty() && in_flight_ < depth_max_) {
    std::shared_ptr<IoCall> next = std::move(waiting_.front());
    waiting_.pop_front();
    const size_t others = waiting_.size();
    start_or_wait(std::move(next));
    if (waiting_.size() > others) return;  // the kernel takes no more for now
  }
}

void KernelQueue::cancel(const std::shared_ptr<IoCall>& call) {
  if (call->kind == IoKind::kClose || call->state == IoCall::State::kEnded || stopped_) return;
  if (call->state == IoCall::State::kRunning) {
    call->cancelled = true;
    try_to_stop(*call);
    return;
  }
  if (std::erase(waiting_, call) > 0) finish(*call, CallOutcome(ECANCELED, 0), false);
}

// Only while something is in the kernel: a context with nothing else to do may then come to its
// end. The watch reads what was written, so that the next end makes it readable anew.
void KernelQueue::watch() {
  if (watching_) return;
  watching_ = true;
  event_->async_read_some(
      asio::buffer(event_count_.data(), event_count_.size()),
      [weak = weak_from_this()](const boost::system::error_code& failure, size_t) {
        const auto self = weak.lock();
        if (self == nullptr || failure == asio::error::operation_aborted) return;
        self->on_event();
      });
}

void KernelQueue::on_event() {
  watching_ = false;
  if (stopped_) return;
  reap(0);
  start_waiting();
  if (in_flight_ > 0) watch();
  // Last, and from a copy: whoever is resumed may submit, and may let go of the engine.
  const std::vector<Ended> now = std::exchange(ended_, {});
  for (const auto& [call, outcome] : now) finish(*call, outcome, true);
}

void KernelQueue::ended(IoCall& call, const CallOutcome& outcome) {
  --in_flight_;
  call.state = IoCall::State::kEnded;
  const bool interrupted = call.cancelled && outcome.system_errno == EINTR;
  ended_.emplace_back(std::move(call.self),
                      interrupted ? CallOutcome(ECANCELED, outcome.value) : outcome);
}

void KernelQueue::finish(IoCall& call, const CallOutcome& outcome, bool now) {
  call.state = IoCall::State::kEnded;
  const std::unique_ptr<CallWaiter> waiter = end_call(call, outcome);
  if (waiter == nullptr) {
    close_errors_ += outcome.system_errno != 0 ? 1 : 0;
  } else if (now) {
    waiter->deliver_now(outcome);
  } else {
    waiter->deliver_later(outcome);
  }
}

void KernelQueue::stop() {
  if (std::exchange(stopped_, true)) return;
  while (in_flight_ > 0) reap(in_flight_);
  for (const auto& [call, outcome] : std::exchange(ended_, {})) finish(*call, outcome, false);
  for (const auto& call : std::exchange(waiting_, {})) {
    const bool closes = call->kind == IoKind::kClose;
    finish(*call, closes ? perform(*call) : CallOutcome(ECANCELED, 0), false);
  }
  release();
  event_.reset();
  event_writer_.reset();
}

void KernelQueue::visit_counters(CounterVisitor& visitor) const {
  visitor.gauge("io_in_flight", "", static_cast<double>(in_flight_));
  visitor.gauge("io_in_flight_max", "", static_cast<double>(in_flight_max_));
  visitor.gauge("io_queue_depth", "", static_cast<double>(waiting_.size()));
  visitor.counter("io_background_close_errors_total", "", close_errors_);
}

}  // namespace storage
