// Decides when a run begins to measure and when it is over, for all of its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "workload/client/goal.h"
#include "workload/measure/tally.h"

namespace workload {

/// Leave to send requests.
struct Grant {
  uint64_t requests = 0;  ///< 0: the run is over.
  bool measured = false;  ///< They belong to the measured part.
};

/// The goals of a run. Safe to call from any thread.
///
/// What is measured is every request that is granted after the warm-up, and of these every one
/// that ends before the run's end; the others are sent but not completed. With a goal of requests
/// all of them end before it.
class RunControl {
 public:
  /// `cache_size_bytes` must not be 0 where a goal is a fill.
  RunControl(Goal until, std::optional<Goal> warm_up, uint64_t cache_size_bytes);

  void start(storage::SteadyTime now);

  /// Grants up to `wanted` requests, which start together as one page.
  Grant grant(uint64_t wanted, storage::SteadyTime now);
  /// Takes back what was granted and then not sent.
  void give_back(uint64_t requests, const Grant& grant);
  /// A transaction ended; moves goals of fill on.
  void completed(const TransactionRecord& record, bool measured, storage::SteadyTime end);

  /// Nothing more may be sent.
  bool over(storage::SteadyTime now) const;
  /// Ends the run at once, as failed; the first reason stays. Connections are to be closed.
  void abort(const std::string& reason);
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  std::string abort_reason() const;
  /// Ends the run now, in order.
  void end_now(storage::SteadyTime now);

  /// Start of the measured part; nothing while the warm-up lasts.
  std::optional<storage::SteadyTime> measured_from() const;
  /// Its end, once known; with a goal of requests never.
  std::optional<storage::SteadyTime> measured_until() const;

  /// Of the measured part so far, for progress.
  uint64_t good() const { return good_.load(std::memory_order_relaxed); }
  uint64_t errors() const { return errors_.load(std::memory_order_relaxed); }
  uint64_t fill_bytes() const { return fill_bytes_.load(std::memory_order_relaxed); }
  /// Share of the goal that is reached, 0 to 1.
  double progress(storage::SteadyTime now) const;

 private:
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

  static uint64_t take(std::atomic<uint64_t>& left, uint64_t wanted);
  void begin_measuring(storage::SteadyTime at);
  uint64_t fill_goal_bytes(const Goal& goal) const;

  Goal until_;
  std::optional<Goal> warm_up_;
  uint64_t cache_size_bytes_;
  std::atomic<int64_t> from_ns_{kUnknown};
  std::atomic<int64_t> until_ns_{kUnknown};
  std::atomic<uint64_t> warm_up_left_{0};  ///< Requests.
  std::atomic<uint64_t> left_{0};
  std::atomic<uint64_t> warm_up_fill_bytes_{0};
  std::atomic<uint64_t> fill_bytes_{0};
  std::atomic<uint64_t> good_{0};
  std::atomic<uint64_t> errors_{0};
  std::atomic<bool> aborted_{false};
  mutable std::mutex mutex_;
  std::string abort_reason_;
};

}  // namespace workload
