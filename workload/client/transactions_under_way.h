// Which transactions of a run are under way, or were until lately: tells a response that two
// requests shared from one that a cache had stored.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "storage/base/clock.h"

namespace workload {

/// How the transactions of a run are numbered where several processes carry it: each rank has a
/// range of its own, so that an id says whose it is.
struct RankIds {
  uint64_t base = 0;  ///< The first one of rank 0.
  size_t rank = 0;    ///< This process'.
  size_t ranks = 1;

  uint64_t first() const;
  /// The rank that gives the id; nothing for one that is not of this run.
  std::optional<size_t> rank_of(uint64_t id) const;
};

/// What another rank has said of its transactions: all below `first_open` had ended at `at`.
struct RankMark {
  storage::SteadyTime at{};
  std::optional<uint64_t> first_open;  ///< Nothing: it has said nothing yet.
};

/// Whether a transaction was under way at some instant.
enum class UnderWay {
  kNo,
  kYes,
  kAsk,  ///< It is another rank's and may have been: that one knows.
};

/// Numbers transactions in order of start, and knows when those ended that any transaction under
/// way has overlapped with. Holds one entry a transaction since the start of the oldest one under
/// way. Safe to call from any thread.
class TransactionsUnderWay {
 public:
  explicit TransactionsUnderWay(uint64_t first_id)
      : TransactionsUnderWay({first_id, 0, 1}, false) {}
  /// One rank's. `break_off`: origins of this run are asked to break off responses.
  TransactionsUnderWay(const RankIds& ids, bool break_off);

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

  /// As was_under_way(), for the ids of all ranks.
  UnderWay under_way_anywhere(uint64_t id, storage::SteadyTime instant,
                              std::chrono::nanoseconds slack = std::chrono::nanoseconds(0)) const;
  /// Whether other ranks may have asked the origin to break off responses.
  bool others_break_off() const { return ids_.ranks > 1 && break_off_; }
  const RankIds& ids() const { return ids_; }

  /// What the others are to know as of now, by the clock of begin() and end().
  RankMark mark(const storage::Clock& clock) const;
  /// What another rank has said, its instant in this process' clock.
  void set_mark(size_t rank, const RankMark& mark);

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

  RankIds ids_;
  bool break_off_;
  /// How long an end is remembered before the start of the oldest transaction under way.
  std::chrono::nanoseconds memory_;
  mutable std::mutex mutex_;
  std::vector<RankMark> marks_;  ///< By rank.
  uint64_t first_id_;            ///< Of the front.
  std::deque<Entry> entries_;
  size_t oldest_open_ = 0;  ///< Index of the oldest entry that has not ended, or the size.
};

}  // namespace workload
