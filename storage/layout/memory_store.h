// Objects in memory, with calls that never wait: the core of the memory scheme and of the memory
// front.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "storage/base/counters.h"
#include "storage/layout/memory_pages.h"
#include "storage/replacement/policy.h"
#include "storage/scheme.h"

namespace storage {

/// One version of an object. Immutable.
class MemoryObject {
 public:
  MemoryObject(Key key, Metadata metadata, std::shared_ptr<const MemoryBody> body,
               MemoryCharge charge)
      : key_(std::move(key)),
        metadata_(std::move(metadata)),
        body_(std::move(body)),
        charge_(std::move(charge)) {}

  const Key& key() const { return key_; }
  const Metadata& metadata() const { return metadata_; }
  const std::shared_ptr<const MemoryBody>& body() const { return body_; }
  /// What it takes of the store's capacity, its pages included.
  uint64_t charged_bytes() const { return charge_.size_bytes() + body_->charged_bytes(); }

 private:
  Key key_;
  Metadata metadata_;
  std::shared_ptr<const MemoryBody> body_;
  MemoryCharge charge_;
};

class MemoryDraft;

/// A bounded map from keys to objects, evicted by a replacement policy. All that it or a lease on
/// its pages holds is counted in its capacity: objects, unfinished drafts, and objects that are
/// gone but still read. Objects that are being read are not evicted, since that would free nothing.
/// All calls on one executor; pages may be let go on any thread. Drafts must be gone before it.
class MemoryStore {
 public:
  /// What an object takes beside its key, its metadata and its pages.
  static constexpr uint64_t kObjectOverheadBytes = 384;

  /// Bodies over `object_size_bytes_max` are kTooLarge. `key_hash_bits` as in SchemeEnvironment.
  MemoryStore(uint64_t capacity_bytes, uint64_t object_size_bytes_max, unsigned key_hash_bits,
              std::unique_ptr<ReplacementPolicy> policy);
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  /// The object of this very key, or null; a use of it.
  std::shared_ptr<const MemoryObject> find(const Key& key);

  /// Begins an object. Room for a body of known size is made at once, for any other page by page.
  /// kTooLarge, kNoSpace.
  Result<std::unique_ptr<MemoryDraft>> begin(Key key, Metadata metadata,
                                             std::optional<uint64_t> body_size_bytes);

  /// A new version with other metadata and the same body; a use of it. kNotFound; kTooLarge and
  /// kNoSpace leave the old version.
  Result<void> update(const Key& key, Metadata metadata);

  /// Forgets the object of this very key, if it is there.
  void remove(const Key& key);

  /// Forgets all objects; drafts can no longer be published, and begin() and update() are kStopped.
  void close();
  bool closed() const { return closed_; }

  /// `objects`, `size_bytes` (all that is counted), `object_bytes` (of the objects that can be
  /// found), `evictions_total`, `evicted_bytes_total`, `hash_collisions_total` (objects that gave
  /// way to one of another key with the same hash), `replacement_policy` (always 1, labelled with
  /// the policy's name), each after `prefix`.
  void visit_counters(CounterVisitor& visitor, std::string_view prefix) const;

 private:
  friend class MemoryDraft;
  struct Entry : PolicyEntry {
    using PolicyEntry::PolicyEntry;
    std::shared_ptr<const MemoryObject> object;
  };
  using Entries = std::unordered_map<KeyHash, Entry, KeyHashHasher>;

  /// Charges `size_bytes`, evicting for them what has to go; nothing where that is not enough.
  std::optional<MemoryCharge> charge(uint64_t size_bytes);
  void publish(std::shared_ptr<const MemoryObject> object);
  Entries::iterator find_entry(const Key& key);
  void erase(Entries::iterator found);
  static uint64_t object_charge_bytes(const Key& key, const Metadata& metadata);

  const uint64_t capacity_bytes_;
  const uint64_t object_size_bytes_max_;
  const unsigned key_hash_bits_;
  const std::shared_ptr<MemoryAccount> account_;
  Entries entries_;
  const std::unique_ptr<ReplacementPolicy> policy_;
  bool closed_ = false;
  uint64_t evictions_total_ = 0;
  uint64_t evicted_bytes_total_ = 0;
  uint64_t hash_collisions_total_ = 0;
};

/// An object on its way into a MemoryStore. Destroying it before publish() leaves nothing.
class MemoryDraft {
 public:
  /// Pages are at most this large; the pages of a body of known size add up to it.
  static constexpr size_t kPageSizeMax = 64 * 1024;
  static constexpr size_t kPageSizeMin = 4 * 1024;

  /// Lends the next bytes of the body, at least 1. Called again without append(), it lends the same
  /// ones. kNoSpace, kStopped.
  Result<Space> reserve(size_t size_hint_bytes);

  /// As Writer::append. `space` must be what reserve() lent last. kTooLarge; kAborted past the
  /// stated size.
  Result<void> append(const Space& space, size_t used_bytes);

  /// Reserves, copies and appends all of `bytes`.
  Result<void> append_copy(std::span<const std::byte> bytes);

  /// As Writer::commit.
  Result<void> publish();

  uint64_t size_bytes() const { return body_->size_bytes(); }

 private:
  friend class MemoryStore;
  MemoryDraft(MemoryStore& store, Key key, Metadata metadata,
              std::optional<uint64_t> body_size_bytes, MemoryCharge charge);
  size_t next_page_size_bytes(size_t size_hint_bytes) const;
  Result<std::shared_ptr<MemoryPage>> make_page(size_t size_bytes);
  void trim_last_page();

  MemoryStore& store_;
  Key key_;
  Metadata metadata_;
  const std::optional<uint64_t> body_size_bytes_;
  MemoryCharge charge_;  ///< For the object itself and, where the size is known, for its pages.
  std::shared_ptr<MemoryBody> body_ = std::make_shared<MemoryBody>();
  std::shared_ptr<MemoryPage> page_;  ///< The page that is being filled.
  size_t page_used_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace storage
