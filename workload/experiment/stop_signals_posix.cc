#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "workload/experiment/child_process.h"

namespace workload {
namespace {

constexpr std::array<int, 3> kStopSignals{SIGINT, SIGTERM, SIGHUP};

/// The pipe that the handler writes to, which can have no object; -1 where none is there.
volatile sig_atomic_t handler_fd = -1;

void note_signal(int number) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(number);
  const ssize_t ignored = write(handler_fd, &byte, 1);
  static_cast<void>(ignored);
  errno = before;
}

void handle_stop_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kStopSignals) sigaction(number, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  std::array<int, 2> ends{-1, -1};
  if (pipe(ends.data()) != 0) return;
  for (const int fd : ends) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  fd_ = ends[0];
  handler_fd = ends[1];
  handle_stop_signals(note_signal);
}

StopSignals::~StopSignals() {
  if (fd_ < 0) return;
  handle_stop_signals(SIG_DFL);
  close(handler_fd);
  handler_fd = -1;
  close(fd_);
}

int StopSignals::received() {
  unsigned char number = 0;
  while (fd_ >= 0 && read(fd_, &number, 1) == 1) {
    if (signal_ == 0) signal_ = number;
  }
  return signal_;
}

}  // namespace workload
