// A cache in memory before a scheme on disk.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/scheme.h"

namespace storage {

/// How a memory front is set up.
struct MemoryFrontOptions {
  uint64_t capacity_bytes = 0;         ///< Memory for objects, all overheads included.
  uint64_t object_size_bytes_max = 0;  ///< Larger bodies stay on disk only.
  unsigned key_hash_bits = 128;        ///< As in SchemeEnvironment.

  MemoryFrontOptions(uint64_t capacity, uint64_t object_max)
      : capacity_bytes(capacity), object_size_bytes_max(object_max) {}
};

/// Puts memory in front of `disk`, which stays the authority: what it holds, refuses and reports
/// is what the whole holds, refuses and reports (info() is the disk's). A new object goes to both;
/// an open() looks into memory first; an object that is read from disk from its first byte to its
/// last moves into memory. An object that does not fit into memory is on disk only, which is no
/// failure.
///
/// Memory never serves a version that the disk has replaced, updated or removed. It may serve one
/// that the disk has evicted since: that is still the last version. Uses in memory are not seen by
/// the disk's replacement policy.
///
/// visit_counters() gives the disk's counters, and memory's own as `memory_front_...`. Same
/// executor as `disk`. start() starts the disk; memory begins empty.
std::unique_ptr<StorageScheme> make_memory_front(std::unique_ptr<StorageScheme> disk,
                                                 const MemoryFrontOptions& options);

}  // namespace storage
