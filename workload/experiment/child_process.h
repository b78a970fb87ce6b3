// The programs that a run consists of: started, waited for, measured, and always gone at the end.
//
// Every child gets a process group of its own (a Ctrl-C at the terminal reaches only the runner,
// which then stops its children in order) and, where the system has it, a parent-death signal (a
// killed runner leaves none behind). One thread uses all of this; that thread must outlive the
// children, because the kernel ties the parent-death signal to the thread that started the child.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/process_account.h"
#include "workload/experiment/processors.h"
#include "workload/filesystem/run_user.h"

namespace workload {

/// The signals that ask the runner to stop (SIGINT, SIGTERM, SIGHUP), taken as events while the
/// object lives: they are read from a descriptor, so that clean-up is ordinary code.
/// Children started meanwhile get the default dispositions back. One at a time in a process.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Readable when a signal arrived; -1 where the kernel gave no descriptor.
  int fd() const { return fd_; }
  /// The first signal that arrived so far, or 0.
  int received();

 private:
  int fd_ = -1;
  int signal_ = 0;
};

/// What to start and where its output goes.
struct ChildOptions {
  std::vector<std::string> command;  ///< `command[0]` is a path, or a name searched in PATH.
  std::string stdout_path;           ///< Appended to; must be writable.
  std::string stderr_path;           ///< Appended to; may equal `stdout_path`.
  std::optional<RunUser> user{};     ///< Whom it runs as; nothing is the caller.
  /// It enters a group of processes by this `cgroup.procs`; empty: it stays in the caller's.
  std::string group_file{};
  /// What it mounts is its own, and it does not keep what is mounted later. Needs root.
  bool own_mounts = false;
  ProcessorList processors{};  ///< Those that it may use; empty: the caller's.
};

/// What a child used. CPU seconds are user plus system, of all its threads and of the children it
/// waited for.
struct ResourceUse {
  double cpu_s = 0;
  /// Largest resident set seen. Taken from /proc where it was sampled (the kernel's own figure in
  /// wait4 includes the runner's memory at the time of the fork).
  uint64_t peak_rss_bytes = 0;
  ProcessCounters counters;  ///< Without the bytes from storage.
};

/// How a child ended.
struct ChildEnd {
  int exit_status = -1;  ///< Exit status, or 128 + the signal that ended it.
  bool killed = false;   ///< SIGTERM did not do; it was killed.
  ResourceUse use;
  /// `ended with status 1`, `was ended by signal 9 (Killed)`.
  std::string text() const;
};

/// A running child. Movable; the destructor kills (SIGKILL) its process group and reaps it.
class ChildProcess {
 public:
  /// Starts the program. A Problem where a log can't be opened or the program can't be executed.
  static Expected<ChildProcess> start(const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Name of the program, for messages.
  const std::string& name() const { return name_; }

  /// Waits until a line that contains `marker` appears on standard output, and returns it. A
  /// Problem where the child ended first, `wait_max` passed or `stop` received a signal.
  Expected<std::string> wait_ready(const std::string& marker, std::chrono::milliseconds wait_max,
                                   StopSignals* stop = nullptr);

  /// Ends it: SIGTERM, after `grace` SIGKILL; reaps it, and kills what is left of its group. Does
  /// nothing more where it has ended already. Never fails.
  ChildEnd stop(std::chrono::milliseconds grace = std::chrono::seconds(10));

  /// How it ended, if it has; reaps it then. Does not wait.
  std::optional<ChildEnd> poll_end();

  /// What it wrote to standard output beyond what wait_ready() returned, at most 64 KiB.
  const std::string& output() const { return unread_; }

  /// CPU seconds so far (all threads); the last known figure where it has ended.
  double cpu_s();

  /// Notes the present peak of the resident set; call it now and then, and before stop().
  void sample_memory();

 private:
  friend class ChildWaiter;
  ChildProcess() = default;
  void pump_output();
  void finish(int status, const rusage& use);
  void close_descriptors();
  void kill_group_and_reap();

  pid_t pid_ = -1;
  int output_fd_ = -1;
  int log_fd_ = -1;
  int process_fd_ = -1;
  std::string name_;
  std::string unread_;
  double last_cpu_s_ = 0;
  uint64_t sampled_rss_bytes_ = 0;
  bool killed_ = false;
  std::optional<ChildEnd> end_;
};

/// Waits for the first of several things to happen.
class ChildWaiter {
 public:
  enum class Event { kChildEnded, kStopRequested, kTimeout };

  /// Returns as soon as one of `children` has ended, `stop` (may be null) has received a signal, or
  /// `wait_max` has passed; passes the children's output on to their logs meanwhile.
  static Event wait(std::initializer_list<ChildProcess*> children, StopSignals* stop,
                    std::chrono::milliseconds wait_max);
};

/// Runs a program to its end and returns what it wrote to standard output (at most 64 KiB). A
/// Problem where it can't be executed, fails or takes longer than `wait_max`.
Expected<std::string> output_of(const std::vector<std::string>& command,
                                std::chrono::milliseconds wait_max);

}  // namespace workload
