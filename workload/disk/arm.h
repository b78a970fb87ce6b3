// The mechanics of a turning disk: where everything lies, and how long it takes to get there.
#pragma once

#include "workload/disk/profile.h"

namespace workload::disk {

/// What a transfer over the medium takes, part by part.
struct Movement {
  DiskTime seek{0};
  DiskTime rotation{0};
  DiskTime transfer{0};
  DiskTime total() const { return seek + rotation + transfer; }
};

/// One arm over a disk of `size_bytes`. Pure arithmetic: it holds where the head is, and everything
/// else follows from the time. One thread.
///
/// Byte `x` lies on cylinder `x / (track_bytes * tracks_per_cylinder)`, and passes under the head
/// whenever the platter's angle is `(x mod track_bytes) / track_bytes` of a turn; at time 0 that is
/// byte 0. So a transfer that begins where the last one ended waits for nothing if it begins at
/// once, and nearly a whole turn if it begins a moment later.
class Arm {
 public:
  Arm(const RotatingMedium& medium, uint64_t size_bytes);

  /// Byte behind the last one that passed under the head in a transfer.
  uint64_t head() const { return head_; }
  void set_head(uint64_t offset_bytes) { head_ = offset_bytes; }

  /// Of a transfer of these bytes, if the arm sets out from head() at `start`.
  Movement movement(uint64_t offset_bytes, uint64_t length_bytes, DiskTime start) const;

  /// `seek_settle + seek_stroke * sqrt(d)`, where `d` is the distance in cylinders over that
  /// between the first and the last cylinder; 0 within a cylinder.
  DiskTime seek_time(uint64_t from_bytes, uint64_t to_bytes) const;
  /// From `at` until the byte passes under the head: 0 to less than a turn.
  DiskTime rotation_wait(uint64_t offset_bytes, DiskTime at) const;
  /// `length / track_bytes` of a turn.
  DiskTime transfer_time(uint64_t length_bytes) const;
  /// Whole bytes that pass under the head in `duration`.
  uint64_t bytes_in(DiskTime duration) const;
  DiskTime turn() const { return turn_; }

 private:
  uint64_t cylinder_of(uint64_t offset_bytes) const;

  RotatingMedium medium_;
  DiskTime turn_;
  uint64_t cylinder_last_;
  uint64_t head_ = 0;
};

}  // namespace workload::disk
