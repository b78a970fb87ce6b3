#include "workload/ensemble/clock_match.h"

#include <algorithm>

namespace workload {

void ClockMatch::add(storage::SteadyTime sent, storage::SteadyTime there,
                     storage::SteadyTime received) {
  if (received < sent) return;
  ClockOffset offset;
  offset.bound = (received - sent + storage::Nanoseconds(1)) / 2;
  offset.here_less_there = sent + (received - sent) / 2 - there;
  if (!best_ || offset.bound < best_->bound) best_ = offset;
}

storage::Nanoseconds error_bound(const ClockOffset& offset,
                                 const std::optional<ClockOffset>& later) {
  if (!later) return offset.bound;
  // The clocks may have drifted apart since.
  const auto drift = std::chrono::abs(later->here_less_there - offset.here_less_there);
  return std::max(offset.bound, drift + later->bound);
}

}  // namespace workload
