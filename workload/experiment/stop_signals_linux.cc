#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "workload/experiment/child_process.h"

namespace workload {
namespace {

sigset_t stop_signal_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signal_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

StopSignals::~StopSignals() {
  received();  // What is pending was answered, and must not end the process now.
  const sigset_t set = stop_signal_set();
  if (fd_ >= 0) close(fd_);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int StopSignals::received() {
  signalfd_siginfo info{};
  while (fd_ >= 0 && read(fd_, &info, sizeof info) == sizeof info) {
    if (signal_ == 0) signal_ = static_cast<int>(info.ssi_signo);
  }
  return signal_;
}

}  // namespace workload
