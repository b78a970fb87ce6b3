#include "workload/experiment/child_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "workload/experiment/child_setup.h"
#include "workload/experiment/machine_stats.h"

namespace workload {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kReadyLineBytesMax = 64 * 1024;

std::string errno_text(int number) {
  return std::strerror(number);
}

int milliseconds_until(SteadyClock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
  return static_cast<int>(
      std::max<int64_t>(0, std::min<int64_t>(left + 1, unwatched_wait_max().count())));
}

double seconds_of(const timeval& value) {
  return static_cast<double>(value.tv_sec) + static_cast<double>(value.tv_usec) * 1e-6;
}

/// Ends the child, telling the parent why.
[[noreturn]] void fail_to_start(int failure_fd) {
  const int number = errno;
  const ssize_t ignored = write(failure_fd, &number, sizeof number);
  static_cast<void>(ignored);
  _exit(127);
}

void become_user(const RunUser& user, int failure_fd) {
  const bool changed = setgroups(0, nullptr) == 0 && setgid(user.gid) == 0 && setuid(user.uid) == 0;
  if (!changed) fail_to_start(failure_fd);
}

/// The child's side between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_program(char* const* arguments, pid_t parent, const ChildOptions& options,
                                 int group_fd, int output_fd, int error_fd, int failure_fd) {
  setpgid(0, 0);
  // As long as it may: a group that root made takes nobody else's word.
  if (group_fd >= 0 && write(group_fd, "0", 1) != 1) fail_to_start(failure_fd);
  if (options.own_mounts && !leave_mounts_behind()) fail_to_start(failure_fd);
  if (!options.processors.empty() && !keep_to_processors(options.processors)) {
    fail_to_start(failure_fd);
  }
  if (options.user) become_user(*options.user, failure_fd);
  // After the change of user, which takes the parent-death signal away.
  die_with_parent();
  // The parent may have died before the line above: then nobody would ever send the signal.
  if (getppid() != parent) _exit(127);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input_fd >= 0) dup2(input_fd, STDIN_FILENO);
  if (dup2(output_fd, STDOUT_FILENO) >= 0 && dup2(error_fd, STDERR_FILENO) >= 0) {
    execvp(arguments[0], arguments);
  }
  fail_to_start(failure_fd);
}

/// Closes what it holds, unless released.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

int open_log(const std::string& path) {
  return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/// The errno with which exec failed, or 0 where the program runs.
int wait_for_exec(int failure_fd) {
  int number = 0;
  ssize_t got;
  do {
    got = read(failure_fd, &number, sizeof number);
  } while (got < 0 && errno == EINTR);
  return got == sizeof number ? number : 0;
}

}  // namespace

std::string ChildEnd::text() const {
  if (exit_status > 128) {
    const int number = exit_status - 128;
    return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  }
  return "ended with status " + std::to_string(exit_status);
}

