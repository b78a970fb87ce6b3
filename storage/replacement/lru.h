// Least recently used.
#pragma once

#include "storage/replacement/policy.h"

namespace storage {

/// Evicts the object whose last use is longest ago. Every call takes constant time and allocates
/// nothing.
class LruPolicy final : public ReplacementPolicy {
 public:
  LruPolicy() = default;
  LruPolicy(const LruPolicy&) = delete;
  LruPolicy& operator=(const LruPolicy&) = delete;

  const char* name() const override { return "lru"; }
  void insert(PolicyEntry& entry) override;
  void touch(PolicyEntry& entry) override;
  void remove(PolicyEntry& entry) override;
  void resize(PolicyEntry& entry, uint64_t size_bytes) override;
  PolicyEntry* take_victim() override;
  uint64_t count() const override { return count_; }
  uint64_t size_bytes() const override { return size_bytes_; }

 private:
  void link_newest(PolicyEntry& entry);
  void unlink(PolicyEntry& entry);

  PolicyEntry* oldest_ = nullptr;
  PolicyEntry* newest_ = nullptr;
  uint64_t count_ = 0;
  uint64_t size_bytes_ = 0;
};

}  // namespace storage
