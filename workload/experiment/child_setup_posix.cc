#include <cerrno>

#include "workload/experiment/child_setup.h"

namespace workload {

bool leave_mounts_behind() {
  errno = ENOTSUP;
  return false;
}

// A runner that is killed leaves its programs running.
void die_with_parent() {}

int open_process(pid_t) {
  errno = 0;
  return -1;
}

std::chrono::milliseconds unwatched_wait_max() {
  return std::chrono::milliseconds(20);
}

}  // namespace workload
