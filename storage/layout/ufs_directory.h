// The folders of a ufs store: its marker and lock, the two levels below, and what lies in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/error.h"
#include "storage/layout/known_stores.h"

namespace storage {

/// How many folders a store has: `l1` of them, each with `l2`.
struct UfsShape {
  unsigned l1 = 16;
  unsigned l2 = 256;
  friend bool operator==(const UfsShape& left, const UfsShape& right) = default;
};

/// Files with successive numbers stay together in one folder up to this number, so that what was
/// written together lies together.
inline constexpr uint64_t kUfsFilesPerFolder = 256;
/// File numbers have 12 hexadecimal digits.
inline constexpr uint64_t kUfsSequenceMax = (uint64_t{1} << 48) - 1;

/// Relative path of the object file with this number, e.g. `00/1F/000000001FA3`.
std::string ufs_object_path(UfsShape shape, uint64_t sequence);
/// Relative path of the file that is still being written, e.g. `00/1F/000000001FA3.tmp`.
std::string ufs_temporary_path(UfsShape shape, uint64_t sequence);

/// A file that the store made.
struct UfsFoundFile {
  uint64_t sequence = 0;
  bool temporary = false;
  uint64_t file_size_bytes = 0;
  uint64_t allocated_bytes = 0;
};

/// The open and locked folder of a store. Its calls block. Closing it gives the lock back.
class UfsDirectory {
 public:
  enum class Access {
    kUse,      ///< Creates and marks the folder where that is needed.
    kInspect,  ///< Changes nothing; the shape is the one found.
  };

  /// Opens `path`. On failure the result is null and `error` one line for the user. A folder that
  /// holds anything else than a store is refused.
  static std::unique_ptr<UfsDirectory> open(const std::filesystem::path& path, UfsShape shape,
                                            Access access, std::string& error);
  ~UfsDirectory();
  UfsDirectory(const UfsDirectory&) = delete;
  UfsDirectory& operator=(const UfsDirectory&) = delete;

  int fd() const { return directory_fd_; }
  UfsShape shape() const { return shape_; }
  /// The store was made by this open(): there can be nothing in it.
  bool fresh() const { return fresh_; }

  /// Makes the folder that holds this file, and the one above it. Folders are made when they are
  /// first needed: a start need not wait for thousands of them, and a small store has few.
  Result<void> make_folder_of(uint64_t sequence);

  /// Reports every file of the store in every folder; others are only counted. Folders that are
  /// missing hold nothing.
  struct ScanCounts {
    uint64_t foreign = 0;
  };
  Result<ScanCounts> scan(const std::function<void(const UfsFoundFile&)>& found);

  /// Gives the lock back; others may use the store from now on.
  void unlock();

 private:
  UfsDirectory(int directory_fd, UfsShape shape) : directory_fd_(directory_fd), shape_(shape) {}
  bool lock_marker(const std::string& name, Access access, std::string& error);
  bool read_marker(const std::string& name, Access access, std::string& error);
  Result<void> scan_folder(unsigned first, unsigned second, ScanCounts& counts,
                           const std::function<void(const UfsFoundFile&)>& found);

  int directory_fd_ = -1;
  int marker_fd_ = -1;
  UfsShape shape_;
  bool fresh_ = false;
};

}  // namespace storage
