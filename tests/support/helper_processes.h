// What can be seen from outside of the helper processes of a store, and of their System V objects.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace testing_support {

/// Name, state (as ps shows it) and parent of a process; an empty name where there is none.
struct ProcessStatus {
  std::string name;
  char state = 'Z';
  pid_t parent = 0;
};

inline ProcessStatus status_of(pid_t pid) {
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), text);
  ProcessStatus status;
  const size_t begin = text.find('(');
  const size_t end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return status;
  status.name = text.substr(begin + 1, end - begin - 1);
  std::istringstream(text.substr(end + 1)) >> status.state >> status.parent;
  return status;
}

/// Whether it has ended, reaped or not. With its last thread its memory goes, not with its first.
inline bool has_ended(pid_t pid) {
  const ProcessStatus status = status_of(pid);
  if (status.name.empty()) return true;
  std::error_code gone;
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task", gone);
  const auto count = gone ? 0 : std::distance(begin(threads), end(threads));
  return status.state == 'Z' && count <= 1;
}

/// Waits for its end; false after half a minute, which is only there so that a hang fails.
inline bool wait_for_end(pid_t pid) {
  for (int i = 0; i < 30'000 && !has_ended(pid); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return has_ended(pid);
}

/// The helpers of a process that run, a stopped one included.
inline std::vector<pid_t> helpers_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const pid_t pid = std::stoi(name);
    const ProcessStatus status = status_of(pid);
    // The kernel keeps 15 bytes of a name.
    const bool helper = status.parent == parent && status.name.starts_with("cacheoff-diskd");
    if (helper && status.state != 'Z') found.push_back(pid);
  }
  return found;
}

/// How many message queues and segments there are that `pid` has made or used last.
inline size_t ipc_objects_of(pid_t pid) {
  size_t count = 0;
  const auto count_in = [&count, pid](const char* path, std::vector<std::string> columns) {
    std::ifstream table(path);
    std::string line;
    std::getline(table, line);
    std::vector<std::string> names;
    std::istringstream heading(line);
    for (std::string name; heading >> name;) names.push_back(name);
    while (std::getline(table, line)) {
      std::istringstream row(line);
      bool its_own = false;
      for (const std::string& name : names) {
        long long value = 0;
        row >> value;
        for (const std::string& column : columns) its_own |= column == name && value == pid;
      }
      count += its_own ? 1 : 0;
    }
  };
  count_in("/proc/sysvipc/msg", {"lspid", "lrpid"});
  count_in("/proc/sysvipc/shm", {"cpid"});
  return count;
}

}  // namespace testing_support
