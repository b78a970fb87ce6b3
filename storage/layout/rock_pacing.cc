#include "storage/layout/rock_pacing.h"

#include <algorithm>

namespace storage {

using std::chrono::nanoseconds;

RockPacing::RockPacing(uint64_t rate_max, nanoseconds wait_max)
    : interval_(rate_max == 0 ? 0 : std::max<uint64_t>(1'000'000'000 / rate_max, 1)),
      wait_max_(wait_max) {}

nanoseconds RockPacing::expected_wait(SteadyTime now) const {
  nanoseconds wait{0};
  if (interval_.count() > 0 && next_) wait = std::max(wait, nanoseconds(*next_ - now));
  if (!under_way_.empty()) wait = std::max(wait, nanoseconds(now - under_way_.front()));
  return wait;
}

bool RockPacing::admits(SteadyTime now) const {
  return wait_max_.count() == 0 || expected_wait(now) <= wait_max_;
}

nanoseconds RockPacing::take_turn(SteadyTime now) {
  if (interval_.count() == 0) return nanoseconds(0);
  const SteadyTime turn = std::max(next_.value_or(now), SteadyTime(now - kBurst));
  next_ = turn + interval_;
  return std::max(nanoseconds(turn - now), nanoseconds(0));
}

RockPacing::UnderWay::UnderWay(RockPacing& pacing, SteadyTime begin) {
  if (pacing.wait_max_.count() == 0) return;
  pacing_ = &pacing;
  at_ = pacing.under_way_.insert(pacing.under_way_.end(), begin);
}

RockPacing::UnderWay::~UnderWay() {
  if (pacing_ != nullptr) pacing_->under_way_.erase(at_);
}

}  // namespace storage
