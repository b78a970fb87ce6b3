// When a robot asks for its next page, apart from what it asks for and how.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "workload/client/load_shape.h"
#include "workload/model/workload.h"

namespace workload {

/// Says when the next page is due. Belongs to one robot.
class ReleaseTiming {
 public:
  virtual ~ReleaseTiming() = default;
  /// When the page after one of `requests` requests that started at `start` is due; nothing: as
  /// soon as that one has ended. For the first page, `start` is the run's and `requests` 1.
  virtual std::optional<storage::SteadyTime> next(storage::SteadyTime start, uint64_t requests) = 0;
};

/// The timing of a closed loop. Best effort: as soon as possible. Robots: a sum of exponential
/// gaps after the start of the last page, one for each of its requests, of the robot's rate times
/// `time_scale` (above 0): a robot keeps its rate for as long as pages take less than their gaps.
/// Lateness is not made up for.
std::unique_ptr<ReleaseTiming> closed_loop_timing(LoadShape::Kind kind, const RobotModel& robot,
                                                  double time_scale, storage::Random random);

}  // namespace workload
