// Where the calls of an engine go that does not make them itself.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

#include "storage/base/counters.h"
#include "storage/io/io_call.h"

namespace storage {

/// Takes calls, has them made elsewhere, and hands their outcomes to those who wait. Its owner
/// calls it on one executor.
class CallQueue {
 public:
  virtual ~CallQueue() = default;
  /// Of the engine, as engine_names() has it.
  virtual const char* name() const = 0;

  /// Whether submit() takes such a call; whoever asks makes the others itself.
  virtual bool takes(const IoCall& call) const = 0;
  /// Whether reads and writes end only when they are done; otherwise a short one is to be
  /// continued.
  virtual bool transfers_whole() const = 0;
  /// Takes the call; its outcome is never delivered from here. After stop() a close is made at
  /// once and everything else ends in ECANCELED.
  virtual void submit(std::shared_ptr<IoCall> call) = 0;
  /// A call that waits ends in ECANCELED; one that runs does where it can be stopped, and ends as
  /// usual where it cannot. A close is never cancelled.
  virtual void cancel(const std::shared_ptr<IoCall>& call) = 0;

  /// Whether this call is to be refused, with kOverloaded, because too much is waiting. Counted.
  virtual bool refuses(const IoCall&) { return false; }
  virtual bool overloaded() const { return false; }

  /// Returns once nothing runs any more; what waits ends in ECANCELED, except that files are
  /// closed. Idempotent.
  virtual void stop() = 0;

  virtual void visit_counters(CounterVisitor& visitor) const = 0;
};

/// Submits the call and waits for its outcome; a cancellation of the coroutine cancels the call.
boost::asio::awaitable<CallOutcome> await_call(std::shared_ptr<CallQueue> queue,
                                               std::shared_ptr<IoCall> call);

/// Has the queue stopped before the executor's context goes with all that waits in it: no buffer
/// of a coroutine that is destroyed with its context is touched afterwards.
void stop_with_context(const std::shared_ptr<CallQueue>& queue,
                       const boost::asio::any_io_executor& executor);

}  // namespace storage
