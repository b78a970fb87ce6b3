// The page that lists a directory, where the server was told to show one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

/// More of a directory is neither read nor shown.
inline constexpr size_t kDirectoryEntriesMax = 2000;

/// Reads the names in a directory, sorted, without those that begin with a dot. `whole` says
/// whether these are all. Returns 0 or the errno. Any thread.
int read_directory(int folder_fd, std::vector<DirectoryEntry>& entries, bool& whole);

/// Writes the page into `out`. `path` is the directory's, relative to the root, empty for the root.
/// Names are escaped in texts and encoded in links, whatever bytes they are of.
void write_directory_page(std::string_view path, const std::vector<DirectoryEntry>& entries,
                          bool whole, std::string& out);

}  // namespace workload
