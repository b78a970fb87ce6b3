#include "workload/client/release_timing.h"

#include <cmath>

namespace workload {
namespace {

class WithoutPause final : public ReleaseTiming {
 public:
  std::optional<storage::SteadyTime> next(storage::SteadyTime, uint64_t) override {
    return std::nullopt;
  }
};

class PoissonPauses final : public ReleaseTiming {
 public:
  PoissonPauses(double requests_per_second, storage::Random random)
      : mean_gap_ns_(1e9 / requests_per_second), random_(random) {}

  std::optional<storage::SteadyTime> next(storage::SteadyTime start, uint64_t requests) override {
    double gap_ns = 0;
    for (uint64_t request = 0; request < requests; ++request) {
      gap_ns -= mean_gap_ns_ * std::log1p(-random_.uniform());
    }
    return start + std::chrono::nanoseconds(std::llround(gap_ns));
  }

 private:
  double mean_gap_ns_;
  storage::Random random_;
};

}  // namespace

std::unique_ptr<ReleaseTiming> closed_loop_timing(LoadShape::Kind kind, const RobotModel& robot,
                                                  double time_scale, storage::Random random) {
  if (kind == LoadShape::Kind::kBestEffort) return std::make_unique<WithoutPause>();
  return std::make_unique<PoissonPauses>(robot.requests_per_second * time_scale, random);
}

}  // namespace workload
