// The message queues and the shared memory of one helper process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "storage/base/random.h"
#include "storage/io/diskd/helper_state.h"

namespace storage {

/// Two queues and a segment, all of mode 0600, made under keys that were noted before. The segment
/// is marked for removal as soon as it is attached (Linux lets others attach it all the same, see
/// shmat(2)), so that it goes with the last process that has it. The destructor removes the queues
/// and detaches the segment.
class IpcObjects {
 public:
  /// `slots` pieces of memory, and queues that hold `messages_max` requests and replies. Null with
  /// one line in `error` where the kernel refuses, with the limit to raise.
  static std::unique_ptr<IpcObjects> make(HelperState& state, unsigned slots, unsigned messages_max,
                                          Random& random, std::string& error);
  ~IpcObjects();
  IpcObjects(const IpcObjects&) = delete;
  IpcObjects& operator=(const IpcObjects&) = delete;

  int requests_id() const { return requests_id_; }
  int replies_id() const { return replies_id_; }
  int memory_id() const { return memory_id_; }
  std::span<std::byte> memory() const { return memory_; }

 private:
  explicit IpcObjects(HelperState& state) : state_(state) {}
  /// The name of the call that failed, with errno set, or null.
  const char* make_all(const HelperObjects& keys, size_t memory_size_bytes);

  HelperState& state_;
  int requests_id_ = -1;
  int replies_id_ = -1;
  int memory_id_ = -1;
  std::span<std::byte> memory_;
};

/// One line on why `call` (msgget, shmget, shmat) has failed for want of something, with the sysctl
/// that helps.
std::string explain_ipc_failure(const std::string& call, int system_errno, size_t size_bytes);

}  // namespace storage
