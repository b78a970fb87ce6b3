// What those who send requests, in closed and open loops alike, need of the thread they run on.
#pragma once

#include <cstdint>
#include <string>

#include "storage/base/clock.h"
#include "workload/client/transaction.h"
#include "workload/measure/tally.h"
#include "workload/model/request_stream.h"

namespace workload {

/// When a request was to start and did, and what it belongs to.
struct RequestTimes {
  RequestTimes() = default;
  RequestTimes(size_t phase_in, storage::SteadyTime due_in, storage::SteadyTime start_in)
      : phase(phase_in), due(due_in), start(start_in) {}

  size_t phase = 0;
  storage::SteadyTime due{};  ///< Response times count from it; in a closed loop the start.
  storage::SteadyTime start{};
};

/// Counts requests. Called on the thread's event loop only.
class RequestHost {
 public:
  virtual ~RequestHost() = default;
  /// A request has become due.
  virtual void offered(size_t phase, storage::SteadyTime due) = 0;
  /// One that was due is given up.
  virtual void not_sent(size_t phase, storage::SteadyTime now, NotSent reason) = 0;
  /// A transaction starts; returns its id. `blocked` is how long it was overdue.
  virtual uint64_t started(const IntendedRequest& intended, const RequestTimes& times,
                           std::chrono::nanoseconds blocked) = 0;
  virtual void finished(const IntendedRequest& intended, uint64_t transaction,
                        const RequestTimes& times, const TransactionResult& result) = 0;
  /// A timer that was set to start a request ran so late: the generator's own delay.
  virtual void woke_late(std::chrono::nanoseconds lateness) = 0;
  virtual bool over(storage::SteadyTime now) const = 0;
  /// The sender failed for a reason of its own (no memory, a mistake): ends the run.
  virtual void sender_failed(const std::string& reason) = 0;
};

}  // namespace workload
