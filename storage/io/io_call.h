// One file operation as data, on its way to a thread or to the kernel, and whoever waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/io/file_calls.h"
#include "storage/io/io_statistics.h"

namespace storage {

/// Whoever waits for the end of a call.
class CallWaiter {
 public:
  virtual ~CallWaiter() = default;
  /// Hands the outcome over, once, by the executor of whoever waits: from any thread.
  virtual void deliver_later(const CallOutcome& outcome) = 0;
  /// The same from a handler that runs on that executor, before this returns.
  virtual void deliver_now(const CallOutcome& outcome) = 0;
};

/// A call. Its buffer belongs to whoever waits, who waits until nothing touches it any more.
struct IoCall {
  IoCall(IoKind kind_in, int fd_in) : kind(kind_in), fd(fd_in) {}
  /// Closes what was opened and not taken, because whoever waited has gone.
  ~IoCall();
  IoCall(const IoCall&) = delete;
  IoCall& operator=(const IoCall&) = delete;

  const IoKind kind;
  const int fd;  ///< The file; of open, rename and unlink the folder of relative paths.
  OpenMode mode = OpenMode::kRead;
  std::string path;
  std::string new_path;  ///< Of rename.
  uint64_t offset_bytes = 0;
  std::byte* data = nullptr;
  size_t size_bytes = 0;
  size_t alignment_bytes = 1;  ///< More than 1: the file was opened for direct transfers.
  bool of_space = false;       ///< Of stat: the space given to the file, not its size.

  /// Of open: the descriptor, until it is taken from here.
  int opened_fd = -1;
  std::unique_ptr<CallWaiter> waiter;  ///< Null where nobody waits.

  // For the queue that has it.
  enum class State { kWaiting, kRunning, kEnded };
  State state = State::kWaiting;
  bool cancelled = false;
  std::shared_ptr<IoCall> self;  ///< Keeps it while only the kernel knows of it.
};

/// Makes the call in this thread.
CallOutcome perform(const IoCall& call);

/// Notes a successful open in the call, where it is taken from, and takes the waiter out.
std::unique_ptr<CallWaiter> end_call(IoCall& call, const CallOutcome& outcome);

}  // namespace storage
