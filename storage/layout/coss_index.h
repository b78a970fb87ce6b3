// Which object lies where in a coss store.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/layout/coss_format.h"
#include "storage/types.h"

namespace storage {

/// The place of a record.
struct CossLocation {
  uint32_t block = 0;  ///< Counted in blocks from the first stripe on.
  uint32_t size_bytes = 0;
  friend bool operator==(const CossLocation& left, const CossLocation& right) = default;
};

/// Maps hashes of keys to records, and knows the objects of each stripe. In memory alone.
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
  /// Prepares for so many objects.
  void expect(uint64_t count) { entries_.reserve(count); }

  uint64_t count() const { return entries_.size(); }
  /// Space that the objects take in stripes.
  uint64_t size_bytes() const { return size_bytes_; }

  CossLocation location(uint32_t stripe, uint32_t offset_bytes, uint32_t size_bytes) const;
  uint32_t stripe_of(CossLocation location) const;
  uint32_t offset_of(CossLocation location) const;

  unsigned key_hash_bits() const { return key_hash_bits_; }
  using Entries = std::unordered_map<KeyHash, CossLocation, KeyHashHasher>;
  const Entries& entries() const { return entries_; }

 private:
  uint64_t footprint(CossLocation location) const {
    return round_up(location.size_bytes, geometry_.block_size_bytes);
  }

  const CossGeometry geometry_;
  const unsigned key_hash_bits_;
  Entries entries_;
  uint64_t size_bytes_ = 0;
  // Hashes of all that was put into a stripe, whether it is still there or not.
  std::vector<std::vector<KeyHash>> by_stripe_;
};

}  // namespace storage
