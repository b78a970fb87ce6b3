// What the parts of a rock store share: file, slots, index, and the life of the whole.
//
// On the disk there is at most one head slot for a key that could be believed, but for the moment
// in which a newer one has been written and the older one not yet been cleared; the newer one has
// the higher generation. What leaves the index is *retired*: its head slot is cleared on the disk
// before any of its slots is used again, and versions of one key are cleared in the order in which
// they left. So whenever the process ends, nothing older than the last version is believed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/io/engine.h"
#include "storage/layout/change_signal.h"
#include "storage/layout/key_turns.h"
#include "storage/layout/rock_index.h"
#include "storage/layout/rock_options.h"
#include "storage/layout/rock_pacing.h"
#include "storage/layout/rock_slots.h"
#include "storage/layout/rock_volume.h"
#include "storage/layout/volume_store.h"
#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// Counts that only grow.
struct RockCounts {
  uint64_t evictions = 0;
  uint64_t damaged = 0;            ///< Objects dropped because a check failed.
  uint64_t unreadable = 0;         ///< Objects dropped because reading failed.
  uint64_t collisions = 0;         ///< Opens that met another key under the same hash.
  uint64_t clear_errors = 0;       ///< Head slots that could not be cleared at a first try.
  uint64_t paced = 0;              ///< Reads and writes that waited for their turn.
  uint64_t declined_reads = 0;     ///< Opens that would have waited too long for the disk.
  uint64_t declined_writes = 0;    ///< Objects and updates that would have.
  uint64_t declined_engine = 0;    ///< Objects declined because too much waits for the engine.
  uint64_t declined_arriving = 0;  ///< Objects declined because too many were arriving.
  uint64_t declined_room = 0;      ///< Objects for which no slot could be made free.
};

/// Shared by scheme, readers, writers and background work. All calls on the executor.
class RockStore final : public VolumeStore<RockVolume> {
 public:
  RockStore(std::string_view name, const RockOptions& options, const SchemeEnvironment& environment,
            std::unique_ptr<RockVolume> volume, std::unique_ptr<IoEngine> engine);

  /// Keeps the slots of a part from being used for anything else. Move-only; may hold nothing.
  class Pin {
   public:
    Pin() = default;
    /// `first_slot` of the part; kRockNoSlot pins nothing.
    Pin(std::shared_ptr<RockStore> store, uint32_t first_slot);
    Pin(Pin&& other) noexcept = default;
    Pin& operator=(Pin&& other) noexcept;
    ~Pin() { release(); }
    void release();

   private:
    std::shared_ptr<RockStore> store_;
    uint32_t first_slot_ = kRockNoSlot;
  };

  const RockOptions& options() const { return options_; }
  const RockGeometry& geometry() const { return volume_->geometry(); }
  RockIndex& index() { return index_; }
  RockSlots& slots() { return slots_; }
  RockCounts& counts() { return counts_; }
  KeyTurns& turns() { return turns_; }

  // The disk.

  /// A buffer of the pool, or of the heap where the pool's are too short.
  Task<Space> lend_buffer(size_t size_bytes);
  /// How many slots a buffer of the pool holds, at least 1.
  uint32_t slots_in_buffer() const;
  /// Reads from slot `first` on, paced; how many bytes there were.
  Task<size_t> read_slots(uint32_t first, std::span<std::byte> bytes);
  /// Completes the slot whose payload stands in `bytes`, and writes it, paced.
  Task<void> write_slot(uint32_t number, RockSlot slot, std::span<std::byte> bytes);
  /// kOverloaded, and counted, where an operation would have to wait for too long.
  Result<void> admit_read();
  Result<void> admit_write();

  // Room.

  /// Takes a free slot, evicting for it: kNoSpace where there is nothing that could go, kIo where
  /// the disk fails, kOverloaded after some seconds.
  Task<uint32_t> take_slot();
  /// Slots that writers hold or have announced to need; more than all there are is kNoSpace.
  Result<void> claim(uint64_t slots);
  void give_up_claim(uint64_t slots) { claimed_ -= slots; }
  /// Memory for the first slots of objects that are arriving; kOverloaded where it is used up.
  Result<void> enter_writer();
  void leave_writer() { --writers_; }
  void notify() { signal_->notify(); }

  // Objects.

  uint64_t take_generation() { return next_generation_++; }
  /// Makes a version, whose slots have been linked, the object; what it replaces is retired.
  void publish(const RockVersion& version, uint64_t slot_count);
  /// The same for a version that has the body part of what it replaces.
  void publish_update(const RockVersion& version, uint64_t slot_count);
  /// Which parts of a version are let go when its head slot has been cleared.
  enum class Keep { kNothing, kBody };
  /// Clears the head slot of a version that is not in the index, in the background, and lets its
  /// parts go. The order of these calls is the order on disk for versions of one hash.
  void retire(const RockVersion& version, Keep keep);
  /// Waits until nothing of `hash` is being retired; the error of what could not be.
  Task<void> settle(KeyHash hash);
  /// Removes an object in which damage was found, unless it was replaced or removed meanwhile.
  void drop(const RockVersion& version, Errc reason);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  struct Retired {
    RockVersion version;
    uint32_t body_slot = kRockNoSlot;  // of the body part to be let go
    uint32_t slot_count = 0;           // that become free
    uint64_t ticket = 0;
    Error error;  // why it could not be cleared
  };
  // Retirements of one hash.
  struct Lane {
    uint64_t next_ticket = 0;
    uint64_t serving = 0;
  };

  Task<void> recover() override;
  Task<void> write_state(RockState state);
  Task<void> leave_clean() override;
  bool evict_one();
  void make_room_ahead();
  void begin_retirement(Retired gone);
  static boost::asio::awaitable<void> finish_retirement(std::shared_ptr<RockStore> store,
                                                        Retired gone, Operation operation);
  Task<void> clear_in_order(Retired gone);
  Task<void> clear_head(uint32_t slot);
  void let_go(const Retired& gone);
  void retry_condemned(size_t count_max);
  Task<void> pace();

  std::shared_ptr<RockStore> self() {
    return std::static_pointer_cast<RockStore>(shared_from_this());
  }

  const RockOptions options_;
  RockIndex index_;
  RockSlots slots_;
  KeyTurns turns_;
  RockPacing pacing_;
  RockCounts counts_;

  uint64_t next_generation_ = 1;
  uint64_t claimed_ = 0;
  uint64_t writers_ = 0;
  uint64_t waiting_for_slots_ = 0;
  uint64_t retiring_slots_ = 0;  // that become free when their head has been cleared
  std::unordered_map<KeyHash, Lane, KeyHashHasher> lanes_;
  std::vector<Retired> condemned_;  // could not be cleared; their slots are not used again before
};

}  // namespace storage
