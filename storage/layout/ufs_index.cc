#include "storage/layout/ufs_index.h"

#include <algorithm>

namespace storage {

namespace {

KeyHash shortened(KeyHash hash, unsigned hash_bits) {
  if (hash_bits >= 128) return hash;
  const auto mask = [](unsigned bits) {
    return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  };
  return KeyHash{hash_bits > 64 ? hash.high & mask(hash_bits - 64) : 0, hash.low & mask(hash_bits)};
}

}  // namespace

UfsIndex::UfsIndex(std::unique_ptr<ReplacementPolicy> policy, unsigned hash_bits)
    : policy_(std::move(policy)), entries_(0, EntryHasher{hash_bits}, EntryEqual{hash_bits}) {}

size_t UfsIndex::EntryHasher::operator()(const KeyHash& hash) const noexcept {
  return KeyHashHasher()(shortened(hash, hash_bits));
}

bool UfsIndex::EntryEqual::operator()(const KeyHash& left, const Entry& right) const noexcept {
  return shortened(left, hash_bits) == shortened(right.hash, hash_bits);
}

UfsLogRecord UfsIndex::Entry::record() const {
  UfsLogRecord record;
  record.sequence = sequence;
  record.hash = hash;
  record.file_size_bytes = file_size_bytes;
  record.allocated_bytes = size_bytes;
  return record;
}

UfsIndex::Entry* UfsIndex::entry_of(KeyHash hash) {
  const auto found = entries_.find(hash);
  // What a set protects is the shortened hash, which no change of an entry touches.
  return found == entries_.end() ? nullptr : &const_cast<Entry&>(*found);
}

UfsLogRecord UfsIndex::take(Entries::const_iterator place) {
  UfsLogRecord record = place->record();
  entries_.erase(place);
  return record;
}

std::optional<UfsLogRecord> UfsIndex::find(KeyHash hash) const {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return std::nullopt;
  return found->record();
}

void UfsIndex::touch(KeyHash hash) {
  Entry* const entry = entry_of(hash);
  if (entry != nullptr) policy_->touch(*entry);
}

std::optional<UfsLogRecord> UfsIndex::insert(const UfsLogRecord& object) {
  Entry* const entry = entry_of(object.hash);
  if (entry == nullptr) {
    policy_->insert(const_cast<Entry&>(*entries_.emplace(object).first));
    return std::nullopt;
  }
  std::optional<UfsLogRecord> replaced = entry->record();
  if (entry->hash == object.hash) {
    entry->sequence = object.sequence;
    entry->file_size_bytes = object.file_size_bytes;
    policy_->touch(*entry);
    policy_->resize(*entry, object.allocated_bytes);
  } else {
    policy_->remove(*entry);
    *entry = Entry(object);
    policy_->insert(*entry);
  }
  return replaced;
}

std::optional<UfsLogRecord> UfsIndex::erase(KeyHash hash, std::optional<uint64_t> sequence) {
  const auto found = entries_.find(hash);
  if (found == entries_.end()) return std::nullopt;
  if (sequence && found->sequence != *sequence) return std::nullopt;
  policy_->remove(const_cast<Entry&>(*found));
  return take(found);
}

std::optional<UfsLogRecord> UfsIndex::take_victim() {
  const PolicyEntry* victim = policy_->take_victim();
  if (victim == nullptr) return std::nullopt;
  return take(entries_.find(victim->hash));
}

std::vector<UfsLogRecord> UfsIndex::by_sequence() const {
  std::vector<UfsLogRecord> records;
  records.reserve(entries_.size());
  for (const Entry& entry : entries_) records.push_back(entry.record());
  std::ranges::sort(records, {}, &UfsLogRecord::sequence);
  return records;
}

}  // namespace storage
