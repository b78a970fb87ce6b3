// The disk's time and the machine's: one runs `scale` times as fast as the other.
#pragma once

#include <cmath>

#include "storage/base/clock.h"
#include "workload/disk/profile.h"

namespace workload::disk {

/// With a scale of K a second of the machine is K seconds of the disk, so that what takes the disk
/// 8 ms is done in 8/K ms. Safe from any thread.
class Timeline {
 public:
  Timeline(storage::SteadyTime origin, double scale) : origin_(origin), scale_(scale) {}

  DiskTime disk_time(storage::SteadyTime time) const {
    return DiskTime(std::llround(static_cast<double>((time - origin_).count()) * scale_));
  }
  /// The first moment at which the disk's time has come.
  storage::SteadyTime machine_time(DiskTime time) const {
    return origin_ + storage::Nanoseconds(static_cast<int64_t>(
                         std::ceil(static_cast<double>(time.count()) / scale_)));
  }
  double scale() const { return scale_; }

 private:
  storage::SteadyTime origin_;
  double scale_;
};

}  // namespace workload::disk
