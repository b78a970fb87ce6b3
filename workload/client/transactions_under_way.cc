#include "workload/client/transactions_under_way.h"

namespace workload {
namespace {

/// How long an end is remembered before the start of the oldest transaction under way.
constexpr std::chrono::seconds kMemory{1};

}  // namespace

void TransactionsUnderWay::began(uint64_t id, storage::SteadyTime at) {
  if (id != first_id_ + entries_.size()) {
    entries_.clear();
    oldest_open_ = 0;
    first_id_ = id;
  }
  entries_.push_back({at, std::nullopt});
  forget();
}

void TransactionsUnderWay::ended(uint64_t id, storage::SteadyTime at) {
  if (id < first_id_ || id - first_id_ >= entries_.size()) return;  // The record began anew.
  entries_[id - first_id_].end = at;
  while (oldest_open_ < entries_.size() && entries_[oldest_open_].end) ++oldest_open_;
  forget();
}

void TransactionsUnderWay::forget() {
  if (oldest_open_ == entries_.size()) return;  // The next one to begin decides.
  const auto oldest_start = entries_[oldest_open_].start;
  while (entries_.front().end && *entries_.front().end + kMemory < oldest_start) {
    entries_.pop_front();
    ++first_id_;
    --oldest_open_;
  }
}

bool TransactionsUnderWay::was_under_way(uint64_t id, storage::SteadyTime instant,
                                         std::chrono::nanoseconds slack) const {
  if (id < first_id_ || id - first_id_ >= entries_.size()) return false;
  const auto& end = entries_[id - first_id_].end;
  return !end || *end + slack >= instant;
}

}  // namespace workload
