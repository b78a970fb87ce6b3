// Drives a proxy with the requests of a log, in their order and, if asked, at their times.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "storage/base/clock.h"
#include "workload/client/replay_objects.h"
#include "workload/client/replay_timing.h"
#include "workload/client/transaction.h"
#include "workload/measure/recorder.h"

namespace workload {

/// How far a replay is.
struct ReplayProgress {
  uint64_t ended = 0;
  uint64_t steps = 0;
  uint64_t hits = 0;
  uint64_t errors = 0;
};

struct ReplayRunOptions {
  boost::asio::ip::tcp::endpoint peer;
  TargetForm target;
  ReplayTiming timing;
  size_t concurrency = 16;  ///< Most requests under way at once, at least 1.
  std::chrono::nanoseconds timeout = std::chrono::seconds(60);  ///< Of one transaction.
  std::chrono::nanoseconds sample_interval = std::chrono::seconds(1);
  /// The run is given up when for so long nothing came but errors.
  std::chrono::nanoseconds give_up_after = std::chrono::seconds(30);
  /// The first transaction's id; runs against one cache must not share ids, so it is random.
  uint64_t transaction_base = 0;
  int stop_fd = -1;  ///< The run ends early when this becomes readable; -1: never.
  /// Called now and then on the run's thread; may be empty.
  std::function<void(const ReplayProgress&)> progress;
};

/// What a replay measured.
struct ReplayMeasurement {
  explicit ReplayMeasurement(std::chrono::nanoseconds interval) : recorder(interval) {}

  RunRecorder recorder;
  storage::WallTime start;
  /// To the end of the last counted transaction, or to when the run was stopped.
  std::chrono::nanoseconds duration{0};
  Histogram lateness;                   ///< Of starts behind their due time; open loop only.
  std::chrono::nanoseconds lag_max{0};  ///< Longest time that the loop ran a due timer late.
  uint64_t connections = 0;
  uint64_t retries = 0;
  std::string first_error;  ///< One line; empty in a clean run.
  std::string ended_early;  ///< Why not every step was run; empty where each was.
};

/// Runs the steps. Blocks the calling thread, on which all of it happens.
///
/// Steps start in their order. As soon as possible: whenever fewer than `concurrency` are under
/// way. While a HEAD is under way, a request for the same object waits, and the other way round:
/// which of the two a cache sees first would decide a hit, and would be chance. Open loop: each
/// when it is due, and later only where all of `concurrency` are taken; response times count from
/// when the step was due.
///
/// A HEAD counts in hit ratios like a GET, and in byte hit ratios not at all.
ReplayMeasurement run_replay(const ReplayWork& work, const ReplayRunOptions& options,
                             const storage::Clock& clock);

}  // namespace workload
