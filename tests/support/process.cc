#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace testing_support {

namespace {

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

/// Appends what is readable; closes at the end of the stream.
void drain(int& fd, std::string& into) {
  std::array<char, 65536> buffer;
  while (fd >= 0) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close_fd(fd);
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

}  // namespace

Process::Process(std::vector<std::string> command,
                 const std::map<std::string, std::string>& extra_environment) {
  int out_pipe[2];
  int err_pipe[2];
  if (::pipe2(out_pipe, O_CLOEXEC) != 0 || ::pipe2(err_pipe, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2 failed");
  }
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    ::setpgid(0, 0);
    // A test program that is killed itself leaves nothing behind.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(out_pipe[1], 1);
    ::dup2(err_pipe[1], 2);
    for (const auto& [name, value] : extra_environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(out_pipe[1]);
  ::close(err_pipe[1]);
  out_fd_ = out_pipe[0];
  err_fd_ = err_pipe[0];
  ::fcntl(out_fd_, F_SETFL, O_NONBLOCK);
  ::fcntl(err_fd_, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  reap_if_ended();
  if (!ended_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  close_fd(out_fd_);
  close_fd(err_fd_);
}

void Process::reap_if_ended() {
  if (ended_) return;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = true;
    result_.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
}

bool Process::pump(std::chrono::milliseconds wait) {
  std::array<pollfd, 2> fds{{{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), static_cast<int>(wait.count()));
  drain(out_fd_, result_.out);
  drain(err_fd_, result_.err);
  reap_if_ended();
  return !ended_;
}

std::string Process::wait_for_line(const std::string& marker, std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (true) {
    const bool alive = pump(std::chrono::milliseconds(20));
    const size_t at = result_.out.find(marker);
    const size_t end = at == std::string::npos ? at : result_.out.find('\n', at);
    if (end != std::string::npos) {
      const size_t newline = result_.out.rfind('\n', at);
      const size_t begin = newline == std::string::npos ? 0 : newline + 1;
      return result_.out.substr(begin, end - begin);
    }
    if (!alive || std::chrono::steady_clock::now() > deadline) return "";
  }
}

void Process::signal(int number) const {
  if (!ended_) ::kill(pid_, number);
}

ProcessResult Process::wait(std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (pump(std::chrono::milliseconds(20))) {
    if (std::chrono::steady_clock::now() <= deadline) continue;
    result_.timed_out = true;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    result_.exit_status = 128 + SIGKILL;
  }
  drain(out_fd_, result_.out);
  drain(err_fd_, result_.err);
  return result_;
}

ProcessResult Process::terminate(std::chrono::milliseconds wait_max) {
  signal(SIGTERM);
  return wait(wait_max);
}

bool Process::running() {
  reap_if_ended();
  return !ended_;
}

ProcessResult run_command(std::vector<std::string> command, std::chrono::milliseconds wait_max) {
  Process process(std::move(command));
  return process.wait(wait_max);
}

std::string program_path(const std::string& name) {
  return CACHEOFF_BINARY_DIR "/" + name;
}

bool command_exists(const std::string& name) {
  return run_command({"sh", "-c", "command -v " + name}).exit_status == 0;
}

uint16_t port_in_line(const std::string& line, const std::string& word) {
  const size_t at = line.find(word);
  if (at == std::string::npos) return 0;
  const size_t end = line.find(',', at);
  const std::string part = line.substr(at, end == std::string::npos ? end : end - at);
  const size_t colon = part.rfind(':');
  if (colon == std::string::npos) return 0;
  return static_cast<uint16_t>(std::strtoul(part.c_str() + colon + 1, nullptr, 10));
}

}  // namespace testing_support
