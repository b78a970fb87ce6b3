// Everything that stands in the slots of a rock store, and what of it is an object.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/rock_format.h"
#include "storage/layout/rock_index.h"
#include "storage/layout/rock_slots.h"

namespace storage {

/// An object of which every slot has been read and verified.
struct RockFoundObject {
  RockVersion version;
  RockChain chain;
  uint64_t body_size_bytes = 0;
};

/// What a scan found, each list sorted by generation, the lowest first.
struct RockScan {
  std::vector<RockFoundObject> objects;  ///< The newest version of each hash.
  /// Head slots that are no object and must not be believed later: older versions, and those whose
  /// chain is damaged or reaches beyond the slots that the store has now.
  std::vector<RockVersion> stale;
  std::vector<uint32_t> broken;         ///< Head slots of damaged or incomplete objects.
  std::vector<uint32_t> damaged_slots;  ///< Slots that began an object, and fail their checks.
  std::vector<uint32_t> unreadable_slots;
  uint64_t older_versions = 0;   ///< Of `stale`.
  uint64_t next_generation = 1;  ///< Above all that were found.
};

/// Reads the first `slot_count` slots from the beginning to the end, 1 MiB at a time, some at once,
/// and verifies every byte. The store may have more or fewer slots, as `geometry` says: an object
/// that does not lie in these is not one. Hashes count as `key_hash_bits` bits.
Task<RockScan> scan_rock(std::shared_ptr<File> file, RockGeometry geometry, uint32_t slot_count,
                         unsigned key_hash_bits, boost::asio::any_io_executor executor);

}  // namespace storage
