// House rules that a machine can hold: what a file may look like, and what it may not say.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> code_files() {
  std::vector<fs::path> found;
  const fs::path root(CACHEOFF_SOURCE_DIR);
  for (const std::string folder : {"storage", "traces", "proxy", "workload", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (entry.is_regular_file() && (extension == ".h" || extension == ".cc")) {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

std::string name_in_tree(const fs::path& path) {
  return fs::relative(path, CACHEOFF_SOURCE_DIR).string();
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Style, FilesFitOneSittingAndLinesFitOneScreen) {
  const auto files = code_files();
  ASSERT_GT(files.size(), 50U);
  for (const auto& path : files) {
    const auto lines = lines_of(path);
    EXPECT_LE(lines.size(), 500U) << name_in_tree(path) << ": is it one subject?";
    for (size_t at = 0; at < lines.size(); ++at) {
      EXPECT_LE(lines[at].size(), 100U) << name_in_tree(path) << ":" << at + 1;
    }
  }
}

TEST(Style, HeadersBeginWithAPurposeAndAGuard) {
  for (const auto& path : code_files()) {
    if (path.extension() != ".h") continue;
    const auto lines = lines_of(path);
    ASSERT_FALSE(lines.empty()) << name_in_tree(path);
    EXPECT_EQ(lines.front().rfind("//", 0), 0U) << name_in_tree(path) << ": say what it is for";
    bool guarded = false;
    for (const auto& line : lines) guarded = guarded || line == "#pragma once";
    EXPECT_TRUE(guarded) << name_in_tree(path);
  }
}

TEST(Style, NothingIsLeftToDoAndStorageKnowsNoHttp) {
  // Put together from halves, so that this file does not find itself.
  const std::array<std::string, 4> unfinished{std::string("TO") + "DO", std::string("FIX") + "ME",
                                              std::string("XX") + "X ", std::string("HA") + "CK"};
  for (const auto& path : code_files()) {
    const bool storage = name_in_tree(path).rfind("storage/", 0) == 0;
    const auto lines = lines_of(path);
    for (size_t at = 0; at < lines.size(); ++at) {
      for (const auto& word : unfinished) {
        EXPECT_EQ(lines[at].find(word), std::string::npos) << name_in_tree(path) << ":" << at + 1;
      }
      if (!storage || path.filename() == "asio_compiled.cc") continue;
      for (const std::string_view word : {"http", "HTTP", "Http", "ETag", "Vary"}) {
        EXPECT_EQ(lines[at].find(word), std::string::npos) << name_in_tree(path) << ":" << at + 1;
      }
    }
  }
}

}  // namespace
