#include "workload/client/transactions_under_way.h"

#include <algorithm>

namespace workload {
namespace {

constexpr std::chrono::seconds kMemory{1};
/// Where other ranks may ask for a transaction, and their questions take a while.
constexpr std::chrono::seconds kMemoryForOthers{10};
/// Ids of a rank: more than any run has.
constexpr int kIdBits = 48;

}  // namespace

uint64_t RankIds::first() const {
  return base + (static_cast<uint64_t>(rank) << kIdBits);
}

std::optional<size_t> RankIds::rank_of(uint64_t id) const {
  // Ids may wrap round, and so does the difference.
  const uint64_t whose = (id - base) >> kIdBits;
  if (whose >= ranks) return std::nullopt;
  return static_cast<size_t>(whose);
}

TransactionsUnderWay::TransactionsUnderWay(const RankIds& ids, bool break_off)
    : ids_(ids),
      break_off_(break_off),
      memory_(ids.ranks > 1 ? kMemoryForOthers : kMemory),
      marks_(ids.ranks),
      first_id_(ids.first()) {}

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
  while (entries_.front().ended() && entries_.front().end + memory_ < oldest_start) {
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

UnderWay TransactionsUnderWay::under_way_anywhere(uint64_t id, storage::SteadyTime instant,
                                                  std::chrono::nanoseconds slack) const {
  const auto rank = ids_.rank_of(id);
  if (!rank) return UnderWay::kNo;
  if (*rank == ids_.rank) return was_under_way(id, instant, slack) ? UnderWay::kYes : UnderWay::kNo;
  const std::lock_guard lock(mutex_);
  const RankMark& mark = marks_[*rank];
  // Both are at most one rank's ids behind that rank's first, however ids wrap round.
  const uint64_t first = RankIds{ids_.base, *rank, ids_.ranks}.first();
  const bool ended = mark.first_open && id - first < *mark.first_open - first;
  return ended && mark.at + slack <= instant ? UnderWay::kNo : UnderWay::kAsk;
}

RankMark TransactionsUnderWay::mark(const storage::Clock& clock) const {
  const std::lock_guard lock(mutex_);
  // Read under the lock: nothing that counts as ended has ended later.
  return {clock.steady_now(), first_id_ + oldest_open_};
}

void TransactionsUnderWay::set_mark(size_t rank, const RankMark& mark) {
  const std::lock_guard lock(mutex_);
  marks_[rank] = mark;
}

size_t TransactionsUnderWay::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace workload
