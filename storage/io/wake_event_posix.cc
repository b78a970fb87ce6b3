#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/wake_event.h"

namespace storage {

// A pipe that is full is readable, so that nothing is lost with what is not written to it.
int open_wake_event(OwnedFd& read_end, OwnedFd& write_end) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return errno;
  read_end = OwnedFd(ends[0]);
  write_end = OwnedFd(ends[1]);
  for (const int fd : ends) {
    if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      return errno;
    }
  }
  return 0;
}

}  // namespace storage
