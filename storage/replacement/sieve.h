// SIEVE.
#pragma once

#include "storage/replacement/entry_queue.h"
#include "storage/replacement/policy.h"

namespace storage {

/// Evicts by a hand that walks from the oldest object to the newest, again and again: an object
/// that was used since the hand last passed is spared and unmarked, where it stands; the first one
/// that was not is the victim. (Zhang, Yang, Yue, Vigfusson, Rashmi: "SIEVE is Simpler than LRU: an
/// Efficient Turn-Key Eviction Algorithm for Web Caches", NSDI 2024.) A use takes constant time and
/// moves nothing; a victim takes constant time on average. Allocates nothing.
class SievePolicy final : public ReplacementPolicy {
 public:
  const char* name() const override { return "sieve"; }
  void insert(PolicyEntry& entry) override;
  void touch(PolicyEntry& entry) override;
  void remove(PolicyEntry& entry) override;
  void resize(PolicyEntry& entry, uint64_t size_bytes) override;
  PolicyEntry* take_victim() override;
  /// As the newest.
  void put_back(PolicyEntry& victim) override;
  uint64_t count() const override { return queue_.count(); }
  uint64_t size_bytes() const override { return queue_.size_bytes(); }

 private:
  EntryQueue queue_;
  PolicyEntry* hand_ = nullptr;  // null: the oldest is next
};

}  // namespace storage
