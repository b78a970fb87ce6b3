// Child processes of tests: started, watched, and always gone when the test ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace testing_support {

/// How a child ended and what it said.
struct ProcessResult {
  int exit_status = -1;  ///< Exit status, or 128 + the signal that ended it.
  std::string out;
  std::string err;
  bool timed_out = false;  ///< It was killed because it did not end in time.
};

/// A running child with its output collected. The destructor kills (SIGKILL) and reaps it; should
/// the thread that started it end before, the kernel kills it. One thread at a time.
class Process {
 public:
  /// Starts `command[0]` (searched in PATH) in its own process group.
  explicit Process(std::vector<std::string> command,
                   const std::map<std::string, std::string>& extra_environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits until a line with `marker` appears on standard output and returns it; empty when the
  /// child ended or `wait_max` passed first.
  std::string wait_for_line(const std::string& marker,
                            std::chrono::milliseconds wait_max = std::chrono::seconds(60));
  void signal(int number) const;
  /// Collects output until the child ends; kills it after `wait_max`.
  ProcessResult wait(std::chrono::milliseconds wait_max = std::chrono::seconds(120));
  /// SIGTERM, then wait().
  ProcessResult terminate(std::chrono::milliseconds wait_max = std::chrono::seconds(60));
  bool running();

 private:
  bool pump(std::chrono::milliseconds wait);
  void reap_if_ended();

  pid_t pid_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  bool ended_ = false;
  ProcessResult result_;
};

/// Runs a command to its end.
ProcessResult run_command(std::vector<std::string> command,
                          std::chrono::milliseconds wait_max = std::chrono::seconds(120));

/// Path of one of the project's programs in this build.
std::string program_path(const std::string& name);

/// Whether `name` is an executable in PATH.
bool command_exists(const std::string& name);

/// The port in a line such as `...: listening on 127.0.0.1:8080, admin on 127.0.0.1:8081`, behind
/// the word `listening` or `admin`; 0 where there is none.
uint16_t port_in_line(const std::string& line, const std::string& word);

}  // namespace testing_support
