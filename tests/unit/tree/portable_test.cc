// Holds the portable build: what it compiles names nothing that only Linux has.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot(CACHEOFF_SOURCE_DIR);

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// What stands between `open` and `close` in an #include line; empty where it is none of that kind.
std::string included(const std::string& line, char open, char close) {
  const std::string begin = std::string("#include ") + open;
  if (!line.starts_with(begin)) return {};
  return line.substr(begin.size(), line.find(close, begin.size()) - begin.size());
}

/// The sources that CMake says a portable build compiles, and all of the project's headers that
/// they include, one by the other.
std::set<fs::path> portable_files() {
  std::deque<fs::path> open;
  for (const auto& line : read_lines(fs::path(CACHEOFF_BINARY_DIR) / "portable_sources.txt")) {
    if (!line.empty()) open.emplace_back(line);
  }
  // These are for the builds that have the libraries, and are included by their macros only.
  const std::set<std::string> optional{"storage/io/libaio.h", "storage/io/io_uring.h"};
  std::set<fs::path> files;
  while (!open.empty()) {
    const fs::path file = open.front();
    open.pop_front();
    if (!files.insert(file).second) continue;
    for (const auto& line : read_lines(file)) {
      const std::string header = included(line, '"', '"');
      if (!header.empty() && !optional.contains(header)) open.push_back(kRoot / header);
    }
  }
  return files;
}

TEST(PortableBuild, IncludesNoHeaderThatOnlyLinuxHas) {
  std::set<std::string> forbidden;
  for (const auto& line : read_lines(kRoot / "tests/portable/forbidden_headers.txt")) {
    forbidden.insert(line);
  }
  ASSERT_GT(forbidden.size(), 10u);
  // The C and C++ libraries' own headers include these, so that a compiler can't refuse them.
  for (const char* header : {"syscall.h", "sys/syscall.h", "sched.h", "sys/sysmacros.h",
                             "sys/sysinfo.h", "sys/statfs.h", "features.h", "malloc.h"}) {
    forbidden.insert(header);
  }
  const auto files = portable_files();
  ASSERT_GT(files.size(), 200u);
  for (const auto& file : files) {
    for (const auto& line : read_lines(file)) {
      const std::string header = included(line, '<', '>');
      EXPECT_FALSE(forbidden.contains(header) || header.starts_with("linux/"))
          << fs::relative(file, kRoot) << " includes <" << header << ">";
    }
  }
}

// What needs no header of its own, or one that has more in it.
TEST(PortableBuild, CallsNothingThatOnlyLinuxHas) {
  constexpr std::string_view kCalls[] = {"::fallocate(", " fallocate(",  "memfd_create(",
                                         "O_TMPFILE",    "O_PATH",       "sendfile(",
                                         "splice(",      "unshare(",     "setns(",
                                         "syscall(",     "renameat2(",   "statx(",
                                         "syncfs(",      "sync_file_",   "copy_file_range",
                                         "gettid(",      "sched_setaff", "ifstream in(\"/proc"};
  for (const auto& file : portable_files()) {
    for (const auto& line : read_lines(file)) {
      if (line.find("//") != std::string::npos) continue;
      for (const auto call : kCalls) {
        EXPECT_EQ(line.find(call), std::string::npos)
            << fs::relative(file, kRoot) << " uses " << call << ": " << line;
      }
    }
  }
}

TEST(PortableBuild, HasAPosixFileForEachOfLinux) {
  size_t pairs = 0;
  for (const std::string folder : {"storage", "proxy", "workload", "traces"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string path = entry.path().string();
      const size_t at = path.rfind("_linux.cc");
      if (at == std::string::npos || at + 9 != path.size()) continue;
      ++pairs;
      EXPECT_TRUE(fs::exists(path.substr(0, at) + "_posix.cc")) << path;
    }
  }
  EXPECT_GT(pairs, 5u);
}

}  // namespace
