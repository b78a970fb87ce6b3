#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/diskd/process_end.h"

namespace storage {

bool ProcessEnd::is_held_by_children() {
  return false;
}

// A pidfd means this process, also when another one has got its number.
int ProcessEnd::begin() {
  return 0;
}

int ProcessEnd::watch(pid_t pid) {
  pid_ = pid;
  fd_ = OwnedFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return fd_.get() < 0 ? errno : 0;
}

void ProcessEnd::kill() const {
  ::syscall(SYS_pidfd_send_signal, fd_.get(), SIGKILL, nullptr, 0);
}

void ProcessEnd::reap() const {
  siginfo_t ended{};
  const auto by_pidfd = static_cast<idtype_t>(P_PIDFD);
  while (::waitid(by_pidfd, static_cast<id_t>(fd_.get()), &ended, WEXITED) != 0) {
    if (errno != EINTR) break;  // ECHILD: the process lets the kernel reap its children
  }
}

}  // namespace storage
