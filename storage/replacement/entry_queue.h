// A queue of policy entries, linked through the entries themselves.
#pragma once

#include <cassert>
#include <cstdint>

#include "storage/replacement/policy.h"

namespace storage {

/// Entries from the oldest to the newest, with their number and total size. An entry is in at most
/// one queue. Every call takes constant time and allocates nothing.
class EntryQueue {
 public:
  EntryQueue() = default;
  EntryQueue(const EntryQueue&) = delete;
  EntryQueue& operator=(const EntryQueue&) = delete;

  PolicyEntry* oldest() const { return oldest_; }
  uint64_t count() const { return count_; }
  uint64_t size_bytes() const { return size_bytes_; }

  /// Adds an entry that is in no queue.
  void push_newest(PolicyEntry& entry) {
    assert(entry.older == nullptr && entry.newer == nullptr && oldest_ != &entry);
    link_newest(entry);
    ++count_;
    size_bytes_ += entry.size_bytes;
  }

  /// Takes out an entry of this queue.
  void remove(PolicyEntry& entry) {
    assert(count_ > 0 && size_bytes_ >= entry.size_bytes);
    unlink(entry);
    --count_;
    size_bytes_ -= entry.size_bytes;
  }

  /// Moves an entry of this queue to its new end.
  void make_newest(PolicyEntry& entry) {
    if (newest_ == &entry) return;
    unlink(entry);
    link_newest(entry);
  }

  /// Changes the size of an entry of this queue.
  void resize(PolicyEntry& entry, uint64_t size_bytes) {
    assert(size_bytes_ >= entry.size_bytes);
    size_bytes_ = size_bytes_ - entry.size_bytes + size_bytes;
    entry.size_bytes = size_bytes;
  }

  /// Takes out the oldest; null when the queue is empty.
  PolicyEntry* take_oldest() {
    PolicyEntry* const entry = oldest_;
    if (entry != nullptr) remove(*entry);
    return entry;
  }

 private:
  void link_newest(PolicyEntry& entry) {
    entry.older = newest_;
    entry.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
    newest_ = &entry;
  }
  void unlink(PolicyEntry& entry) {
    (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
    (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
    entry.older = nullptr;
    entry.newer = nullptr;
  }

  PolicyEntry* oldest_ = nullptr;
  PolicyEntry* newest_ = nullptr;
  uint64_t count_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace storage
