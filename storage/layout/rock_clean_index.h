// The index that a clean stop leaves, so that the next start need not look at every slot.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/rock_format.h"
#include "storage/layout/rock_index.h"
#include "storage/layout/rock_slots.h"

namespace storage {

/// The most slots that an object may have and still be listed: a block of the index holds at least
/// one object, and is at most 1 MiB long.
inline constexpr uint32_t kRockObjectSlotsMax = 262'000;

/// Writes all objects, those that would go first first, and takes them out of `index`. Returns the
/// length of what was written, 0 where it does not fit. `generation` is one that the store has not
/// used: it goes into the checksums.
Task<uint64_t> write_rock_index(File& file, RockGeometry geometry, uint64_t generation,
                                RockIndex& index, const RockSlots& slots);

/// Enters all objects into `index` and `slots`, which are empty. False where any of it is damaged
/// or makes no sense: both are empty again then.
Task<bool> load_rock_index(File& file, RockGeometry geometry, RockState state, RockIndex& index,
                           RockSlots& slots);

}  // namespace storage
