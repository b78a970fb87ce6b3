// The read buffer of a turning disk: the last read, and what the head has passed since.
#pragma once

#include <optional>

#include "workload/disk/arm.h"

namespace workload::disk {

/// After a read the arm stays and reads on, up to `read_ahead_bytes` behind what was asked for,
/// until another transfer takes it away. One thread; times never go back.
class ReadBuffer {
 public:
  /// `arm` must outlive the buffer.
  ReadBuffer(const Arm& arm, uint64_t read_ahead_bytes, uint64_t size_bytes)
      : arm_(arm), read_ahead_bytes_(read_ahead_bytes), size_bytes_(size_bytes) {}

  /// A read of these bytes has just come to its end.
  void begin(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at);
  /// The arm is wanted elsewhere.
  void leave(DiskTime at);
  /// These bytes were written: what the buffer has of them is old.
  void forget(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at);
  void clear();

  /// Whether the arm is still where it reads on.
  bool reading_on() const { return reading_on_; }
  /// Byte behind the last one in the buffer.
  uint64_t end(DiskTime at) const;
  /// Whether all of it is there.
  bool holds(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) const;
  /// Where a read begins in what the arm reads on to: when its last byte will have passed, and from
  /// now on the arm reads up to behind that. Nothing where the arm is away or the read elsewhere.
  std::optional<DiskTime> follow(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at);

 private:
  void extend(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at);

  const Arm& arm_;
  uint64_t read_ahead_bytes_;
  uint64_t size_bytes_;
  uint64_t begin_ = 0;
  uint64_t limit_ = 0;  ///< As far as the arm reads on.
  /// While reading on: this byte passed, or will pass, at that time.
  uint64_t anchor_ = 0;
  DiskTime anchor_time_{0};
  bool reading_on_ = false;
};

}  // namespace workload::disk
