// The files that a helper process has open for a store, by numbers of the store's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace storage {

/// A file in a helper.
struct RemoteFile {
  uint64_t helper = 0;  ///< Which of the helpers that followed each other.
  uint32_t handle = 0;
  size_t alignment_bytes = 1;

  RemoteFile() = default;
  RemoteFile(uint64_t helper_in, uint32_t handle_in, size_t alignment_in)
      : helper(helper_in), handle(handle_in), alignment_bytes(alignment_in) {}
};

/// Gives numbers to files, as the kernel does. A number stays taken after its helper has gone,
/// until it is released.
class RemoteFiles {
 public:
  int add(const RemoteFile& file) {
    if (free_.empty()) {
      free_.push_back(static_cast<int>(files_.size()));
      files_.emplace_back();
    }
    const int number = free_.back();
    free_.pop_back();
    files_[static_cast<size_t>(number)] = file;
    return number;
  }

  /// Nothing for a number that is not taken.
  std::optional<RemoteFile> find(int number) const {
    if (number < 0 || static_cast<size_t>(number) >= files_.size()) return std::nullopt;
    return files_[static_cast<size_t>(number)];
  }

  void release(int number) {
    if (!find(number)) return;
    files_[static_cast<size_t>(number)].reset();
    free_.push_back(number);
  }

 private:
  std::vector<std::optional<RemoteFile>> files_;
  std::vector<int> free_;
};

}  // namespace storage
