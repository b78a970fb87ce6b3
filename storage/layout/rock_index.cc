#include "storage/layout/rock_index.h"

#include <algorithm>
#include <bit>

namespace storage {

namespace {

// How many objects that are being read may be passed over for one victim.
constexpr int kVictimTries = 64;

}  // namespace

RockIndex::RockIndex(std::unique_ptr<ReplacementPolicy> policy, uint32_t slot_count,
                     unsigned key_hash_bits)
    : policy_(std::move(policy)),
      key_hash_bits_(key_hash_bits),
      buckets_(std::bit_floor(std::max<uint32_t>(slot_count, 1)), kNone) {}

uint32_t RockIndex::number_of(KeyHash hash) const {
  const KeyHash wanted = shortened(hash);
  uint32_t number = buckets_[wanted.low & (buckets_.size() - 1)];
  while (number != kNone && shortened(at(number).hash) != wanted) number = at(number).next;
  return number;
}

uint32_t RockIndex::make_entry() {
  if (unused_ == kNone) {
    const auto first = static_cast<uint32_t>(blocks_.size() * kBlockSize);
    blocks_.push_back(std::make_unique<Entry[]>(kBlockSize));
    for (uint32_t i = kBlockSize; i-- > 0;) {
      at(first + i).next = unused_;
      unused_ = first + i;
    }
  }
  const uint32_t number = unused_;
  unused_ = at(number).next;
  at(number) = Entry();
  return number;
}

// Takes an entry that is in the policy no more out of its bucket.
void RockIndex::drop(uint32_t number) {
  uint32_t* link = &bucket_of(at(number).hash);
  while (*link != number) link = &at(*link).next;
  *link = at(number).next;
  at(number).next = unused_;
  unused_ = number;
}

std::optional<RockVersion> RockIndex::find(KeyHash hash) const {
  const uint32_t number = number_of(hash);
  if (number == kNone) return std::nullopt;
  return at(number).version();
}

bool RockIndex::current(const RockVersion& version) const {
  const std::optional<RockVersion> found = find(version.hash);
  return found && found->generation == version.generation;
}

void RockIndex::touch(KeyHash hash) {
  const uint32_t number = number_of(hash);
  if (number != kNone) policy_->touch(at(number));
}

std::optional<RockVersion> RockIndex::put(const RockVersion& version, uint64_t size_bytes) {
  uint32_t number = number_of(version.hash);
  std::optional<RockVersion> replaced;
  if (number != kNone) {
    replaced = at(number).version();
    if (replaced->hash == version.hash) {
      policy_->touch(at(number));
      policy_->resize(at(number), size_bytes);
      at(number).generation = version.generation;
      at(number).head_slot = version.head_slot;
      return replaced;
    }
    policy_->remove(at(number));  // another key under the same bits
    drop(number);
  }
  number = make_entry();
  Entry& entry = at(number);
  entry.hash = version.hash;
  entry.size_bytes = size_bytes;
  entry.generation = version.generation;
  entry.head_slot = version.head_slot;
  uint32_t& bucket = bucket_of(version.hash);
  entry.next = bucket;
  bucket = number;
  policy_->insert(entry);
  return replaced;
}

std::optional<RockVersion> RockIndex::erase(KeyHash hash) {
  const uint32_t number = number_of(hash);
  if (number == kNone) return std::nullopt;
  const RockVersion version = at(number).version();
  policy_->remove(at(number));
  drop(number);
  return version;
}

bool RockIndex::erase(const RockVersion& version) {
  return current(version) && erase(version.hash).has_value();
}

std::optional<RockVersion> RockIndex::take_victim(const std::function<bool(uint32_t)>& in_use) {
  for (int tries = 0; tries < kVictimTries; ++tries) {
    PolicyEntry* const victim = policy_->take_victim();
    if (victim == nullptr) return std::nullopt;
    const uint32_t number = number_of(victim->hash);
    const RockVersion version = at(number).version();
    if (in_use(version.head_slot)) {
      policy_->put_back(*victim);
      continue;
    }
    drop(number);
    return version;
  }
  return std::nullopt;
}

void RockIndex::clear() {
  while (const PolicyEntry* const entry = policy_->take_victim()) drop(number_of(entry->hash));
}

uint64_t RockIndex::memory_bytes() const {
  return buckets_.size() * sizeof(uint32_t) + blocks_.size() * kBlockSize * sizeof(Entry);
}

}  // namespace storage
