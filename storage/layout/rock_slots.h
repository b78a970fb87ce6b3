// The slots of a rock store: which are free, which form a chain, and which are being read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "storage/layout/rock_format.h"

namespace storage {

/// The slots of one object in their order: first those of the head part.
struct RockChain {
  std::vector<uint32_t> slots;
  uint32_t head_count = 0;

  std::span<const uint32_t> head() const { return std::span(slots).first(head_count); }
  std::span<const uint32_t> body() const { return std::span(slots).subspan(head_count); }
  uint32_t first_body_slot() const {
    return slots.size() > head_count ? slots[head_count] : kRockNoSlot;
  }
};

/// 4 bytes for each slot, in memory alone. Parts of chains are named by their first slot. A part
/// that is let go while somebody reads it is free when the last one has done so. One executor.
class RockSlots {
 public:
  /// All slots are free at first; reserve() takes them out one by one.
  explicit RockSlots(uint32_t slot_count);

  uint32_t count() const { return static_cast<uint32_t>(next_.size()); }
  uint32_t free_count() const { return free_count_; }
  uint64_t memory_bytes() const { return next_.size() * sizeof(uint32_t); }

  /// A free slot; the lowest ones first in a new store.
  std::optional<uint32_t> take();
  void give_back(uint32_t slot);

  /// Makes a chain of slots that have been taken.
  void link(std::span<const uint32_t> head, std::span<const uint32_t> body);
  RockChain chain(uint32_t head_slot) const;

  void pin(uint32_t first_slot) { ++in_use_[first_slot].pins; }
  void unpin(uint32_t first_slot);
  /// Whether somebody reads the chain that begins there.
  bool pinned(uint32_t head_slot) const;
  /// Frees a part, now or when nobody reads it any more.
  void let_go(uint32_t first_slot);

  /// Forgets all chains; the slots that `used` says are taken are not free. Nothing is pinned.
  void reset(const std::vector<bool>& used);

 private:
  struct Use {
    uint32_t pins = 0;
    bool let_go = false;
  };
  static constexpr uint32_t kEndOfHead = 0x80000000;  // the next slot begins the body part

  void free_part(uint32_t first_slot);

  // For a slot of a chain the next one and whether it ends the head part, for a free one the next
  // free one.
  std::vector<uint32_t> next_;
  uint32_t first_free_ = kRockNoSlot;
  uint32_t free_count_ = 0;
  std::unordered_map<uint32_t, Use> in_use_;
};

}  // namespace storage
