#include "workload/client/transactions_under_way.h"

#include <algorithm>

namespace workload {
namespace {

/// How long an end is remembered before the start of the oldest transaction under way.
constexpr std::chrono::seconds kMemory{1};

}  // namespace

uint64_t TransactionsUnderWay::begin(storage::SteadyTime at, std::optional<uint64_t> broken_off) {
  const std::lock_guard lock(mutex_);
  Entry entry;
  entry.start = at;
  entry.broken_off = broken_off;
  entries_.push_back(entry);
  const uint64_t id = first_id_ + entries_.size() - 1;
  forget();
  return id;
}

void TransactionsUnderWay::end(uint64_t id, storage::SteadyTime at) {
  const std::lock_guard lock(mutex_);
  entries_[id - first_id_].end = at;
  while (oldest_open_ < entries_.size() && entries_[oldest_open_].ended()) ++oldest_open_;
  forget();
}

void TransactionsUnderWay::forget() {
  if (oldest_open_ == entries_.size()) return;  // The next one to begin decides.
  const auto oldest_start = entries_[oldest_open_].start;
  while (entries_.front().ended() && entries_.front().end + kMemory < oldest_start) {
    entries_.pop_front();
    ++first_id_;
    --oldest_open_;
  }
}

const TransactionsUnderWay::Entry* TransactionsUnderWay::find(uint64_t id) const {
  // Ids may wrap round, and so does the difference.
  return id - first_id_ < entries_.size() ? &entries_[id - first_id_] : nullptr;
}

bool TransactionsUnderWay::was_under_way(uint64_t id, storage::SteadyTime instant,
                                         std::chrono::nanoseconds slack) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(id);
  return entry != nullptr && entry->was_under_way(instant, slack);
}

bool TransactionsUnderWay::to_be_broken_off(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const Entry* const entry = find(id);
  return entry != nullptr && entry->broken_off;
}

bool TransactionsUnderWay::object_broken_off(uint64_t object, storage::SteadyTime instant,
                                             std::chrono::nanoseconds slack) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.broken_off == object && entry.was_under_way(instant, slack);
  });
}

size_t TransactionsUnderWay::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace workload
