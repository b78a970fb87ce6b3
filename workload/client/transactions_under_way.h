// Which transactions of a thread are under way, or were until lately: tells a response that two
// requests shared from one that a cache had stored.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "storage/base/clock.h"

namespace workload {

/// Knows when the transactions ended that any transaction under way has overlapped with. Ids count
/// up in order of start; one that does not follow the one before starts the record anew. Holds one
/// entry a transaction since the start of the oldest one under way. Not safe for concurrent use.
class TransactionsUnderWay {
 public:
  void began(uint64_t id, storage::SteadyTime at);
  /// Must follow began() of the same id.
  void ended(uint64_t id, storage::SteadyTime at);
  /// Whether the transaction was still under way at `instant`, the start of one that is under way
  /// now, or had ended at most `slack` before (up to a second). False for ids it never knew.
  bool was_under_way(uint64_t id, storage::SteadyTime instant,
                     std::chrono::nanoseconds slack = std::chrono::nanoseconds(0)) const;

  size_t entries() const { return entries_.size(); }

 private:
  struct Entry {
    storage::SteadyTime start{};
    std::optional<storage::SteadyTime> end;
  };
  void forget();

  uint64_t first_id_ = 0;  ///< Of the front.
  std::deque<Entry> entries_;
  size_t oldest_open_ = 0;  ///< Index of the oldest entry that has not ended, or the size.
};

}  // namespace workload
