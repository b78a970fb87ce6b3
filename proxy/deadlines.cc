#include "proxy/deadlines.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proxy {

Deadlines::Deadlines(const boost::asio::any_io_executor& executor, const storage::Clock& clock,
                     std::chrono::milliseconds tick)
    : clock_(clock), tick_(tick), timer_(executor) {}

void Deadlines::Entry::set_in(std::chrono::nanoseconds duration) {
  at_ = owner_.clock_.steady_now() + duration;
  expired_ = false;
  if (!is_linked()) owner_.entries_.push_back(*this);
}

void Deadlines::sweep() {
  const auto now = clock_.steady_now();
  for (auto next = entries_.begin(); next != entries_.end();) {
    Entry& entry = *next++;
    if (entry.at_ > now) continue;
    entry.unlink();
    entry.expired_ = true;
    entry.expire_();
  }
}

boost::asio::awaitable<void> Deadlines::run() {
  while (!stopped_) {
    timer_.expires_after(tick_);
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!stopped_) sweep();
  }
}

void Deadlines::stop() {
  stopped_ = true;
  timer_.cancel();
}

}  // namespace proxy
