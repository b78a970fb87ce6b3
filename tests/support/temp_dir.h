// Folders that exist for the length of a test.
#pragma once

#include <filesystem>
#include <string>

namespace testing_support {

/// A new empty folder under the system's temporary folder, removed with all that is in it by the
/// destructor. Throws std::runtime_error where none can be made.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Path of `name` inside the folder.
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace testing_support
