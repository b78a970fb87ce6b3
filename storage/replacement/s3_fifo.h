// S3-FIFO: three first-in-first-out queues.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "storage/replacement/entry_queue.h"
#include "storage/replacement/policy.h"

namespace storage {

/// New objects enter a small queue. Those that were used at least twice before they reach its end
/// move to the main queue, the others are evicted and their hashes remembered for a while; one that
/// comes back while it is remembered enters the main queue at once. At the end of the main queue an
/// object goes round again for each use that is still counted (3 at most). (Yang, Zhang, Qiu, Yue,
/// Rashmi: "FIFO Queues are All You Need for Cache Eviction", SOSP 2023, algorithm 1.)
///
/// Shares are of bytes: the small queue gives while it holds 10 % of the capacity or more; the
/// hashes of as many bytes are remembered as the main queue's 90 %. One victim at a time: the paper
/// may evict from the main queue on the way to evicting from the small one, here that is the
/// victim. A use takes constant time; a victim takes constant time on average.
class S3FifoPolicy final : public ReplacementPolicy {
 public:
  explicit S3FifoPolicy(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  const char* name() const override { return "s3-fifo"; }
  void insert(PolicyEntry& entry) override;
  void touch(PolicyEntry& entry) override;
  void remove(PolicyEntry& entry) override;
  void resize(PolicyEntry& entry, uint64_t size_bytes) override;
  PolicyEntry* take_victim() override;
  /// As the newest of the main queue, and no longer remembered as gone.
  void put_back(PolicyEntry& victim) override;
  uint64_t count() const override { return small_.count() + main_.count(); }
  uint64_t size_bytes() const override { return small_.size_bytes() + main_.size_bytes(); }
  /// Number of hashes of evicted objects that are remembered.
  uint64_t ghost_count() const { return ghosts_.size(); }

 private:
  struct Ghost {
    KeyHash hash;
    uint64_t size_bytes = 0;
  };
  using Ghosts = std::list<Ghost>;  // those that went longest ago first

  EntryQueue& queue_of(const PolicyEntry& entry);
  void push(EntryQueue& queue, PolicyEntry& entry);
  PolicyEntry* take_from_small();
  PolicyEntry* take_from_main();
  void remember(const PolicyEntry& entry);
  bool forget(KeyHash hash);

  const uint64_t capacity_bytes_;
  EntryQueue small_;
  EntryQueue main_;
  Ghosts ghosts_;
  std::unordered_map<KeyHash, Ghosts::iterator, KeyHashHasher> ghost_places_;
  uint64_t ghost_bytes_ = 0;
};

}  // namespace storage
