// Which transactions of a run are under way, or were until lately: tells a response that two
// requests shared from one that a cache had stored.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "storage/base/clock.h"

namespace workload {

/// Numbers transactions in order of start, and knows when those ended that any transaction under
/// way has overlapped with. Holds one entry a transaction since the start of the oldest one under
/// way. Safe to call from any thread.
class TransactionsUnderWay {
 public:
  explicit TransactionsUnderWay(uint64_t first_id) : first_id_(first_id) {}

  /// A transaction starts; returns its id. `broken_off` is the id of its object where the origin is
  /// asked to break off what it sends for it.
  uint64_t begin(storage::SteadyTime at, std::optional<uint64_t> broken_off);
  /// Must follow begin(), which gave the id.
  void end(uint64_t id, storage::SteadyTime at);
  /// Whether the transaction was still under way at `instant`, the start of one that is under way
  /// now, or had ended at most `slack` before (up to a second). False for ids it never gave.
  bool was_under_way(uint64_t id, storage::SteadyTime instant,
                     std::chrono::nanoseconds slack = std::chrono::nanoseconds(0)) const;
  /// As begin() was told. False for ids it never gave, and for those that ended long ago.
  bool to_be_broken_off(uint64_t id) const;
  /// Whether any transaction for that object is to be broken off that was_under_way(). Looks at all
  /// entries.
  bool object_broken_off(uint64_t object, storage::SteadyTime instant,
                         std::chrono::nanoseconds slack) const;

  size_t entries() const;

 private:
  struct Entry {
    storage::SteadyTime start{};
    storage::SteadyTime end = storage::SteadyTime::max();  ///< That while it is under way.
    std::optional<uint64_t> broken_off;                    ///< The object, where it is to be.

    bool ended() const { return end != storage::SteadyTime::max(); }
    bool was_under_way(storage::SteadyTime instant, std::chrono::nanoseconds slack) const {
      return !ended() || end + slack >= instant;
    }
  };
  const Entry* find(uint64_t id) const;
  void forget();

  mutable std::mutex mutex_;
  uint64_t first_id_;  ///< Of the front.
  std::deque<Entry> entries_;
  size_t oldest_open_ = 0;  ///< Index of the oldest entry that has not ended, or the size.
};

}  // namespace workload
