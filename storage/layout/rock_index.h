// Which object begins at which slot of a rock store, and which goes when room is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "storage/replacement/policy.h"
#include "storage/types.h"

namespace storage {

/// One version of an object, told from all that were or will be.
struct RockVersion {
  KeyHash hash;
  uint64_t generation = 0;  ///< Of its head part.
  uint32_t head_slot = 0;
};

/// Maps hashes of keys to head slots, in memory alone. An object takes 64 bytes and its share of
/// the buckets, which are 2 to 4 bytes for each slot of the store and made once, so that nothing is
/// ever rehashed. One executor.
class RockIndex {
 public:
  /// Uses the lowest `key_hash_bits` of hashes.
  RockIndex(std::unique_ptr<ReplacementPolicy> policy, uint32_t slot_count, unsigned key_hash_bits);

  /// Not a use of the object.
  std::optional<RockVersion> find(KeyHash hash) const;
  /// Whether this very version is the object.
  bool current(const RockVersion& version) const;
  void touch(KeyHash hash);
  /// Enters a version, which takes `size_bytes`; what it replaces, if anything.
  std::optional<RockVersion> put(const RockVersion& version, uint64_t size_bytes);
  /// Forgets what is there, whatever version it is; what it was.
  std::optional<RockVersion> erase(KeyHash hash);
  /// Forgets this very version; whether it was there.
  bool erase(const RockVersion& version);
  /// Forgets and returns what the policy chooses among the objects that `in_use` does not hold back
  /// by their head slot; nothing where there is none, or none after some tries.
  std::optional<RockVersion> take_victim(const std::function<bool(uint32_t)>& in_use);
  void clear();

  unsigned key_hash_bits() const { return key_hash_bits_; }
  /// Hashes that the index takes for one: what changes of an object take turns by.
  KeyHash shortened(KeyHash hash) const { return truncated(hash, key_hash_bits_); }

  uint64_t count() const { return policy_->count(); }
  /// Space that the objects take in slots.
  uint64_t size_bytes() const { return policy_->size_bytes(); }
  /// Memory of entries and buckets; what the policy keeps beside its entries is not in it.
  uint64_t memory_bytes() const;

 private:
  struct Entry : PolicyEntry {
    uint64_t generation = 0;
    uint32_t head_slot = 0;
    uint32_t next = 0;  // number of the next entry of the bucket, or of the next unused one
    RockVersion version() const { return {hash, generation, head_slot}; }
  };
  static_assert(sizeof(Entry) == 64);
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kBlockSize = 1024;

  Entry& at(uint32_t number) { return blocks_[number / kBlockSize][number % kBlockSize]; }
  const Entry& at(uint32_t number) const {
    return blocks_[number / kBlockSize][number % kBlockSize];
  }
  uint32_t& bucket_of(KeyHash hash) {
    return buckets_[shortened(hash).low & (buckets_.size() - 1)];
  }
  uint32_t number_of(KeyHash hash) const;
  uint32_t make_entry();
  void drop(uint32_t number);

  std::unique_ptr<ReplacementPolicy> policy_;
  const unsigned key_hash_bits_;
  std::vector<uint32_t> buckets_;
  std::vector<std::unique_ptr<Entry[]>> blocks_;  // entries never move
  uint32_t unused_ = kNone;
};

}  // namespace storage
