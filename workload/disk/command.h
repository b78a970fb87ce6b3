// What a host asks of a disk, and what comes of it.
#pragma once

#include "workload/disk/profile.h"

namespace workload::disk {

enum class Operation { kRead, kWrite, kFlush };

/// A flush has neither offset nor length; others lie within the disk and are not empty.
struct Command {
  uint64_t id = 0;  ///< Chosen by the host; no two that are under way have the same.
  Operation operation = Operation::kRead;
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;
  uint64_t end_bytes() const { return offset_bytes + length_bytes; }
};

/// Something that came about at a moment.
struct Outcome {
  enum class Kind {
    kOnMedium,   ///< What was written last to these bytes outlives a power cut from now on.
    kCompleted,  ///< The host hears of the command's end.
  };
  Kind kind = Kind::kCompleted;
  DiskTime at{0};
  uint64_t id = 0;            ///< Of the command, where it was completed.
  uint64_t offset_bytes = 0;  ///< What is on the medium.
  uint64_t length_bytes = 0;
};

}  // namespace workload::disk
