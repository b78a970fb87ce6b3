#include "workload/model/infinite_cache.h"

#include <utility>

#include "storage/base/random.h"

namespace workload {
namespace {
constexpr size_t kSlotsMin = 1024;  // A power of two, as every capacity is.
}

size_t InfiniteCache::find(uint64_t key) const {
  const size_t mask = slots_.size() - 1;
  size_t at = storage::mix64(key) & mask;
  while (states_[at] != State::kFree && slots_[at].key != key) at = (at + 1) & mask;
  return at;
}

void InfiniteCache::grow() {
  const auto old_slots = std::move(slots_);
  const auto old_states = std::move(states_);
  // Room for twice of what is held; what was forgotten stays behind.
  size_t capacity = kSlotsMin;
  while (capacity < 2 * objects_ + 1) capacity *= 2;
  slots_.assign(capacity, {});
  states_.assign(capacity, State::kFree);
  used_ = objects_;
  for (size_t i = 0; i < old_slots.size(); ++i) {
    if (old_states[i] != State::kHeld) continue;
    const size_t at = find(old_slots[i].key);
    slots_[at] = old_slots[i];
    states_[at] = State::kHeld;
  }
}

bool InfiniteCache::holds(uint64_t key, uint64_t version) const {
  if (slots_.empty()) return false;
  const size_t at = find(key);
  return states_[at] == State::kHeld && slots_[at].version == version;
}

void InfiniteCache::store(uint64_t key, uint64_t version) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  const size_t at = find(key);
  if (states_[at] == State::kFree) ++used_;
  if (states_[at] != State::kHeld) ++objects_;
  slots_[at] = {key, version};
  states_[at] = State::kHeld;
}

void InfiniteCache::invalidate(uint64_t key) {
  if (slots_.empty()) return;
  const size_t at = find(key);
  if (states_[at] != State::kHeld) return;
  states_[at] = State::kForgotten;
  --objects_;
}

bool InfiniteCache::get(uint64_t key, bool cachable, uint64_t version) {
  if (!cachable) return false;
  if (holds(key, version)) return true;
  store(key, version);
  return false;
}

}  // namespace workload
