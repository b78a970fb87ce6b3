#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/diskd/process_end.h"

namespace storage {

bool ProcessEnd::is_held_by_children() {
  return true;
}

// The child holds the writing end of a pipe, which the system closes with its other descriptors:
// the reading end is then at its end. Its shared memory is gone by then, or goes before it is
// reaped.
int ProcessEnd::begin() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return errno;
  fd_ = OwnedFd(ends[0]);
  held_by_child_ = OwnedFd(ends[1]);
  for (const int fd : ends) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return errno;
  }
  return 0;
}

int ProcessEnd::watch(pid_t pid) {
  pid_ = pid;
  held_by_child_.reset();
  return 0;
}

void ProcessEnd::kill() const {
  ::kill(pid_, SIGKILL);
}

void ProcessEnd::reap() const {
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace storage