Expected<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  ChildProcess child;
  const std::string& program = options.command.front();
  child.name_ = program.substr(program.rfind('/') + 1);
  Descriptor log(open_log(options.stdout_path));
  if (log.get() < 0) {
    return run_problem("can't write '" + options.stdout_path + "': " + errno_text(errno));
  }
  Descriptor error_log(open_log(options.stderr_path));
  if (error_log.get() < 0) {
    return run_problem("can't write '" + options.stderr_path + "': " + errno_text(errno));
  }
  const bool has_group = !options.group_file.empty();
  Descriptor group(has_group ? open(options.group_file.c_str(), O_WRONLY | O_CLOEXEC) : -1);
  if (has_group && group.get() < 0) {
    return run_problem("can't write '" + options.group_file + "': " + errno_text(errno));
  }
  std::array<int, 2> output{-1, -1};
  std::array<int, 2> failure{-1, -1};
  if (pipe2(output.data(), O_CLOEXEC) != 0) {
    return run_problem("can't make a pipe: " + errno_text(errno));
  }
  Descriptor output_read(output[0]);
  Descriptor output_write(output[1]);
  if (pipe2(failure.data(), O_CLOEXEC) != 0) {
    return run_problem("can't make a pipe: " + errno_text(errno));
  }
  Descriptor failure_read(failure[0]);
  Descriptor failure_write(failure[1]);

  std::vector<std::string> words = options.command;
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return run_problem("can't start " + child.name_ + ": " + errno_text(errno));
  if (pid == 0) {
    become_program(arguments.data(), parent, options, group.get(), output_write.get(),
                   error_log.get(), failure_write.get());
  }
  setpgid(pid, pid);  // Both sides do it, so that neither runs ahead of it.
  child.pid_ = pid;
  output_write.reset();
  failure_write.reset();
  if (const int number = wait_for_exec(failure_read.get()); number != 0) {
    child.kill_group_and_reap();
    const std::string where = has_group ? " in the group of '" + options.group_file + "'" : "";
    return run_problem("can't execute '" + program + "'" + where + ": " + errno_text(number));
  }
  child.output_fd_ = output_read.release();
  child.log_fd_ = log.release();
  fcntl(child.output_fd_, F_SETFL, O_NONBLOCK);
  child.process_fd_ = open_process(pid);
  if (child.process_fd_ < 0 && errno != 0) {
    return run_problem("can't watch " + child.name_ + ": " + errno_text(errno));
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept {
  *this = std::move(other);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  kill_group_and_reap();
  close_descriptors();
  pid_ = std::exchange(other.pid_, -1);
  output_fd_ = std::exchange(other.output_fd_, -1);
  log_fd_ = std::exchange(other.log_fd_, -1);
  process_fd_ = std::exchange(other.process_fd_, -1);
  name_ = std::move(other.name_);
  unread_ = std::move(other.unread_);
  last_cpu_s_ = other.last_cpu_s_;
  sampled_rss_bytes_ = other.sampled_rss_bytes_;
  killed_ = other.killed_;
  end_ = std::move(other.end_);
  return *this;
}

ChildProcess::~ChildProcess() {
  kill_group_and_reap();
  close_descriptors();
}

void ChildProcess::close_descriptors() {
  for (int* fd : {&output_fd_, &log_fd_, &process_fd_}) {
    if (*fd >= 0) close(std::exchange(*fd, -1));
  }
}

void ChildProcess::kill_group_and_reap() {
  if (pid_ < 0 || end_) return;
  // Until it is reaped its number can't be given to anybody else, nor its group's.
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  int status = 0;
  rusage use{};
  while (wait4(pid_, &status, 0, &use) < 0 && errno == EINTR) {
  }
  finish(status, use);
}

void ChildProcess::finish(int status, const rusage& use) {
  pump_output();
  const auto wait4_rss_bytes = static_cast<uint64_t>(use.ru_maxrss) * 1024;
  ChildEnd end;
  end.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  end.killed = killed_;
  end.use.cpu_s = seconds_of(use.ru_utime) + seconds_of(use.ru_stime);
  end.use.peak_rss_bytes = sampled_rss_bytes_ > 0 ? sampled_rss_bytes_ : wait4_rss_bytes;
  end.use.counters.voluntary_switches = static_cast<uint64_t>(use.ru_nvcsw);
  end.use.counters.involuntary_switches = static_cast<uint64_t>(use.ru_nivcsw);
  end.use.counters.minor_faults = static_cast<uint64_t>(use.ru_minflt);
  end.use.counters.major_faults = static_cast<uint64_t>(use.ru_majflt);
  last_cpu_s_ = end.use.cpu_s;
  end_ = end;
}

void ChildProcess::pump_output() {
  std::array<char, 16 * 1024> buffer;
  while (output_fd_ >= 0) {
    const ssize_t got = read(output_fd_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      close(std::exchange(output_fd_, -1));
      return;
    }
    const auto size = static_cast<size_t>(got);
    // The log is for people; a full disk must not stop the run that would report it.
    const ssize_t ignored = write(log_fd_, buffer.data(), size);
    static_cast<void>(ignored);
    if (unread_.size() < kReadyLineBytesMax) unread_.append(buffer.data(), size);
  }
}

Expected<std::string> ChildProcess::wait_ready(const std::string& marker,
                                               std::chrono::milliseconds wait_max,
                                               StopSignals* stop) {
  const auto deadline = SteadyClock::now() + wait_max;
  for (;;) {
    pump_output();
    for (size_t end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      if (line.find(marker) != std::string::npos) return line;
    }
    if (const auto ended = poll_end()) {
      if (unread_.find(marker) != std::string::npos && unread_.find('\n') != std::string::npos) {
        continue;
      }
      return run_problem(name_ + " " + ended->text() + " before it was ready");
    }
    if (SteadyClock::now() >= deadline) {
      return run_problem(name_ + " was not ready after " + std::to_string(wait_max.count()) +
                         " ms");
    }
    const auto left = std::chrono::milliseconds(milliseconds_until(deadline));
    if (ChildWaiter::wait({this}, stop, std::min(left, std::chrono::milliseconds(50))) ==
        ChildWaiter::Event::kStopRequested) {
      return run_problem("stopped by a signal while " + name_ + " was starting");
    }
  }
}

std::optional<ChildEnd> ChildProcess::poll_end() {
  if (end_ || pid_ < 0) return end_;
  siginfo_t info{};
  // Looks without reaping, so that the group can still be named safely.
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_) {
    return std::nullopt;
  }
  kill_group_and_reap();
  return end_;
}

