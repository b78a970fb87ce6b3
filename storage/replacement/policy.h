// Which object goes when room is needed: the part of a store that replacement policies differ in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/types.h"

namespace storage {

/// What a policy knows of one object. A store derives its index entry from it, or embeds one; the
/// address must not change while the entry is in a policy. The store sets `hash` and `size_bytes`
/// before insert(); everything else belongs to the policy.
struct PolicyEntry {
  KeyHash hash;             ///< Tells objects apart after they have gone (ghost lists, sketches).
  uint64_t size_bytes = 0;  ///< As the store counts its capacity. Change it by resize() only.

  PolicyEntry* older = nullptr;  ///< Neighbours in the policy's queue.
  PolicyEntry* newer = nullptr;
  uint64_t rank = 0;    ///< Priority, queue number or reference count, as the policy needs.
  size_t position = 0;  ///< Place in a heap, as the policy needs.

  PolicyEntry() = default;
  PolicyEntry(KeyHash hash_in, uint64_t size_bytes_in) : hash(hash_in), size_bytes(size_bytes_in) {}
};

/// Orders the objects of one store for eviction. The policy owns no entry, does no I/O and never
/// decides that room is needed: the store calls take_victim() until its new object fits. Not
/// thread-safe: all calls on the store's executor. The entries must be removed, or never used
/// again, before they are destroyed.
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  virtual const char* name() const = 0;

  /// A new object; also the replacement of an older one, which is removed first.
  virtual void insert(PolicyEntry& entry) = 0;
  /// The object was used (a hit, an update).
  virtual void touch(PolicyEntry& entry) = 0;
  /// The object is gone for another reason than eviction.
  virtual void remove(PolicyEntry& entry) = 0;
  /// The object now takes `size_bytes`. Not a use of it.
  virtual void resize(PolicyEntry& entry, uint64_t size_bytes) = 0;
  /// Chooses the object to evict and removes it from the policy; null when there is none. A store
  /// that cannot let it go just now (somebody still reads it) may insert() it again.
  virtual PolicyEntry* take_victim() = 0;

  /// Number and total size of the entries that are in the policy.
  virtual uint64_t count() const = 0;
  virtual uint64_t size_bytes() const = 0;
};

}  // namespace storage
