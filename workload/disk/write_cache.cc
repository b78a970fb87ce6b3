#include "workload/disk/write_cache.h"

#include <algorithm>

namespace workload::disk {

void WriteCache::insert(Extent extent, uint64_t generation) {
  uint64_t begin = extent.offset_bytes;
  uint64_t end = extent.end_bytes();
  uint64_t oldest = generation;
  // From the last extent that begins before `begin` on.
  auto at = extents_.upper_bound(begin);
  if (at != extents_.begin()) --at;
  while (at != extents_.end() && at->first <= end) {
    const bool overlaps =
        at->first < extent.end_bytes() && at->second.end_bytes > extent.offset_bytes;
    const bool touches = at->second.end_bytes >= begin && at->second.generation == generation;
    if (!overlaps && !touches) {
      ++at;
      continue;
    }
    begin = std::min(begin, at->first);
    end = std::max(end, at->second.end_bytes);
    oldest = std::min(oldest, at->second.generation);
    at = erase(at);
  }
  add(begin, {end, oldest});
}

std::optional<Extent> WriteCache::next(uint64_t from_bytes) const {
  if (extents_.empty()) return std::nullopt;
  auto at = extents_.lower_bound(from_bytes);
  if (at == extents_.end()) at = extents_.begin();
  return Extent{at->first, at->second.end_bytes - at->first};
}

Extent WriteCache::take(uint64_t offset_bytes, uint64_t length_max, uint64_t& generation) {
  const auto found = extents_.find(offset_bytes);
  const Dirty dirty = found->second;
  erase(found);
  generation = dirty.generation;
  const uint64_t length = std::min(length_max, dirty.end_bytes - offset_bytes);
  if (offset_bytes + length < dirty.end_bytes) add(offset_bytes + length, dirty);
  return {offset_bytes, length};
}

bool WriteCache::covers(uint64_t offset_bytes, uint64_t end_bytes) const {
  // Neighbours of different flushes are not one extent.
  while (offset_bytes < end_bytes) {
    auto at = extents_.upper_bound(offset_bytes);
    if (at == extents_.begin()) return false;
    --at;
    if (at->second.end_bytes <= offset_bytes) return false;
    offset_bytes = at->second.end_bytes;
  }
  return true;
}

std::optional<uint64_t> WriteCache::oldest_generation() const {
  if (generations_.empty()) return std::nullopt;
  return generations_.begin()->first;
}

void WriteCache::clear() {
  extents_.clear();
  generations_.clear();
  dirty_bytes_ = 0;
}

WriteCache::Extents::iterator WriteCache::erase(Extents::iterator extent) {
  dirty_bytes_ -= extent->second.end_bytes - extent->first;
  const auto generation = generations_.find(extent->second.generation);
  if (--generation->second == 0) generations_.erase(generation);
  return extents_.erase(extent);
}

void WriteCache::add(uint64_t offset_bytes, Dirty dirty) {
  extents_.emplace(offset_bytes, dirty);
  ++generations_[dirty.generation];
  dirty_bytes_ += dirty.end_bytes - offset_bytes;
}

}  // namespace workload::disk
