#include "storage/layout/coss_index.h"

namespace storage {

CossIndex::CossIndex(const CossGeometry& geometry, unsigned key_hash_bits)
    : geometry_(geometry), key_hash_bits_(key_hash_bits), by_stripe_(geometry.stripe_count) {}

std::optional<CossLocation> CossIndex::find(KeyHash hash) const {
  const auto found = entries_.find(truncated(hash, key_hash_bits_));
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

void CossIndex::put(KeyHash hash, CossLocation location) {
  const KeyHash seen = truncated(hash, key_hash_bits_);
  by_stripe_[stripe_of(location)].push_back(seen);
  const auto [entry, fresh] = entries_.try_emplace(seen, location);
  if (!fresh) size_bytes_ -= footprint(entry->second);
  entry->second = location;
  size_bytes_ += footprint(location);
}

bool CossIndex::erase(KeyHash hash) {
  const auto found = entries_.find(truncated(hash, key_hash_bits_));
  if (found == entries_.end()) return false;
  size_bytes_ -= footprint(found->second);
  entries_.erase(found);
  return true;
}

bool CossIndex::erase(KeyHash hash, CossLocation location) {
  return find(hash) == location && erase(hash);
}

uint64_t CossIndex::drop_stripe(uint32_t stripe) {
  uint64_t dropped = 0;
  for (const KeyHash hash : by_stripe_[stripe]) {
    const auto found = entries_.find(hash);
    if (found == entries_.end() || stripe_of(found->second) != stripe) continue;
    size_bytes_ -= footprint(found->second);
    entries_.erase(found);
    ++dropped;
  }
  by_stripe_[stripe] = {};
  return dropped;
}

void CossIndex::clear() {
  entries_.clear();
  for (auto& hashes : by_stripe_) hashes = {};
  size_bytes_ = 0;
}

CossLocation CossIndex::location(uint32_t stripe, uint32_t offset_bytes,
                                 uint32_t size_bytes) const {
  CossLocation location;
  const uint64_t offset = uint64_t{stripe} * geometry_.stripe_size_bytes + offset_bytes;
  location.block = static_cast<uint32_t>(offset / geometry_.block_size_bytes);
  location.size_bytes = size_bytes;
  return location;
}

uint32_t CossIndex::stripe_of(CossLocation location) const {
  const uint64_t offset = uint64_t{location.block} * geometry_.block_size_bytes;
  return static_cast<uint32_t>(offset / geometry_.stripe_size_bytes);
}

uint32_t CossIndex::offset_of(CossLocation location) const {
  const uint64_t offset = uint64_t{location.block} * geometry_.block_size_bytes;
  return static_cast<uint32_t>(offset % geometry_.stripe_size_bytes);
}

}  // namespace storage
