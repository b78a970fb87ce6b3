#include "storage/layout/memory_store.h"

#include <algorithm>
#include <cassert>
#include <vector>

namespace storage {

MemoryStore::MemoryStore(uint64_t capacity_bytes, uint64_t object_size_bytes_max,
                         unsigned key_hash_bits, std::unique_ptr<ReplacementPolicy> policy)
    : capacity_bytes_(capacity_bytes),
      object_size_bytes_max_(object_size_bytes_max),
      key_hash_bits_(key_hash_bits),
      account_(std::make_shared<MemoryAccount>()),
      policy_(std::move(policy)) {}

std::shared_ptr<const MemoryObject> MemoryStore::find(const Key& key) {
  const Entries::iterator found = find_entry(key);
  if (found == entries_.end()) return nullptr;
  policy_->touch(found->second);
  return found->second.object;
}

Result<std::unique_ptr<MemoryDraft>> MemoryStore::begin(Key key, Metadata metadata,
                                                        std::optional<uint64_t> body_size_bytes) {
  if (closed_) return Error(Errc::kStopped);
  const uint64_t body_bytes = body_size_bytes.value_or(0);
  if (key.text().size() > Key::kLengthMax || metadata.size() > Metadata::kSizeMax ||
      body_bytes > object_size_bytes_max_ || body_bytes > capacity_bytes_) {
    return Error(Errc::kTooLarge);
  }
  const uint64_t pages = (body_bytes + MemoryDraft::kPageSizeMax - 1) / MemoryDraft::kPageSizeMax;
  const uint64_t needed_bytes =
      object_charge_bytes(key, metadata) + body_bytes + pages * MemoryPage::kOverheadBytes;
  if (needed_bytes > capacity_bytes_) return Error(Errc::kTooLarge);
  std::optional<MemoryCharge> room = charge(needed_bytes);
  if (!room) return Error(Errc::kNoSpace);
  return std::unique_ptr<MemoryDraft>(new MemoryDraft(*this, std::move(key), std::move(metadata),
                                                      body_size_bytes, std::move(*room)));
}

Result<void> MemoryStore::update(const Key& key, Metadata metadata) {
  if (closed_) return Error(Errc::kStopped);
  const Entries::iterator found = find_entry(key);
  if (found == entries_.end()) return Error(Errc::kNotFound);
  if (metadata.size() > Metadata::kSizeMax) return Error(Errc::kTooLarge);
  Entry& entry = found->second;
  policy_->touch(entry);
  // Held here, so that making room for its own new metadata cannot evict it.
  const std::shared_ptr<const MemoryObject> old = entry.object;
  std::optional<MemoryCharge> room = charge(object_charge_bytes(key, metadata));
  if (!room) return Error(Errc::kNoSpace);
  entry.object =
      std::make_shared<const MemoryObject>(key, std::move(metadata), old->body(), std::move(*room));
  policy_->resize(entry, entry.object->charged_bytes());
  return {};
}

void MemoryStore::remove(const Key& key) {
  const Entries::iterator found = find_entry(key);
  if (found != entries_.end()) erase(found);
}

void MemoryStore::close() {
  closed_ = true;
  while (!entries_.empty()) erase(entries_.begin());
}

void MemoryStore::visit_counters(CounterVisitor& visitor, std::string_view prefix) const {
  const auto name = [prefix](const char* rest) { return std::string(prefix) + rest; };
  visitor.gauge(name("objects"), "", static_cast<double>(entries_.size()));
  visitor.gauge(name("size_bytes"), "", static_cast<double>(account_->used_bytes.load()));
  visitor.gauge(name("object_bytes"), "", static_cast<double>(policy_->size_bytes()));
  visitor.counter(name("evictions_total"), "", evictions_total_);
  visitor.counter(name("evicted_bytes_total"), "", evicted_bytes_total_);
  visitor.counter(name("hash_collisions_total"), "", hash_collisions_total_);
  visitor.gauge(name("replacement_policy"), "policy=\"" + std::string(policy_->name()) + "\"", 1);
}

std::optional<MemoryCharge> MemoryStore::charge(uint64_t size_bytes) {
  std::vector<PolicyEntry*> in_use;
  bool fits = false;
  while (true) {
    fits = account_->used_bytes + size_bytes <= capacity_bytes_;
    PolicyEntry* const victim = fits ? nullptr : policy_->take_victim();
    if (victim == nullptr) break;
    const Entry& entry = static_cast<const Entry&>(*victim);
    const std::shared_ptr<const MemoryBody>& body = entry.object->body();
    if (entry.object.use_count() > 1 || body.use_count() > 1 || body->lent()) {
      in_use.push_back(victim);
      continue;
    }
    ++evictions_total_;
    evicted_bytes_total_ += entry.size_bytes;
    entries_.erase(entry.hash);
  }
  for (PolicyEntry* const entry : in_use) policy_->put_back(*entry);
  if (!fits) return std::nullopt;
  return MemoryCharge(account_, size_bytes);
}

void MemoryStore::publish(std::shared_ptr<const MemoryObject> object) {
  const KeyHash hash = truncated(object->key().hash(), key_hash_bits_);
  const uint64_t size_bytes = object->charged_bytes();
  if (const auto old = entries_.find(hash); old != entries_.end()) {
    if (old->second.object->key() == object->key()) {
      policy_->touch(old->second);
      policy_->resize(old->second, size_bytes);
      old->second.object = std::move(object);
      return;
    }
    ++hash_collisions_total_;
    erase(old);
  }
  const auto inserted = entries_.try_emplace(hash, hash, size_bytes).first;
  inserted->second.object = std::move(object);
  policy_->insert(inserted->second);
}

MemoryStore::Entries::iterator MemoryStore::find_entry(const Key& key) {
  const Entries::iterator found = entries_.find(truncated(key.hash(), key_hash_bits_));
  if (found == entries_.end() || found->second.object->key() == key) return found;
  return entries_.end();
}

void MemoryStore::erase(Entries::iterator found) {
  policy_->remove(found->second);
  entries_.erase(found);
}

uint64_t MemoryStore::object_charge_bytes(const Key& key, const Metadata& metadata) {
  return kObjectOverheadBytes + key.text().size() + metadata.size();
}

MemoryDraft::MemoryDraft(MemoryStore& store, Key key, Metadata metadata,
                         std::optional<uint64_t> body_size_bytes, MemoryCharge charge)
    : store_(store),
      key_(std::move(key)),
      metadata_(std::move(metadata)),
      body_size_bytes_(body_size_bytes),
      charge_(std::move(charge)) {}

Result<Space> MemoryDraft::reserve(size_t size_hint_bytes) {
  if (store_.closed_) return Error(Errc::kStopped);
  if (failed_) return Error(Errc::kAborted);
  if (!page_ || page_used_bytes_ == page_->size_bytes()) {
    Result<std::shared_ptr<MemoryPage>> page = make_page(next_page_size_bytes(size_hint_bytes));
    if (page.has_error()) {
      failed_ = true;
      return page.error();
    }
    page_ = std::move(*page);
    page_used_bytes_ = 0;
  }
  return Space(page_->bytes().subspan(page_used_bytes_), page_);
}

Result<void> MemoryDraft::append(const Space& space, size_t used_bytes) {
  if (failed_) return Error(Errc::kAborted);
  if (used_bytes == 0) return {};
  failed_ = true;
  if (store_.closed_) return Error(Errc::kStopped);
  const bool is_next = page_ && space.bytes().data() == page_->bytes().data() + page_used_bytes_;
  assert(is_next && used_bytes <= space.size());
  if (!is_next || used_bytes > space.size()) return Error(Errc::kAborted);
  const uint64_t size_after = body_->size_bytes() + used_bytes;
  if (body_size_bytes_ && size_after > *body_size_bytes_) return Error(Errc::kAborted);
  if (size_after > store_.object_size_bytes_max_) return Error(Errc::kTooLarge);
  body_->append(page_, used_bytes);
  page_used_bytes_ += used_bytes;
  failed_ = false;
  return {};
}

Result<void> MemoryDraft::append_copy(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    Result<Space> space = reserve(bytes.size());
    if (space.has_error()) return space.error();
    const size_t length = std::min(bytes.size(), space->size());
    std::ranges::copy(bytes.first(length), space->bytes().begin());
    const Result<void> appended = append(*space, length);
    if (appended.has_error()) return appended;
    bytes = bytes.subspan(length);
  }
  return {};
}

