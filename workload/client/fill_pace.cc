#include "workload/client/fill_pace.h"

#include <algorithm>
#include <chrono>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(250);
constexpr double kUnderWay = 1000;
constexpr double kStepUpMax = 1.5;
constexpr double kStepDownMax = 0.5;

}  // namespace

void FillPace::look(const LiveCounts& counts, storage::SteadyTime now) {
  if (now - last_ < kPeriod) return;
  const double ended_rps =
      static_cast<double>(counts.ended - ended_) / storage::seconds_of(now - last_);
  const auto under_way = static_cast<double>(std::max<uint64_t>(counts.unfinished(), 1));
  const double step = std::clamp(kUnderWay / under_way, kStepDownMax, kStepUpMax);
  // With too many under way, what comes to an end is what the system can do.
  rate_rps_ = std::max(start_rps_, (step < 1 ? std::min(ended_rps, rate_rps_) : rate_rps_) * step);
  last_ = now;
  ended_ = counts.ended;
}

}  // namespace workload
