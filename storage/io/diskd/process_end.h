// How a parent learns that its helper process has ended, and reaches it: where systems differ.
#pragma once

#include <sys/types.h>

#include <string>

#include "storage/io/diskd/owned_fd.h"

namespace storage {

/// The end of one child process. begin() comes first, then the child is started, then watch(). One
/// thread.
class ProcessEnd {
 public:
  /// Whether a child is to hold something, see held_by_child().
  static bool is_held_by_children();
  /// Prepares for a child. An errno, or 0.
  int begin();
  /// What the child must inherit and keep to its end, where children hold something.
  int held_by_child() const { return held_by_child_.get(); }
  /// The child runs, and is not reaped. An errno, or 0.
  int watch(pid_t pid);

  /// Readable once the process has ended.
  int fd() const { return fd_.get(); }
  /// Sends SIGKILL; it must not have been reaped.
  void kill() const;
  /// Reaps it, after fd() has become readable.
  void reap() const;

 private:
  pid_t pid_ = -1;
  OwnedFd fd_;
  OwnedFd held_by_child_;
};

}  // namespace storage