Result<void> MemoryDraft::publish() {
  if (store_.closed_) return Error(Errc::kStopped);
  if (failed_) return Error(Errc::kAborted);
  failed_ = true;  // Whatever comes, there is nothing more to do than destroying it.
  if (body_size_bytes_ && *body_size_bytes_ != body_->size_bytes()) return Error(Errc::kAborted);
  page_.reset();
  trim_last_page();
  store_.publish(std::make_shared<const MemoryObject>(std::move(key_), std::move(metadata_),
                                                      std::move(body_), std::move(charge_)));
  return {};
}

size_t MemoryDraft::next_page_size_bytes(size_t size_hint_bytes) const {
  const uint64_t filled_bytes = body_->size_bytes();
  if (body_size_bytes_ && filled_bytes < *body_size_bytes_) {
    return static_cast<size_t>(std::min<uint64_t>(*body_size_bytes_ - filled_bytes, kPageSizeMax));
  }
  // Unknown: as much again as there is. Past the stated end: only to find out that there is more.
  const uint64_t wanted = body_size_bytes_ ? 1 : std::max<uint64_t>(size_hint_bytes, filled_bytes);
  return static_cast<size_t>(std::clamp<uint64_t>(wanted, kPageSizeMin, kPageSizeMax));
}

Result<std::shared_ptr<MemoryPage>> MemoryDraft::make_page(size_t size_bytes) {
  const uint64_t needed_bytes = size_bytes + MemoryPage::kOverheadBytes;
  if (body_size_bytes_ && body_->size_bytes() < *body_size_bytes_) {
    return std::make_shared<MemoryPage>(size_bytes, charge_.split(needed_bytes));
  }
  std::optional<MemoryCharge> room = store_.charge(needed_bytes);
  if (!room) return Error(Errc::kNoSpace);
  return std::make_shared<MemoryPage>(size_bytes, std::move(*room));
}

void MemoryDraft::trim_last_page() {
  constexpr size_t kSlackMax = 512;
  if (!body_->last_page()) return;
  const size_t used_bytes = body_->last_page_used_bytes();
  const size_t slack_bytes = body_->last_page()->size_bytes() - used_bytes;
  if (slack_bytes <= kSlackMax || slack_bytes <= used_bytes / 8) return;
  Result<std::shared_ptr<MemoryPage>> page = make_page(used_bytes);
  if (page.has_value()) body_->replace_last(std::move(*page));
}

}  // namespace storage
