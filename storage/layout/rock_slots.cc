#include "storage/layout/rock_slots.h"

#include <cassert>

namespace storage {

RockSlots::RockSlots(uint32_t slot_count) : next_(slot_count) {
  reset(std::vector<bool>(slot_count));
}

void RockSlots::reset(const std::vector<bool>& used) {
  assert(in_use_.empty());
  first_free_ = kRockNoSlot;
  free_count_ = 0;
  for (uint32_t slot = count(); slot-- > 0;) {
    if (!used[slot]) give_back(slot);
  }
}

std::optional<uint32_t> RockSlots::take() {
  if (first_free_ == kRockNoSlot) return std::nullopt;
  const uint32_t slot = first_free_;
  first_free_ = next_[slot];
  --free_count_;
  next_[slot] = kRockNoSlot | kEndOfHead;
  return slot;
}

void RockSlots::give_back(uint32_t slot) {
  next_[slot] = first_free_;
  first_free_ = slot;
  ++free_count_;
}

void RockSlots::link(std::span<const uint32_t> head, std::span<const uint32_t> body) {
  for (size_t i = 0; i + 1 < head.size(); ++i) next_[head[i]] = head[i + 1];
  next_[head.back()] = (body.empty() ? kRockNoSlot : body.front()) | kEndOfHead;
  for (size_t i = 0; i < body.size(); ++i) {
    next_[body[i]] = i + 1 < body.size() ? body[i + 1] : kRockNoSlot;
  }
}

RockChain RockSlots::chain(uint32_t head_slot) const {
  RockChain chain;
  uint32_t slot = head_slot;
  while (slot != kRockNoSlot) {
    chain.slots.push_back(slot);
    const uint32_t link = next_[slot];
    if ((link & kEndOfHead) != 0) chain.head_count = static_cast<uint32_t>(chain.slots.size());
    slot = link & ~kEndOfHead;
  }
  return chain;
}

bool RockSlots::pinned(uint32_t head_slot) const {
  if (in_use_.empty()) return false;
  if (in_use_.contains(head_slot)) return true;
  uint32_t link = next_[head_slot];
  while ((link & kEndOfHead) == 0) link = next_[link];
  return in_use_.contains(link & ~kEndOfHead);
}

void RockSlots::unpin(uint32_t first_slot) {
  const auto use = in_use_.find(first_slot);
  assert(use != in_use_.end());
  if (--use->second.pins > 0) return;
  const bool unwanted = use->second.let_go;
  in_use_.erase(use);
  if (unwanted) free_part(first_slot);
}

void RockSlots::let_go(uint32_t first_slot) {
  const auto use = in_use_.find(first_slot);
  if (use != in_use_.end()) {
    use->second.let_go = true;
  } else {
    free_part(first_slot);
  }
}

void RockSlots::free_part(uint32_t first_slot) {
  uint32_t slot = first_slot;
  while (slot != kRockNoSlot) {
    const uint32_t link = next_[slot];
    give_back(slot);
    slot = (link & kEndOfHead) != 0 ? kRockNoSlot : link;
  }
}

}  // namespace storage
