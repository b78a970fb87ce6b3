// Calls made by a helper process: how Squid's diskd works (its DiskIO/DiskDaemon, whose limits Q1
// and Q2 and whose 1.3 * Q2 pieces of shared memory these are).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "storage/io/call_queue.h"

namespace storage {

/// How a helper process is run.
struct HelperOptions {
  std::string program;  ///< Empty: default_helper_program().
  /// Operations under way, waiting ones included, above which no file is opened or created. Above
  /// q2 this optimises for hits, below it for response time, as in Squid.
  unsigned q1 = 64;
  /// Messages without a reply. Squid blocks at more; here whoever asks waits for its turn, but not
  /// for longer than `timeout`.
  unsigned q2 = 72;
  /// Pieces of 64 KiB of shared memory, for as many reads and writes at once; 0: 1.3 * q2.
  unsigned slots = 0;
  /// How long one operation may take before the helper counts as hung, and is killed.
  std::chrono::milliseconds timeout{5000};
  /// The pause before a new helper: at least this, twice as long each time, and at most the other,
  /// with a random part of up to a half less.
  std::chrono::milliseconds restart_delay_min{20};
  std::chrono::milliseconds restart_delay_max{5000};
};

/// A queue for QueuedEngine, whose calls a `cacheoff-diskd` makes below the folder `root_fd`. It
/// starts the helper, and waits for it, here; null where that fails: `error` is then one line for
/// the user.
///
/// A helper that ends, hangs or says what makes no sense is killed: what it had been given fails
/// with EIO, what waits with EAGAIN. Until it is known to be gone and another one is there,
/// everything is refused with EAGAIN. Files that the old one had open are ESTALE, for reading
/// EAGAIN. `on_event`, where it is not empty, is told of each loss, and of each helper that runs in
/// place of a lost one, in one line, on the executor; the loss of an idle helper when it is needed
/// next.
///
/// Beside what all queues count: the gauges `io_in_flight`, `io_in_flight_max`, `io_queue_depth`,
/// `helper_running`, `helper_slots` and `helper_slots_used_max`; `io_refusals_total` by reason
/// (`q1`, `wait`, `no_helper`), `helper_starts_total`, `helper_failures_total` by reason (`ended`,
/// `timeout`, `protocol`, `start`), `helper_failed_operations_total`, `helper_queue_waits_total`,
/// `helper_leftovers_removed_total`.
std::shared_ptr<CallQueue> make_helper_queue(const boost::asio::any_io_executor& executor,
                                             const HelperOptions& options, int root_fd,
                                             uint64_t seed, std::string& error,
                                             std::function<void(const std::string&)> on_event = {});

}  // namespace storage
