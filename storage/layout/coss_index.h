// Which object lies where in a coss store.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/layout/coss_format.h"
#include "storage/layout/slab_array.h"
#include "storage/types.h"

namespace storage {

/// The place of a record.
struct CossLocation {
  uint32_t block = 0;  ///< Counted in blocks from the first stripe on.
  uint32_t size_bytes = 0;
  friend bool operator==(const CossLocation& left, const CossLocation& right) = default;
};

/// An object as the index knows it.
struct CossObject {
  KeyHash hash;
  CossLocation location;
};

/// Maps hashes of keys to records, and knows the objects of each stripe. In memory alone: 40 bytes
/// an object (36 for the entry, 4 for its bucket) and 4 a stripe. It grows by one bucket at a time
/// (linear hashing), so that no call takes long, however many objects there are.
class CossIndex {
 public:
  /// Uses the lowest `key_hash_bits` of hashes.
  CossIndex(const CossGeometry& geometry, unsigned key_hash_bits);

  std::optional<CossLocation> find(KeyHash hash) const;
  /// Enters an object, or its newer place.
  void put(KeyHash hash, CossLocation location);
  /// Whether it was there.
  bool erase(KeyHash hash);
  /// Only while it is at this place.
  bool erase(KeyHash hash, CossLocation location);
  /// Forgets all objects in a stripe; how many there were.
  uint64_t drop_stripe(uint32_t stripe);
  void clear();

  uint64_t count() const { return count_; }
  /// Space that the objects take in stripes.
  uint64_t size_bytes() const { return size_bytes_; }

  CossLocation location(uint32_t stripe, uint32_t offset_bytes, uint32_t size_bytes) const;
  uint32_t stripe_of(CossLocation location) const;
  uint32_t offset_of(CossLocation location) const;
  unsigned key_hash_bits() const { return key_hash_bits_; }

  /// For going through all objects, in an order that means nothing, while the index stays as it is:
  /// slots from 0 to slot_count() - 1 hold one object or none.
  uint32_t slot_count() const { return static_cast<uint32_t>(entries_.size()); }
  std::optional<CossObject> object_in(uint32_t slot) const;
  /// All objects of a stripe, those put last first.
  std::vector<CossObject> objects_of(uint32_t stripe) const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Words of 32 bits throughout, so that none is lost to alignment.
  struct Entry {
    std::array<uint32_t, 4> hash;
    CossLocation location;    // of 0 bytes where the entry is unused
    uint32_t next_in_bucket;  // or the next unused entry
    uint32_t older_in_stripe;
    uint32_t newer_in_stripe;
  };
  static_assert(sizeof(Entry) == 36);

  static std::array<uint32_t, 4> words_of(KeyHash hash);
  static KeyHash hash_of(const Entry& entry);
  uint64_t footprint(CossLocation location) const {
    return round_up(location.size_bytes, geometry_.block_size_bytes);
  }
  uint32_t bucket_of(KeyHash hash) const;
  uint32_t entry_of(KeyHash seen) const;
  uint32_t add_entry(KeyHash seen);
  void add_bucket();
  void link_to_stripe(uint32_t at);
  void unlink_from_stripe(uint32_t at);
  void remove_entry(uint32_t at);

  const CossGeometry geometry_;
  const unsigned key_hash_bits_;
  SlabArray<Entry, 1024> entries_;
  SlabArray<uint32_t, 4096> buckets_;  // the first entry of each
  uint32_t unused_ = kNone;
  // Linear hashing: so many buckets, a power of two, when the present round began; that many more
  // will be there at its end, each split off from the one that is next_split_ then.
  uint32_t round_buckets_ = 1;
  uint32_t next_split_ = 0;
  uint64_t count_ = 0;
  uint64_t size_bytes_ = 0;
  std::vector<uint32_t> newest_in_stripe_;
};

}  // namespace storage
