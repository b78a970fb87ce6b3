#include "storage/replacement/lru.h"

#include <cassert>

namespace storage {

void LruPolicy::insert(PolicyEntry& entry) {
  assert(entry.older == nullptr && entry.newer == nullptr && oldest_ != &entry);
  link_newest(entry);
  ++count_;
  size_bytes_ += entry.size_bytes;
}

void LruPolicy::touch(PolicyEntry& entry) {
  if (newest_ == &entry) return;
  unlink(entry);
  link_newest(entry);
}

void LruPolicy::remove(PolicyEntry& entry) {
  assert(count_ > 0 && size_bytes_ >= entry.size_bytes);
  unlink(entry);
  --count_;
  size_bytes_ -= entry.size_bytes;
}

void LruPolicy::resize(PolicyEntry& entry, uint64_t size_bytes) {
  assert(size_bytes_ >= entry.size_bytes);
  size_bytes_ = size_bytes_ - entry.size_bytes + size_bytes;
  entry.size_bytes = size_bytes;
}

PolicyEntry* LruPolicy::take_victim() {
  PolicyEntry* victim = oldest_;
  if (victim != nullptr) remove(*victim);
  return victim;
}

void LruPolicy::link_newest(PolicyEntry& entry) {
  entry.older = newest_;
  entry.newer = nullptr;
  (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
  newest_ = &entry;
}

void LruPolicy::unlink(PolicyEntry& entry) {
  (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
  (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
  entry.older = nullptr;
  entry.newer = nullptr;
}

}  // namespace storage
