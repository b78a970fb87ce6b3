// What a disk's write cache holds that is not on the medium yet: where, not what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "workload/disk/profile.h"

namespace workload::disk {

/// Bytes of the disk, by their offset.
struct Extent {
  uint64_t offset_bytes = 0;
  uint64_t length_bytes = 0;
  uint64_t end_bytes() const { return offset_bytes + length_bytes; }
};

/// Dirty extents. Each has the number of the flush that must wait for it: those written before the
/// first flush have 0, and so on. Extents that touch and wait for the same flush are one; where a
/// newer write lies over an older one, all of it belongs to the earlier flush, since the older
/// bytes are gone. One thread.
class WriteCache {
 public:
  /// Bytes were written. `generation` is never smaller than in an earlier call.
  void insert(Extent extent, uint64_t generation);
  /// The first extent that lies at or behind `from_bytes`, or begins before it and reaches beyond;
  /// the lowest where there is none. Nothing where the cache is clean.
  std::optional<Extent> next(uint64_t from_bytes) const;
  /// Takes up to `length_max` bytes out, from the beginning of the extent at exactly
  /// `offset_bytes`, and sets the generation that they had.
  Extent take(uint64_t offset_bytes, uint64_t length_max, uint64_t& generation);
  /// Whether all these bytes are dirty.
  bool covers(uint64_t offset_bytes, uint64_t end_bytes) const;
  /// The earliest flush that something in the cache belongs to.
  std::optional<uint64_t> oldest_generation() const;

  uint64_t dirty_bytes() const { return dirty_bytes_; }
  bool clean() const { return extents_.empty(); }
  void clear();

 private:
  struct Dirty {
    uint64_t end_bytes = 0;
    uint64_t generation = 0;
  };
  using Extents = std::map<uint64_t, Dirty>;
  Extents::iterator erase(Extents::iterator extent);
  void add(uint64_t offset_bytes, Dirty dirty);

  Extents extents_;
  std::map<uint64_t, size_t> generations_;  // how many extents each has
  uint64_t dirty_bytes_ = 0;
};

}  // namespace workload::disk
