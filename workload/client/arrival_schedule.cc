#include "workload/client/arrival_schedule.h"

#include <algorithm>
#include <cmath>

#include "storage/base/units.h"

namespace workload {
namespace {

/// Enough for the arrivals that a busy generator is late with.
constexpr size_t kSegmentsMax = 4096;
/// What is further away is not due yet, and would not fit into a time.
constexpr double kFarS = 1e9;

}  // namespace

ArrivalSchedule::ArrivalSchedule(bool poisson, storage::Random random, storage::SteadyTime start)
    : poisson_(poisson), random_(random), next_place_(0), segments_{{start, 0, 0}} {
  // Equal gaps begin at once; the first of a Poisson process comes after a gap too.
  if (poisson_) next_place_ = gap();
}

double ArrivalSchedule::gap() {
  return poisson_ ? -std::log1p(-random_.uniform()) : 1;
}

void ArrivalSchedule::set_rate(double rate_rps, storage::SteadyTime now) {
  const Segment& last = segments_.back();
  if (rate_rps == last.rate_rps) return;
  const storage::SteadyTime start = std::max(now, last.start);
  const double elapsed_s = storage::seconds_of(start - last.start);
  segments_.push_back({start, last.place + elapsed_s * last.rate_rps, rate_rps});
  if (segments_.size() > kSegmentsMax) segments_.pop_front();
}

double ArrivalSchedule::take(uint64_t requests) {
  const double place = next_place_;
  for (uint64_t request = 0; request < requests; ++request) next_place_ += gap();
  return place;
}

std::optional<storage::SteadyTime> ArrivalSchedule::due(double place) const {
  auto segment = segments_.rbegin();
  while (segment->place > place && std::next(segment) != segments_.rend()) ++segment;
  if (place <= segment->place) return segment->start;
  if (segment->rate_rps <= 0) return std::nullopt;
  const double after_s = (place - segment->place) / segment->rate_rps;
  if (after_s > kFarS) return std::nullopt;
  return segment->start + storage::Nanoseconds(std::llround(after_s * 1e9));
}

uint64_t ArrivalSchedule::not_taken_until(storage::SteadyTime time) const {
  auto segment = segments_.rbegin();
  while (segment->start > time && std::next(segment) != segments_.rend()) ++segment;
  const double elapsed_s = std::max(0.0, storage::seconds_of(time - segment->start));
  const double place = segment->place + elapsed_s * segment->rate_rps;
  return place > next_place_ ? static_cast<uint64_t>(place - next_place_) + 1 : 0;
}

}  // namespace workload
