// Which objects a ufs store holds: hash to file number, in the order of a replacement policy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "storage/layout/ufs_swap_log_format.h"
#include "storage/replacement/policy.h"
#include "storage/types.h"

namespace storage {

/// The index. Not thread-safe; does no I/O. Keys are told apart by `hash_bits` bits of their hash
/// only: whoever opens a file compares the key in it.
class UfsIndex {
 public:
  /// `hash_bits` from 1 to 128.
  UfsIndex(std::unique_ptr<ReplacementPolicy> policy, unsigned hash_bits);
  UfsIndex(const UfsIndex&) = delete;
  UfsIndex& operator=(const UfsIndex&) = delete;

  /// What is known of an object; the hash is the full one. `kind` is always kAdd.
  std::optional<UfsLogRecord> find(KeyHash hash) const;
  /// Marks it as used now; nothing where it is not there.
  void touch(KeyHash hash);
  /// Adds an object and returns the one that it replaces; a new version of an object keeps what the
  /// policy knows of that, and counts as a use of it.
  std::optional<UfsLogRecord> insert(const UfsLogRecord& object);
  /// Removes what is there under this hash, where `sequence` is given only if it is that file.
  std::optional<UfsLogRecord> erase(KeyHash hash, std::optional<uint64_t> sequence = {});
  /// Removes and returns what the policy gives up first; nothing when the index is empty.
  std::optional<UfsLogRecord> take_victim();

  uint64_t count() const { return policy_->count(); }
  /// Sum of allocated_bytes.
  uint64_t size_bytes() const { return policy_->size_bytes(); }
  /// All objects in the order of their file numbers.
  std::vector<UfsLogRecord> by_sequence() const;
  const char* policy_name() const { return policy_->name(); }

 private:
  struct Entry : PolicyEntry {
    explicit Entry(const UfsLogRecord& object)
        : PolicyEntry(object.hash, object.allocated_bytes),
          sequence(object.sequence),
          file_size_bytes(object.file_size_bytes) {}
    UfsLogRecord record() const;
    uint64_t sequence;
    uint64_t file_size_bytes;
  };

  KeyHash shortened(KeyHash hash) const;

  std::unique_ptr<ReplacementPolicy> policy_;
  unsigned hash_bits_;
  std::unordered_map<KeyHash, Entry, KeyHashHasher> entries_;
};

}  // namespace storage
