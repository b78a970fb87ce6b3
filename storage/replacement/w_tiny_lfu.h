// W-TinyLFU: a small window, and a main part that only the more popular enter.
#pragma once

#include <cstdint>

#include "storage/replacement/entry_queue.h"
#include "storage/replacement/frequency_sketch.h"
#include "storage/replacement/policy.h"

namespace storage {

/// New objects enter a window with 1 % of the capacity, ordered by last use. The rest is in two
/// segments that are ordered alike: probation, and protected (80 % of the main part) for what was
/// used in probation; what protected has no room for goes back to probation. While the window is
/// over its share, its oldest object and the oldest of probation compete for staying: the one that
/// was used more often lately, in the store or out of it, stays (in probation), the other is the
/// victim; of equals the newcomer goes. Otherwise the oldest of probation is the victim. (Einziger,
/// Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13(4), 2017; without the doorkeeper.)
///
/// Shares are of bytes; an object competes once for each victim, whatever their sizes. Until the
/// first victim, and for as many bytes as were remove()d from the main part later, what the window
/// has no room for enters probation without competing. Every call takes constant time, but for the
/// ageing and growth of the sketch.
class WTinyLfuPolicy final : public ReplacementPolicy {
 public:
  explicit WTinyLfuPolicy(uint64_t capacity_bytes);

  const char* name() const override { return "w-tinylfu"; }
  void insert(PolicyEntry& entry) override;
  void touch(PolicyEntry& entry) override;
  void remove(PolicyEntry& entry) override;
  void resize(PolicyEntry& entry, uint64_t size_bytes) override;
  PolicyEntry* take_victim() override;
  /// As the newest of probation.
  void put_back(PolicyEntry& victim) override;
  uint64_t count() const override;
  uint64_t size_bytes() const override;

 private:
  EntryQueue& queue_of(const PolicyEntry& entry);
  void push(EntryQueue& queue, PolicyEntry& entry);
  void protect(PolicyEntry& entry);

  const uint64_t window_bytes_max_;
  uint64_t free_main_bytes_;  // what may enter the main part without competing
  const uint64_t protected_bytes_max_;
  bool had_victim_ = false;
  EntryQueue window_;
  EntryQueue probation_;
  EntryQueue protected_;
  FrequencySketch sketch_;
};

}  // namespace storage
