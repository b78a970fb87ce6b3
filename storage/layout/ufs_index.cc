#include "storage/layout/ufs_index.h"

#include <algorithm>

namespace storage {

UfsIndex::UfsIndex(std::unique_ptr<ReplacementPolicy> policy, unsigned hash_bits)
    : policy_(std::move(policy)), hash_bits_(hash_bits) {}

UfsLogRecord UfsIndex::Entry::record() const {
  UfsLogRecord record;
  record.sequence = sequence;
  record.hash = hash;
  record.file_size_bytes = file_size_bytes;
  record.allocated_bytes = size_bytes;
  return record;
}

KeyHash UfsIndex::shortened(KeyHash hash) const {
  if (hash_bits_ >= 128) return hash;
  const auto mask = [](unsigned bits) {
    return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  };
  return KeyHash{hash_bits_ > 64 ? hash.high & mask(hash_bits_ - 64) : 0,
                 hash.low & mask(hash_bits_)};
}

std::optional<UfsLogRecord> UfsIndex::find(KeyHash hash) const {
  const auto found = entries_.find(shortened(hash));
  if (found == entries_.end()) return std::nullopt;
  return found->second.record();
}

void UfsIndex::touch(KeyHash hash) {
  const auto found = entries_.find(shortened(hash));
  if (found != entries_.end()) policy_->touch(found->second);
}

std::optional<UfsLogRecord> UfsIndex::insert(const UfsLogRecord& object) {
  const auto [place, added] = entries_.try_emplace(shortened(object.hash), object);
  Entry& entry = place->second;
  if (added) {
    policy_->insert(entry);
    return std::nullopt;
  }
  std::optional<UfsLogRecord> replaced = entry.record();
  if (entry.hash == object.hash) {
    entry.sequence = object.sequence;
    entry.file_size_bytes = object.file_size_bytes;
    policy_->touch(entry);
    policy_->resize(entry, object.allocated_bytes);
  } else {
    policy_->remove(entry);
    entry = Entry(object);
    policy_->insert(entry);
  }
  return replaced;
}

std::optional<UfsLogRecord> UfsIndex::erase(KeyHash hash, std::optional<uint64_t> sequence) {
  const auto found = entries_.find(shortened(hash));
  if (found == entries_.end()) return std::nullopt;
  if (sequence && found->second.sequence != *sequence) return std::nullopt;
  UfsLogRecord record = found->second.record();
  policy_->remove(found->second);
  entries_.erase(found);
  return record;
}

std::optional<UfsLogRecord> UfsIndex::take_victim() {
  const PolicyEntry* victim = policy_->take_victim();
  if (victim == nullptr) return std::nullopt;
  const auto found = entries_.find(shortened(victim->hash));
  UfsLogRecord record = found->second.record();
  entries_.erase(found);
  return record;
}

std::vector<UfsLogRecord> UfsIndex::by_sequence() const {
  std::vector<UfsLogRecord> records;
  records.reserve(entries_.size());
  for (const auto& [hash, entry] : entries_) records.push_back(entry.record());
  std::ranges::sort(records, {}, &UfsLogRecord::sequence);
  return records;
}

}  // namespace storage
