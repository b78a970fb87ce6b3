// The parallel channels of flash, each with its own queue of page operations.
#pragma once

#include <vector>

#include "workload/disk/profile.h"

namespace workload::disk {

/// Page operations of a channel follow each other, those of different channels run side by side.
/// One thread; times never go back.
class FlashChannels {
 public:
  explicit FlashChannels(const FlashMedium& medium);

  /// Puts a read of every page that these bytes touch into the queues of their channels. Returns
  /// when the last of them ends.
  DiskTime read(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now);
  /// The same for programs; each goes to the channel that is free first, since the controller may
  /// put a page anywhere. (Where it then lies is not followed: reads keep to the channel above.)
  DiskTime program(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now);
  /// Pages that these bytes touch.
  uint64_t pages(uint64_t offset_bytes, uint64_t length_bytes) const;
  /// All queues are empty.
  void clear();

 private:
  FlashMedium medium_;
  std::vector<DiskTime> free_at_;
};

}  // namespace workload::disk
