// Least recently used.
#pragma once

#include "storage/replacement/entry_queue.h"
#include "storage/replacement/policy.h"

namespace storage {

/// Evicts the object whose last use is longest ago. A victim that is put back counts as used. Every
/// call takes constant time and allocates nothing.
class LruPolicy final : public ReplacementPolicy {
 public:
  const char* name() const override { return "lru"; }
  void insert(PolicyEntry& entry) override { queue_.push_newest(entry); }
  void touch(PolicyEntry& entry) override { queue_.make_newest(entry); }
  void remove(PolicyEntry& entry) override { queue_.remove(entry); }
  void resize(PolicyEntry& entry, uint64_t size_bytes) override {
    queue_.resize(entry, size_bytes);
  }
  PolicyEntry* take_victim() override { return queue_.take_oldest(); }
  void put_back(PolicyEntry& victim) override { queue_.push_newest(victim); }
  uint64_t count() const override { return queue_.count(); }
  uint64_t size_bytes() const override { return queue_.size_bytes(); }

 private:
  EntryQueue queue_;
};

}  // namespace storage
