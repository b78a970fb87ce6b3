// What a rock store finds when it starts.
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

/// Beside what went into index and slots.
struct RockRecovery {
  bool clean = true;  ///< The last stop was clean, or the store is new.
  uint64_t next_generation = 1;
  uint64_t damaged = 0;  ///< Objects dropped because a check failed.
  /// Head slots to be cleared before anything else is written.
  std::vector<RockVersion> stale;
};

/// Fills `index` and `slots`, which are empty, from the clean index, or from all slots where there
/// is none. Writes nothing. `previous_slot_count` is that of the last use, 0 for a new store.
Task<RockRecovery> recover_rock(std::shared_ptr<File> file, RockGeometry geometry,
                                uint32_t previous_slot_count, boost::asio::any_io_executor executor,
                                RockIndex& index, RockSlots& slots);

}  // namespace storage
