#include "workload/ensemble/dealt_pages.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "workload/client/overdue.h"

namespace workload {

// The places come with the pages, so the schedule here draws none.
DealtPages::DealtPages(RunControl& control, storage::SteadyTime start)
    : control_(control), schedule_(false, storage::Random(0), start) {}

bool DealtPages::none_will_come() const {
  return exhausted_ && give_backs_known_ == control_.give_backs();
}

void DealtPages::tell_of(size_t pages) const {
  for (const auto& come : listeners_) come(pages);
}

bool DealtPages::take(ScheduledPage& page, storage::SteadyTime now) {
  page.requests.clear();
  page.grant = Grant();
  if (control_.over(now)) return false;
  if (pages_.empty()) {
    page.grant.later = !none_will_come();
    if (page.grant.later) ++waiting_;
    return false;
  }
  page = std::move(pages_.front());
  pages_.pop_front();
  ++handed_out_;
  return true;
}

Grant DealtPages::next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  ScheduledPage next;
  while (take(next, now)) {
    // It belongs to the phase in which it is sent, as where pages are drawn on demand.
    const size_t phase = control_.phase_when_due(next.grant, now);
    if (phase == next.grant.phase || !control_.phases()[phase].goal.requests) {
      next.grant.phase = phase;
      break;
    }
    overdue_.push_back(std::move(next));
  }
  page = std::move(next.requests);
  return next.grant;
}

void DealtPages::next_page(ScheduledPage& page, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  take(page, now);
}

std::optional<storage::SteadyTime> DealtPages::due(double place) const {
  const std::lock_guard lock(mutex_);
  return schedule_.due(place);
}

void DealtPages::on_arrival(std::function<void(size_t)> come) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(come));
}

void DealtPages::put(std::vector<ScheduledPage> pages) {
  if (pages.empty()) return;
  const size_t count = pages.size();
  {
    const std::lock_guard lock(mutex_);
    for (ScheduledPage& page : pages) pages_.push_back(std::move(page));
  }
  tell_of(count);
}

void DealtPages::set_rate(double rate_rps, storage::SteadyTime at) {
  const std::lock_guard lock(mutex_);
  schedule_.set_rate(rate_rps, at);
}

void DealtPages::set_exhausted(bool exhausted, uint64_t give_backs) {
  {
    const std::lock_guard lock(mutex_);
    exhausted_ = exhausted;
    give_backs_known_ = give_backs;
    // They are not waited for any longer: a page that was asked for now would find nobody.
    if (!none_will_come() || std::exchange(waiting_, 0) == 0) return;
  }
  tell_of(std::numeric_limits<size_t>::max());
}

void DealtPages::add_never_sent(RunPart& part) const {
  const std::lock_guard lock(mutex_);
  for (const ScheduledPage& page : pages_) {
    if (const auto due = schedule_.due(page.place)) add_overdue(part, control_, *due, 1);
  }
}

std::vector<ScheduledPage> DealtPages::take_all() {
  const std::lock_guard lock(mutex_);
  std::vector<ScheduledPage> all(std::make_move_iterator(pages_.begin()),
                                 std::make_move_iterator(pages_.end()));
  pages_.clear();
  return all;
}

std::vector<ScheduledPage> DealtPages::take_overdue() {
  const std::lock_guard lock(mutex_);
  return std::exchange(overdue_, {});
}

bool DealtPages::any_overdue() const {
  const std::lock_guard lock(mutex_);
  return !overdue_.empty();
}

size_t DealtPages::on_hand() const {
  const std::lock_guard lock(mutex_);
  return pages_.size();
}

uint64_t DealtPages::handed_out() const {
  const std::lock_guard lock(mutex_);
  return handed_out_;
}

uint64_t DealtPages::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void DealtPages::asked_for(uint64_t pages) {
  const std::lock_guard lock(mutex_);
  waiting_ -= std::min(waiting_, pages);
}

}  // namespace workload
