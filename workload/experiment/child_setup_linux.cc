#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workload/experiment/child_setup.h"

namespace workload {

bool leave_mounts_behind() {
  return unshare(CLONE_NEWNS) == 0;
}

void die_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// By number, as glibc 2.36 declares the function without C linkage.
int open_process(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

std::chrono::milliseconds unwatched_wait_max() {
  return std::chrono::minutes(1);
}

}  // namespace workload
