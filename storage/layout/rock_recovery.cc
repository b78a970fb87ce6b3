#include "storage/layout/rock_recovery.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/layout/aligned_buffer.h"
#include "storage/layout/rock_clean_index.h"
#include "storage/layout/rock_scan.h"

namespace storage {

namespace {

// Further than any generation that was begun and lost in the crash.
constexpr uint64_t kGenerationsSkipped = 1 << 20;

Task<std::optional<RockState>> read_state(File& file, uint64_t store_id) {
  const Space page = make_aligned_buffer(kRockPageSize);
  const Result<size_t> got = co_await file.read(kRockStateOffset, page.bytes());
  if (!got) co_return got.error();
  co_return decode_rock_state(store_id, page.bytes().first(*got));
}

}  // namespace

Task<RockRecovery> recover_rock(std::shared_ptr<File> file, RockGeometry geometry,
                                uint32_t previous_slot_count, boost::asio::any_io_executor executor,
                                RockIndex& index, RockSlots& slots) {
  RockRecovery recovery;
  if (previous_slot_count == 0) co_return recovery;
  const Result<std::optional<RockState>> state = co_await read_state(*file, geometry.store_id);
  if (!state) co_return state.error();
  recovery.clean = *state && (*state)->clean;
  if (recovery.clean) recovery.next_generation = (*state)->next_generation + 1;
  if (recovery.clean && previous_slot_count == geometry.slot_count) {
    const Result<bool> loaded = co_await load_rock_index(*file, geometry, **state, index, slots);
    if (!loaded) co_return loaded.error();
    if (*loaded) co_return recovery;
  }
  Result<RockScan> scan =
      co_await scan_rock(file, geometry, previous_slot_count, index.key_hash_bits(), executor);
  if (!scan) co_return scan.error();
  std::vector<bool> used(geometry.slot_count);
  for (const RockFoundObject& object : scan->objects) {
    for (const uint32_t slot : object.chain.slots) used[slot] = true;
  }
  slots.reset(used);
  for (const RockFoundObject& object : scan->objects) {
    slots.link(object.chain.head(), object.chain.body());
    index.put(object.version, object.chain.slots.size() * geometry.slot_size_bytes);
  }
  recovery.damaged = scan->broken.size() + scan->damaged_slots.size();
  recovery.stale = std::move(scan->stale);
  recovery.next_generation =
      std::max(recovery.next_generation, scan->next_generation) + kGenerationsSkipped;
  co_return recovery;
}

}  // namespace storage
