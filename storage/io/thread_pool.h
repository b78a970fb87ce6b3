// Calls made by threads, off the event loop: how aufs works.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "storage/io/call_queue.h"

namespace storage {

/// How large a pool is.
struct ThreadPoolOptions {
  unsigned threads = 16;  ///< At least 1.
  /// Calls that wait for a thread. At so many, files are no longer created: that is where new
  /// objects are declined; at twice as many, writes are refused too. Reads and closes never are.
  size_t queue_limit = 80;

  ThreadPoolOptions() = default;
  ThreadPoolOptions(unsigned threads_in, size_t queue_limit_in)
      : threads(threads_in), queue_limit(queue_limit_in) {}
};

/// A queue for QueuedEngine. Opens for reading, reads and sizes go first, but every eighth call is
/// one of the others if there is any, so that nothing waits for ever. It counts the gauges
/// `io_queue_depth`, `io_queue_depth_max`, `io_running` and `io_threads`, `io_refusals_total` by
/// operation, and `io_background_close_errors_total`. Null where the threads cannot be started:
/// `error` is then one line for the user.
std::shared_ptr<CallQueue> make_thread_pool(const ThreadPoolOptions& options, std::string& error);

}  // namespace storage
