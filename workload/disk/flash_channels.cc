#include "workload/disk/flash_channels.h"

#include <algorithm>

namespace workload::disk {

FlashChannels::FlashChannels(const FlashMedium& medium)
    : medium_(medium), free_at_(medium.channels, DiskTime(0)) {}

DiskTime FlashChannels::read(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now) {
  DiskTime last = now;
  const uint64_t first = offset_bytes / medium_.page_bytes;
  for (uint64_t page = first; page < first + pages(offset_bytes, length_bytes); ++page) {
    DiskTime& free_at = free_at_[page % medium_.channels];
    free_at = std::max(free_at, now) + medium_.page_read;
    last = std::max(last, free_at);
  }
  return last;
}

DiskTime FlashChannels::program(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now) {
  DiskTime last = now;
  for (uint64_t left = pages(offset_bytes, length_bytes); left > 0; --left) {
    DiskTime& free_at = *std::min_element(free_at_.begin(), free_at_.end());
    free_at = std::max(free_at, now) + medium_.page_program;
    last = std::max(last, free_at);
  }
  return last;
}

uint64_t FlashChannels::pages(uint64_t offset_bytes, uint64_t length_bytes) const {
  return (offset_bytes + length_bytes - 1) / medium_.page_bytes -
         offset_bytes / medium_.page_bytes + 1;
}

void FlashChannels::clear() {
  std::fill(free_at_.begin(), free_at_.end(), DiskTime(0));
}

}  // namespace workload::disk
