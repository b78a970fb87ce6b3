#include "tests/support/bench_leftovers.h"

#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/support/stack.h"

namespace testing_support {

namespace fs = std::filesystem;

namespace {

/// A killed cacheoff-disk that waits for its own answers: it has no command line any more, but does
/// not go away. One that has just been killed does.
bool is_stuck_disk(const fs::path& process) {
  for (int look = 0; look < 100; ++look) {
    const std::string stat = read_file(process / "stat");
    if (stat.find("(cacheoff-disk) D") == std::string::npos) return false;
    if (!read_file(process / "cmdline").empty()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace

std::vector<std::string> bench_leftovers(const fs::path& folder) {
  std::vector<std::string> found;
  const std::string place = folder.string();
  for (const auto& entry : fs::directory_iterator("/sys/block")) {
    const std::string file = read_file(entry.path() / "loop/backing_file");
    if (file.find(place) != std::string::npos) found.push_back("loop device over " + file);
  }
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name == std::to_string(getpid())) continue;
    if (read_file(entry.path() / "mountinfo").find(place) != std::string::npos) {
      found.push_back("mount in process " + name);
    }
    const std::string command = read_file(entry.path() / "cmdline");
    if (command.find(place) != std::string::npos) found.push_back("process " + command);
    if (is_stuck_disk(entry.path())) found.push_back("a modelled disk that can't end, " + name);
  }
  std::error_code gone;
  for (fs::recursive_directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string name = entry->path().filename();
    if (name.rfind("cacheoff-scratch-", 0) == 0) found.push_back(entry->path().string());
  }
  for (fs::directory_iterator note(folder / "state", gone), end; !gone && note != end;
       note.increment(gone)) {
    if (read_file(note->path()).find(place) != std::string::npos) {
      found.push_back(note->path().string());
    }
  }
  return found;
}

}  // namespace testing_support
