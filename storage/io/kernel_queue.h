// What the kernel's queues of file operations have in common: a bounded number in the kernel,
// others that wait for them, and a descriptor that tells when some have ended.
#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/io/call_queue.h"
#include "storage/io/diskd/owned_fd.h"

namespace storage {

/// Base of LibaioQueue, UringQueue and PosixAioQueue. All on the executor; no threads.
class KernelQueue : public CallQueue, public std::enable_shared_from_this<KernelQueue> {
 public:
  ~KernelQueue() override;
  KernelQueue(const KernelQueue&) = delete;
  KernelQueue& operator=(const KernelQueue&) = delete;

  bool transfers_whole() const final { return false; }
  void submit(std::shared_ptr<IoCall> call) final;
  void cancel(const std::shared_ptr<IoCall>& call) final;
  void stop() final;

  /// The gauges `io_in_flight`, `io_in_flight_max` and `io_queue_depth` (of those that wait), and
  /// `io_background_close_errors_total`.
  void visit_counters(CounterVisitor& visitor) const final;

 protected:
  explicit KernelQueue(const boost::asio::any_io_executor& executor, unsigned depth_max);

  /// Makes the descriptor of wake_event.h; an errno or 0.
  int open_event();
  /// Where it is written to.
  int event_fd() {
    return event_writer_.get() >= 0 ? event_writer_.get() : event_->native_handle();
  }

  /// Gives the call to the kernel; an errno or 0. EAGAIN: it is tried again after others have
  /// ended.
  virtual int start(IoCall& call) = 0;
  /// Asks the kernel to stop a call that runs, where it can.
  virtual void try_to_stop(IoCall& call) = 0;
  /// Calls ended() for what has; waits until at least `minimum` have.
  virtual void reap(size_t minimum) = 0;
  /// Frees the kernel's queue; nothing is in it.
  virtual void release() = 0;

  void ended(IoCall& call, const CallOutcome& outcome);
  unsigned in_flight() const { return in_flight_; }

 private:
  using Ended = std::pair<std::shared_ptr<IoCall>, CallOutcome>;

  void start_or_wait(std::shared_ptr<IoCall> call);
  void start_waiting();
  void watch();
  void on_event();
  void finish(IoCall& call, const CallOutcome& outcome, bool now);

  const boost::asio::any_io_executor executor_;
  const unsigned depth_max_;
  std::optional<boost::asio::posix::stream_descriptor> event_;
  OwnedFd event_writer_;  ///< Empty where the event itself is written to.
  std::array<std::byte, 64> event_count_{};
  bool watching_ = false;
  bool stopped_ = false;
  std::deque<std::shared_ptr<IoCall>> waiting_;
  std::vector<Ended> ended_;
  unsigned in_flight_ = 0;
  unsigned in_flight_max_ = 0;
  uint64_t close_errors_ = 0;
};

}  // namespace storage
