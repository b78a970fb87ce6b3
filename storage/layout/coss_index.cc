#include "storage/layout/coss_index.h"

#include <new>

namespace storage {

CossIndex::CossIndex(const CossGeometry& geometry, unsigned key_hash_bits)
    : geometry_(geometry), key_hash_bits_(key_hash_bits) {
  clear();
}

std::array<uint32_t, 4> CossIndex::words_of(KeyHash hash) {
  return {static_cast<uint32_t>(hash.low), static_cast<uint32_t>(hash.low >> 32),
          static_cast<uint32_t>(hash.high), static_cast<uint32_t>(hash.high >> 32)};
}

KeyHash CossIndex::hash_of(const Entry& entry) {
  KeyHash hash;
  hash.low = entry.hash[0] | uint64_t{entry.hash[1]} << 32;
  hash.high = entry.hash[2] | uint64_t{entry.hash[3]} << 32;
  return hash;
}

uint32_t CossIndex::bucket_of(KeyHash hash) const {
  const uint64_t bucket = hash.low & (uint64_t{round_buckets_} - 1);
  if (bucket >= next_split_) return static_cast<uint32_t>(bucket);
  return static_cast<uint32_t>(hash.low & (2 * uint64_t{round_buckets_} - 1));
}

// Its number, or kNone.
uint32_t CossIndex::entry_of(KeyHash seen) const {
  const std::array<uint32_t, 4> words = words_of(seen);
  uint32_t at = buckets_[bucket_of(seen)];
  while (at != kNone && entries_[at].hash != words) at = entries_[at].next_in_bucket;
  return at;
}

// Splits the next bucket.
void CossIndex::add_bucket() {
  const auto split = next_split_;
  const auto added = static_cast<uint32_t>(buckets_.size());
  buckets_.grow();
  buckets_[added] = kNone;
  if (++next_split_ == round_buckets_) {
    round_buckets_ *= 2;
    next_split_ = 0;
  }
  uint32_t at = buckets_[split];
  buckets_[split] = kNone;
  while (at != kNone) {
    Entry& entry = entries_[at];
    const uint32_t next = entry.next_in_bucket;
    uint32_t& bucket = buckets_[bucket_of(hash_of(entry))];
    entry.next_in_bucket = bucket;
    bucket = at;
    at = next;
  }
}

uint32_t CossIndex::add_entry(KeyHash seen) {
  // Before anything is linked, since each may find no memory.
  if (count_ >= buckets_.size() && buckets_.size() < (uint64_t{1} << 31)) add_bucket();
  uint32_t at = unused_;
  if (at != kNone) {
    unused_ = entries_[at].next_in_bucket;
  } else {
    if (entries_.size() == kNone) throw std::bad_alloc();
    at = static_cast<uint32_t>(entries_.size());
    entries_.grow();
  }
  Entry& entry = entries_[at];
  entry.hash = words_of(seen);
  uint32_t& bucket = buckets_[bucket_of(seen)];
  entry.next_in_bucket = bucket;
  bucket = at;
  ++count_;
  return at;
}

void CossIndex::link_to_stripe(uint32_t at) {
  Entry& entry = entries_[at];
  uint32_t& newest = newest_in_stripe_[stripe_of(entry.location)];
  entry.older_in_stripe = newest;
  entry.newer_in_stripe = kNone;
  if (newest != kNone) entries_[newest].newer_in_stripe = at;
  newest = at;
  size_bytes_ += footprint(entry.location);
}

void CossIndex::unlink_from_stripe(uint32_t at) {
  const Entry& entry = entries_[at];
  if (entry.older_in_stripe != kNone) {
    entries_[entry.older_in_stripe].newer_in_stripe = entry.newer_in_stripe;
  }
  if (entry.newer_in_stripe != kNone) {
    entries_[entry.newer_in_stripe].older_in_stripe = entry.older_in_stripe;
  } else {
    newest_in_stripe_[stripe_of(entry.location)] = entry.older_in_stripe;
  }
  size_bytes_ -= footprint(entry.location);
}

void CossIndex::remove_entry(uint32_t at) {
  unlink_from_stripe(at);
  Entry& entry = entries_[at];
  uint32_t* link = &buckets_[bucket_of(hash_of(entry))];
  while (*link != at) link = &entries_[*link].next_in_bucket;
  *link = entry.next_in_bucket;
  entry.location = CossLocation();
  entry.next_in_bucket = unused_;
  unused_ = at;
  --count_;
}

std::optional<CossLocation> CossIndex::find(KeyHash hash) const {
  const uint32_t at = entry_of(truncated(hash, key_hash_bits_));
  if (at == kNone) return std::nullopt;
  return entries_[at].location;
}

void CossIndex::put(KeyHash hash, CossLocation location) {
  const KeyHash seen = truncated(hash, key_hash_bits_);
  uint32_t at = entry_of(seen);
  if (at == kNone) {
    at = add_entry(seen);
  } else {
    unlink_from_stripe(at);
  }
  entries_[at].location = location;
  link_to_stripe(at);
}

bool CossIndex::erase(KeyHash hash) {
  const uint32_t at = entry_of(truncated(hash, key_hash_bits_));
  if (at == kNone) return false;
  remove_entry(at);
  return true;
}

bool CossIndex::erase(KeyHash hash, CossLocation location) {
  return find(hash) == location && erase(hash);
}

uint64_t CossIndex::drop_stripe(uint32_t stripe) {
  uint64_t dropped = 0;
  while (newest_in_stripe_[stripe] != kNone) {
    remove_entry(newest_in_stripe_[stripe]);
    ++dropped;
  }
  return dropped;
}

void CossIndex::clear() {
  entries_.clear();
  buckets_.clear();
  buckets_.grow();
  buckets_[0] = kNone;
  unused_ = kNone;
  round_buckets_ = 1;
  next_split_ = 0;
  count_ = 0;
  size_bytes_ = 0;
  newest_in_stripe_.assign(geometry_.stripe_count, kNone);
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

std::optional<CossObject> CossIndex::object_in(uint32_t slot) const {
  const Entry& entry = entries_[slot];
  if (entry.location.size_bytes == 0) return std::nullopt;
  CossObject object;
  object.hash = hash_of(entry);
  object.location = entry.location;
  return object;
}

std::vector<CossObject> CossIndex::objects_of(uint32_t stripe) const {
  std::vector<CossObject> objects;
  for (uint32_t at = newest_in_stripe_[stripe]; at != kNone; at = entries_[at].older_in_stripe) {
    objects.push_back(*object_in(at));
  }
  return objects;
}

}  // namespace storage
