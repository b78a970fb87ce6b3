#include "workload/client/request_source.h"

namespace workload {

RequestSource::RequestSource(const Workload& workload, uint64_t seed, RunControl& control,
                             std::optional<ArrivalSchedule> schedule)
    : control_(control), stream_(workload, seed), schedule_(std::move(schedule)) {}

void RequestSource::read_ahead(storage::SteadyTime now) {
  if (!ahead_.empty()) return;
  if (!put_back_.empty()) {
    ahead_ = std::move(put_back_.front());
    put_back_.pop_front();
    return;
  }
  // A phase whose requests are all granted is over: what comes next is drawn with the factors of
  // the phase behind it, whether anybody has looked in between or not.
  control_.look(now);
  const PhaseFactors factors = control_.factors(now);
  const StreamFactors of_stream{factors.recurrence, factors.special};
  ahead_.push_back(stream_.next(of_stream));
  const uint64_t embedded = ahead_.front().embedded_following;
  for (uint64_t index = 0; index < embedded; ++index) ahead_.push_back(stream_.next(of_stream));
  if (stream_.working_set_frozen()) control_.working_set_frozen(now);
}

Grant RequestSource::take(std::vector<IntendedRequest>& page, storage::SteadyTime now) {
  read_ahead(now);
  page.clear();
  const Grant grant = control_.grant(ahead_.size(), now);
  if (grant.requests == 0) return grant;
  page.swap(ahead_);
  page.resize(grant.requests);
  return grant;
}

Grant RequestSource::next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  return take(page, now);
}

void RequestSource::next_page(ScheduledPage& page, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  page.grant = take(page.requests, now);
  if (page.grant.requests > 0) page.place = schedule_->take(page.grant.requests);
}

void RequestSource::on_arrival(std::function<void(size_t)>) {}

void RequestSource::put_back(std::vector<IntendedRequest> page, const Grant& grant) {
  const std::lock_guard lock(mutex_);
  control_.give_back(page.size(), grant);
  put_back_.push_back(std::move(page));
}

void RequestSource::set_rate(double rate_rps, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  schedule_->set_rate(rate_rps, now);
}

std::optional<storage::SteadyTime> RequestSource::due(double place) const {
  const std::lock_guard lock(mutex_);
  return schedule_->due(place);
}

uint64_t RequestSource::not_taken_until(storage::SteadyTime time) const {
  const std::lock_guard lock(mutex_);
  return schedule_ ? schedule_->not_taken_until(time) : 0;
}

}  // namespace workload
