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
  uint64_t rank = 0;    ///< Reference count or mark, as the policy needs.
  size_t position = 0;  ///< Place in a heap or number of a queue, as the policy needs.

  PolicyEntry() = default;
  PolicyEntry(KeyHash hash_in, uint64_t size_bytes_in) : hash(hash_in), size_bytes(size_bytes_in) {}
};

/// Orders the objects of one store for eviction. The policy owns no entry, does no I/O and never
/// decides that room is needed: the store calls take_victim() until its new object fits, and then
/// insert() for that. Not thread-safe: all calls on the store's executor. The entries must be
/// removed, or never used again, before they are destroyed. Policies are made by make_policy().
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;
  /// As make_policy() takes it.
  virtual const char* name() const = 0;

  /// A new object. A new version of an object that is in the policy is a touch() and a resize():
  /// what is known of its popularity stays.
  virtual void insert(PolicyEntry& entry) = 0;
  /// The object was used (a hit, an update, a new version).
  virtual void touch(PolicyEntry& entry) = 0;
  /// The object is gone for another reason than eviction.
  virtual void remove(PolicyEntry& entry) = 0;
  /// The object now takes `size_bytes`. Not a use of it.
  virtual void resize(PolicyEntry& entry, uint64_t size_bytes) = 0;
  /// Chooses the object to evict and removes it from the policy; null when there is none.
  virtual PolicyEntry* take_victim() = 0;
  /// Takes back an object that take_victim() gave and that cannot go just now (somebody reads it):
  /// it goes to where it is not the next victim at once, with its uses as they were counted before.
  /// Nothing but remove() and take_victim() may come between.
  virtual void put_back(PolicyEntry& victim) = 0;

  /// Number and total size of the entries that are in the policy.
  virtual uint64_t count() const = 0;
  virtual uint64_t size_bytes() const = 0;
};

}  // namespace storage
