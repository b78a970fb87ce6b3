#include "workload/disk/read_buffer.h"

#include <algorithm>

namespace workload::disk {

void ReadBuffer::begin(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) {
  if (read_ahead_bytes_ == 0) return;
  begin_ = offset_bytes;
  anchor_ = end_bytes;
  anchor_time_ = at;
  limit_ = std::min(end_bytes + read_ahead_bytes_, size_bytes_);
  reading_on_ = true;
}

void ReadBuffer::leave(DiskTime at) {
  limit_ = end(at);
  reading_on_ = false;
}

void ReadBuffer::forget(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) {
  if (offset_bytes < (reading_on_ ? limit_ : end(at)) && end_bytes > begin_) clear();
}

void ReadBuffer::clear() {
  begin_ = limit_ = anchor_ = 0;
  reading_on_ = false;
}

uint64_t ReadBuffer::end(DiskTime at) const {
  if (!reading_on_) return limit_;
  return std::min(anchor_ + arm_.bytes_in(at - anchor_time_), limit_);
}

bool ReadBuffer::holds(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) const {
  return offset_bytes >= begin_ && offset_bytes < end_bytes && end_bytes <= end(at);
}

std::optional<DiskTime> ReadBuffer::follow(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) {
  if (!reading_on_ || offset_bytes < begin_ || offset_bytes > limit_) return std::nullopt;
  extend(offset_bytes, end_bytes, at);
  if (end_bytes <= anchor_) return at;
  return std::max(at, anchor_time_ + arm_.transfer_time(end_bytes - anchor_));
}

void ReadBuffer::extend(uint64_t offset_bytes, uint64_t end_bytes, DiskTime at) {
  const uint64_t limit = std::min(end_bytes + read_ahead_bytes_, size_bytes_);
  begin_ = std::max(begin_, offset_bytes);
  if (limit <= limit_) return;
  if (end(at) == limit_) {
    // The arm had read enough and let the platter turn; it takes up where it stopped.
    anchor_ = limit_;
    anchor_time_ = at + arm_.rotation_wait(limit_, at);
  }
  limit_ = limit;
}

}  // namespace workload::disk
