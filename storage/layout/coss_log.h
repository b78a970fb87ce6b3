// The cyclic log of a coss store: which stripe is filled, which are on their way to the disk, and
// which may be overwritten next.
//
// Stripes have generations, which grow. Those on disk are overwritten in the order of their
// generations: before its place is taken, the oldest stripe is retired, its objects forgotten. The
// floor is the generation of the oldest stripe that is not retired. Every stripe carries the floor
// to the disk, and a place is written to only after a floor above what it held is on disk. So after
// a crash everything at or above the floor is there, in order, and a newer record of an object
// always wins over an older one: what was replaced or removed on disk does not come back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "storage/base/error.h"
#include "storage/layout/coss_format.h"
#include "storage/layout/coss_index.h"
#include "storage/layout/coss_membufs.h"

namespace storage {

/// Counts that only grow.
struct CossLogCounts {
  uint64_t evictions = 0;  ///< Objects that were overwritten.
  uint64_t stripes_flushed = 0;
  uint64_t flush_errors = 0;       ///< Stripes that could not be written.
  uint64_t objects_unwritten = 0;  ///< Objects lost with them.
  uint64_t pinned_skips = 0;       ///< Stripes passed over because they were being read.
  uint64_t removals = 0;           ///< Entries that record a removal.
};

/// Memory and places only; whoever owns it does the writing. One executor, nothing waits.
class CossLog {
 public:
  /// Room for a record in the stripe that is being filled.
  struct Place {
    uint32_t stripe = 0;
    uint32_t offset_bytes = 0;
    uint64_t seed = 0;           ///< Of the record's checksums.
    std::span<std::byte> bytes;  ///< As long as the record.
  };

  /// `flush` is called with a stripe that is full: write it, then call flushed(). `changed` is
  /// called when something that was refused may now be possible; it may come on a later turn of
  /// the executor.
  CossLog(const CossGeometry& geometry, unsigned membufs, boost::asio::any_io_executor executor,
          CossIndex& index, std::function<void(uint32_t)> flush, std::function<void()> changed);

  // What recovery found, oldest first; then begin().

  /// The stripe holds these generations' records and stays.
  void adopt(uint32_t stripe, uint64_t generation);
  /// All other stripes are free, and below the floor on disk; those that follow `newest_stripe`
  /// come first.
  void begin(uint32_t newest_stripe, uint64_t next_generation, uint64_t durable_floor);

  // Filling.

  /// kOverloaded where there is no room now: no membuf is free or no stripe can be overwritten.
  Result<Place> try_place(uint32_t record_size_bytes);
  /// Enters the record, all of which has been copied to `place`, into directory and index. Nothing
  /// may be placed in between.
  void publish(const Place& place, KeyHash hash);
  /// Records that the object is gone, now or at the beginning of the next stripe.
  void note_removal(KeyHash hash);
  /// Enters removals that found no room before; false where some still do not.
  bool enter_owed_removals();
  /// Whether a record of this size would find room, now or when the writes under way have ended.
  bool can_accept(uint32_t record_size_bytes) const;
  /// Whether what is missing is a free membuf, rather than a stripe to overwrite.
  bool short_of_membufs() const { return !membufs_.available(); }
  /// Sends the stripe that is being filled to the disk, if there is anything in it.
  void seal_open();
  /// Nothing is kept in memory that is not on its way to the disk.
  bool all_sealed() const;

  // Writing.

  uint64_t generation(uint32_t stripe) const { return stripes_[stripe].generation; }
  /// The whole stripe, for as long as it is in memory; null otherwise.
  const std::shared_ptr<std::byte>& memory(uint32_t stripe) const {
    return stripes_[stripe].memory;
  }
  /// Whether the floor on disk allows to overwrite what the place holds.
  bool may_overwrite(uint32_t stripe) const { return stripes_[stripe].held < durable_floor_; }
  /// Whether an older stripe is still on its way, which will bring a higher floor.
  bool older_in_flight(uint32_t stripe) const;
  uint64_t floor() const;
  /// A floor has reached the disk by another way.
  void floor_written(uint64_t floor);
  void flushed(uint32_t stripe, bool written);
  size_t in_flight() const { return in_flight_; }

  // Reading.

  /// A pinned stripe is not overwritten.
  void pin(uint32_t stripe) { ++stripes_[stripe].pins; }
  void unpin(uint32_t stripe);
  bool membufs_scarce() const { return membufs_.scarce(); }
  size_t membufs_out() const { return membufs_.out(); }
  /// How many stripes will be begun before this one is overwritten.
  uint64_t stripes_until_overwritten(uint32_t stripe) const;

  uint64_t next_generation() const { return next_generation_; }
  /// Stripes whose content counts, oldest first.
  const std::deque<uint32_t>& live() const { return live_; }
  const CossLogCounts& counts() const { return counts_; }

 private:
  enum class State { kFree, kOpen, kFlushing, kOnDisk, kRetired, kFailed };
  struct Stripe {
    State state = State::kFree;
    uint64_t generation = 0;
    uint64_t held = 0;     ///< Generation that its place may hold on disk; 0: none that counts.
    uint64_t floor = 0;    ///< That it carries, once sealed.
    uint64_t ordinal = 0;  ///< Counts stripes in the order in which they were begun.
    uint32_t pins = 0;
    std::shared_ptr<std::byte> memory;
    std::vector<CossEntry> entries;  ///< Until it is on disk.
  };

  std::span<std::byte> bytes(Stripe& stripe) const {
    return {stripe.memory.get(), geometry_.stripe_size_bytes};
  }
  bool fits(uint64_t record_size_bytes) const;
  bool stripe_available() const { return !free_.empty() || next_victim() < live_.size(); }
  bool rotate();
  size_t next_victim() const;
  bool retire_oldest();
  void seal(uint32_t stripe);
  void free_if_unread(uint32_t stripe);

  const CossGeometry geometry_;
  const unsigned lookahead_;
  CossIndex& index_;
  const std::function<void(uint32_t)> flush_;
  const std::function<void()> changed_;
  CossMembufs membufs_;
  CossLogCounts counts_;

  std::vector<Stripe> stripes_;
  std::deque<uint32_t> live_;
  std::deque<uint32_t> free_;
  uint32_t open_;  // the stripe that is being filled; the number of stripes where there is none
  uint32_t open_used_bytes_ = 0;
  std::vector<KeyHash> owed_removals_;
  uint64_t next_generation_ = 1;
  uint64_t next_ordinal_ = 0;
  uint64_t durable_floor_ = 1;
  size_t in_flight_ = 0;
};

}  // namespace storage
