// A helper process as its parent sees it: started, ended, and known to be gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "storage/io/diskd/ipc_objects.h"
#include "storage/io/diskd/owned_fd.h"
#include "storage/io/diskd/process_end.h"

namespace storage {

// Where the helper finds what it inherits; everything else it closes.
inline constexpr int kHelperSocketFd = 3;  ///< Its end is the end of the helper.
inline constexpr int kHelperFolderFd = 4;  ///< The store's folder.
inline constexpr int kHelperLockFd = 5;    ///< The state file, whose lock it holds while it runs.
inline constexpr int kHelperEndFd = 6;     ///< Of its ProcessEnd, where children hold something.

/// `cacheoff-diskd` beside the running program.
std::string default_helper_program();

/// One process. All its calls on one thread; never another process is meant that has got the same
/// number.
class HelperProcess {
 public:
  /// Runs `program` in a process group of its own, which keeps the signals of a terminal away and
  /// has the kernel continue a stopped helper when its parent ends. Null with one line in `error`
  /// where it cannot be run; whether it is a helper its greeting says.
  static std::unique_ptr<HelperProcess> start(const std::string& program, const IpcObjects& objects,
                                              int folder_fd, int lock_fd, std::string& error);
  /// Kills what still runs, and waits for its end, but not for longer than a second: a process
  /// that the kernel does not let go is left to itself.
  ~HelperProcess();
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Readable once it has ended.
  int end_fd() const { return end_.fd(); }
  /// Our end of its socket, non-blocking: the greeting, then a byte for each reply. The caller may
  /// take it; closing it asks the helper to end.
  OwnedFd& socket() { return socket_; }

  void kill();
  /// Whether it has ended, within `wait_max`; it is then reaped, and touches nothing any more.
  bool wait(std::chrono::milliseconds wait_max);

 private:
  HelperProcess() = default;

  pid_t pid_ = -1;
  ProcessEnd end_;
  OwnedFd socket_;
  bool gone_ = false;
};

}  // namespace storage
