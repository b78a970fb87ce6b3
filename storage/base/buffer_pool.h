// A bounded pool of equal buffers, lent as leases.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "storage/base/counters.h"
#include "storage/base/task.h"
#include "storage/types.h"

namespace storage {

/// Lends buffers of one size and bounds the bytes that are out at once. Leases may be returned
/// from any thread and may outlive the pool object; acquire runs on the pool's executor.
class BufferPool {
 public:
  /// `size_bytes_max` bounds all leased bytes together; at least one buffer is always allowed.
  BufferPool(boost::asio::any_io_executor executor, size_t buffer_size_bytes,
             uint64_t size_bytes_max);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// Size of each buffer. Buffers are aligned to 4096 bytes.
  size_t buffer_size_bytes() const;

  /// Lends a buffer, waiting in order of arrival while all are out. kOverloaded after
  /// `wait_max`; kAborted when cancelled.
  Task<Space> acquire(std::chrono::milliseconds wait_max = std::chrono::seconds(10));

  /// Lends a buffer at once or says kOverloaded.
  Result<Space> try_acquire();

  /// `buffer_pool_leased_bytes`, `buffer_pool_waits_total`, `buffer_pool_refusals_total`.
  void visit_counters(CounterVisitor& visitor) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace storage