ChildEnd ChildProcess::stop(std::chrono::milliseconds grace) {
  if (const auto ended = poll_end()) return *ended;
  if (pid_ < 0) return ChildEnd{};
  sample_memory();
  kill(pid_, SIGTERM);
  const auto deadline = SteadyClock::now() + grace;
  while (!end_ && SteadyClock::now() < deadline) {
    ChildWaiter::wait({this}, nullptr, std::chrono::milliseconds(milliseconds_until(deadline)));
    poll_end();
  }
  if (!end_) {
    killed_ = true;
    kill_group_and_reap();
  }
  return *end_;
}

double ChildProcess::cpu_s() {
  if (end_ || pid_ < 0) return last_cpu_s_;
  if (const auto cpu_s = read_cpu_s(pid_)) last_cpu_s_ = *cpu_s;
  return last_cpu_s_;
}

void ChildProcess::sample_memory() {
  if (end_ || pid_ < 0) return;
  sampled_rss_bytes_ = std::max(sampled_rss_bytes_, read_peak_rss_bytes(pid_));
}

ChildWaiter::Event ChildWaiter::wait(std::initializer_list<ChildProcess*> children,
                                     StopSignals* stop, std::chrono::milliseconds wait_max) {
  const auto deadline = SteadyClock::now() + wait_max;
  for (;;) {
    if (stop != nullptr && stop->received() != 0) return Event::kStopRequested;
    std::vector<pollfd> watched;
    if (stop != nullptr) watched.push_back({stop->fd(), POLLIN, 0});
    for (ChildProcess* child : children) {
      child->pump_output();
      if (child->poll_end()) return Event::kChildEnded;
      watched.push_back({child->process_fd_, POLLIN, 0});
      if (child->output_fd_ >= 0) watched.push_back({child->output_fd_, POLLIN, 0});
    }
    const int left_ms = milliseconds_until(deadline);
    if (SteadyClock::now() >= deadline) return Event::kTimeout;
    ::poll(watched.data(), watched.size(), left_ms);
  }
}

Expected<std::string> output_of(const std::vector<std::string>& command,
                                std::chrono::milliseconds wait_max) {
  auto child = ChildProcess::start({command, "/dev/null", "/dev/null"});
  if (!child) return child.error();
  const bool in_time =
      ChildWaiter::wait({&*child}, nullptr, wait_max) == ChildWaiter::Event::kChildEnded;
  const ChildEnd end = child->stop();
  if (!in_time) return run_problem(child->name() + " took too long");
  if (end.exit_status != 0) return run_problem(child->name() + " " + end.text());
  return child->output();
}

}  // namespace workload
