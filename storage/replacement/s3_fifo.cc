#include "storage/replacement/s3_fifo.h"

#include <algorithm>

namespace storage {

namespace {

// Values of PolicyEntry::position.
constexpr size_t kInSmall = 0;
constexpr size_t kInMain = 1;

constexpr uint64_t kUsesMax = 3;
constexpr uint64_t kUsesToMove = 2;

// Floors, so that no share of a capacity overflows.
uint64_t main_share_bytes(uint64_t capacity_bytes) {
  return capacity_bytes - capacity_bytes / 10;
}

bool is_share_reached(uint64_t small_bytes, uint64_t capacity_bytes) {
  return small_bytes >= capacity_bytes / 10 + (capacity_bytes % 10 != 0 ? 1 : 0);
}

}  // namespace

EntryQueue& S3FifoPolicy::queue_of(const PolicyEntry& entry) {
  return entry.position == kInSmall ? small_ : main_;
}

void S3FifoPolicy::push(EntryQueue& queue, PolicyEntry& entry) {
  entry.position = &queue == &small_ ? kInSmall : kInMain;
  queue.push_newest(entry);
}

void S3FifoPolicy::insert(PolicyEntry& entry) {
  entry.rank = 0;
  push(forget(entry.hash) ? main_ : small_, entry);
}

void S3FifoPolicy::touch(PolicyEntry& entry) {
  entry.rank = std::min(entry.rank + 1, kUsesMax);
}

void S3FifoPolicy::remove(PolicyEntry& entry) {
  queue_of(entry).remove(entry);
}

void S3FifoPolicy::resize(PolicyEntry& entry, uint64_t size_bytes) {
  queue_of(entry).resize(entry, size_bytes);
}

PolicyEntry* S3FifoPolicy::take_victim() {
  PolicyEntry* victim = nullptr;
  if (is_share_reached(small_.size_bytes(), capacity_bytes_) || main_.count() == 0) {
    victim = take_from_small();
  }
  // All of the small queue may have moved to the main one.
  return victim != nullptr ? victim : take_from_main();
}

void S3FifoPolicy::put_back(PolicyEntry& victim) {
  (void)forget(victim.hash);
  push(main_, victim);
}

PolicyEntry* S3FifoPolicy::take_from_small() {
  while (PolicyEntry* const entry = small_.take_oldest()) {
    if (entry->rank < kUsesToMove) {
      remember(*entry);
      return entry;
    }
    entry->rank = 0;
    push(main_, *entry);
    if (main_.size_bytes() > main_share_bytes(capacity_bytes_)) return take_from_main();
  }
  return nullptr;
}

PolicyEntry* S3FifoPolicy::take_from_main() {
  while (PolicyEntry* const entry = main_.take_oldest()) {
    if (entry->rank == 0) return entry;
    --entry->rank;
    push(main_, *entry);
  }
  return nullptr;
}

void S3FifoPolicy::remember(const PolicyEntry& entry) {
  (void)forget(entry.hash);
  Ghost ghost;
  ghost.hash = entry.hash;
  ghost.size_bytes = std::max<uint64_t>(entry.size_bytes, 1);
  ghost_bytes_ += ghost.size_bytes;
  ghost_places_.emplace(entry.hash, ghosts_.insert(ghosts_.end(), ghost));
  while (ghost_bytes_ > main_share_bytes(capacity_bytes_)) (void)forget(ghosts_.front().hash);
}

bool S3FifoPolicy::forget(KeyHash hash) {
  const auto found = ghost_places_.find(hash);
  if (found == ghost_places_.end()) return false;
  ghost_bytes_ -= found->second->size_bytes;
  ghosts_.erase(found->second);
  ghost_places_.erase(found);
  return true;
}

}  // namespace storage
