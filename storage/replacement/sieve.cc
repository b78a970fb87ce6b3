#include "storage/replacement/sieve.h"

namespace storage {

namespace {

// Values of PolicyEntry::rank.
constexpr uint64_t kUnused = 0;
constexpr uint64_t kUsed = 1;

}  // namespace

void SievePolicy::insert(PolicyEntry& entry) {
  entry.rank = kUnused;
  queue_.push_newest(entry);
}

void SievePolicy::touch(PolicyEntry& entry) {
  entry.rank = kUsed;
}

void SievePolicy::remove(PolicyEntry& entry) {
  if (hand_ == &entry) hand_ = entry.newer;
  queue_.remove(entry);
}

void SievePolicy::resize(PolicyEntry& entry, uint64_t size_bytes) {
  queue_.resize(entry, size_bytes);
}

PolicyEntry* SievePolicy::take_victim() {
  if (queue_.count() == 0) return nullptr;
  if (hand_ == nullptr) hand_ = queue_.oldest();
  while (hand_->rank == kUsed) {
    hand_->rank = kUnused;
    hand_ = hand_->newer != nullptr ? hand_->newer : queue_.oldest();
  }
  PolicyEntry* const victim = hand_;
  remove(*victim);
  return victim;
}

void SievePolicy::put_back(PolicyEntry& victim) {
  queue_.push_newest(victim);
}

}  // namespace storage
