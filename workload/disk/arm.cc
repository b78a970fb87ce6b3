#include "workload/disk/arm.h"

#include <algorithm>
#include <cmath>

namespace workload::disk {
namespace {

/// Times are whole nanoseconds. A byte that passed so little ago, as a share of a turn, was missed
/// by rounding alone.
constexpr int64_t kRoundingShareOfTurn = 10'000;

}  // namespace

Arm::Arm(const RotatingMedium& medium, uint64_t size_bytes)
    : medium_(medium), turn_(60'000'000'000 / static_cast<int64_t>(medium.rpm)), cylinder_last_(0) {
  cylinder_last_ = cylinder_of(size_bytes - 1);
}

Movement Arm::movement(uint64_t offset_bytes, uint64_t length_bytes, DiskTime start) const {
  Movement result;
  result.seek = seek_time(head_, offset_bytes);
  result.rotation = rotation_wait(offset_bytes, start + result.seek);
  result.transfer = transfer_time(length_bytes);
  return result;
}

DiskTime Arm::seek_time(uint64_t from_bytes, uint64_t to_bytes) const {
  const uint64_t from = std::min(cylinder_of(from_bytes), cylinder_last_);
  const uint64_t to = std::min(cylinder_of(to_bytes), cylinder_last_);
  if (from == to) return DiskTime(0);
  const double distance =
      static_cast<double>(from < to ? to - from : from - to) / static_cast<double>(cylinder_last_);
  const double stroke = static_cast<double>(medium_.seek_stroke.count()) * std::sqrt(distance);
  return medium_.seek_settle + DiskTime(std::llround(stroke));
}

DiskTime Arm::rotation_wait(uint64_t offset_bytes, DiskTime at) const {
  const DiskTime angle = transfer_time(offset_bytes % medium_.track_bytes);
  DiskTime wait = (angle - at) % turn_;
  if (wait.count() < 0) wait += turn_;
  if (turn_ - wait <= turn_ / kRoundingShareOfTurn) wait = DiskTime(0);
  return wait;
}

DiskTime Arm::transfer_time(uint64_t length_bytes) const {
  // Whole turns apart, so that nothing overflows.
  const auto turns = static_cast<int64_t>(length_bytes / medium_.track_bytes);
  const auto rest = static_cast<int64_t>(length_bytes % medium_.track_bytes);
  return turns * turn_ + DiskTime(rest * turn_.count() / static_cast<int64_t>(medium_.track_bytes));
}

uint64_t Arm::bytes_in(DiskTime duration) const {
  if (duration.count() <= 0) return 0;
  const auto turns = static_cast<uint64_t>(duration / turn_);
  const auto rest = static_cast<uint64_t>((duration % turn_).count());
  return turns * medium_.track_bytes +
         rest * medium_.track_bytes / static_cast<uint64_t>(turn_.count());
}

uint64_t Arm::cylinder_of(uint64_t offset_bytes) const {
  return offset_bytes / (medium_.track_bytes * medium_.tracks_per_cylinder);
}

}  // namespace workload::disk
