#include <sys/eventfd.h>

#include <cerrno>

#include "storage/io/wake_event.h"

namespace storage {

int open_wake_event(OwnedFd& read_end, OwnedFd&) {
  read_end = OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return read_end.get() < 0 ? errno : 0;
}

}  // namespace storage
