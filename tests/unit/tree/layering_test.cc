// Holds the layers of docs/architecture.md: who may include whom, read from the #include lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  ///< Relative to the source folder.
  int line = 0;
  std::string target;
};

bool is_code(const fs::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc";
}

/// The project's own includes (in quotes) of all code below `folder`.
std::vector<Include> includes_below(const std::string& folder) {
  std::vector<Include> found;
  const fs::path root(CACHEOFF_SOURCE_DIR);
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    if (!entry.is_regular_file() || !is_code(entry.path())) continue;
    std::ifstream in(entry.path());
    std::string text;
    for (int line = 1; std::getline(in, text); ++line) {
      if (text.rfind("#include \"", 0) != 0) continue;
      const size_t end = text.find('"', 10);
      found.push_back({fs::relative(entry.path(), root).string(), line, text.substr(10, end - 10)});
    }
  }
  return found;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  for (const auto& prefix : prefixes) {
    if (text.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

TEST(Layering, EachFolderIncludesOnlyTheLayersBelowIt) {
  const std::map<std::string, std::vector<std::string>> allowed{
      {"storage", {"storage/"}},
      {"storage/base", {"storage/base/", "storage/types.h"}},
      {"traces", {"traces/", "storage/base/"}},
      {"proxy", {"proxy/", "storage/"}},
      {"workload", {"workload/", "traces/", "storage/base/"}},
      // A program of its own above both, which nothing else includes.
      {"workload/webproxy", {"workload/", "storage/io/", "storage/base/"}},
  };
  for (const auto& [folder, prefixes] : allowed) {
    const auto includes = includes_below(folder);
    ASSERT_FALSE(includes.empty()) << "no includes found below " << folder;
    for (const auto& include : includes) {
      const bool of_layer_above = include.file.starts_with("workload/webproxy/");
      if (folder == "workload" && of_layer_above) continue;
      if (!of_layer_above) {
        EXPECT_FALSE(include.target.starts_with("workload/webproxy/")) << include.file;
      }
      EXPECT_TRUE(starts_with_any(include.target, prefixes))
          << include.file << ":" << include.line << " includes \"" << include.target << "\", but "
          << folder << " is a layer below it";
    }
  }
}

TEST(Layering, OwnHeadersAreIncludedByTheirPathFromTheRoot) {
  const fs::path root(CACHEOFF_SOURCE_DIR);
  for (const std::string folder : {"storage", "traces", "proxy", "workload", "tests"}) {
    for (const auto& include : includes_below(folder)) {
      EXPECT_TRUE(fs::exists(root / include.target))
          << include.file << ":" << include.line << " includes \"" << include.target << "\"";
    }
  }
}

}  // namespace
