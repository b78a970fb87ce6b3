#include "tests/support/bench_leftovers.h"

#include <unistd.h>

#include "tests/support/stack.h"

namespace testing_support {

namespace fs = std::filesystem;

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
