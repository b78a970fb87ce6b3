// What the helper process does with a request: the files that it has open, and its system calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/io/diskd/wire.h"

namespace storage {

/// The open files of a helper. One thread. Paths are relative and stay below the folder: nothing
/// that leads out of it, be it a link or `..`, is followed (open_below.h; EXDEV).
class HelperFiles {
 public:
  /// `folder_fd` and `memory` must outlive this; `memory` is cut into slots.
  HelperFiles(int folder_fd, std::span<std::byte> memory);
  ~HelperFiles();
  HelperFiles(const HelperFiles&) = delete;
  HelperFiles& operator=(const HelperFiles&) = delete;

  /// An errno where this kernel cannot hold paths below a folder, else 0.
  int check_kernel() const;

  /// Does what is asked. EBADF for a handle and EINVAL for a slot that there is not.
  HelperReply handle(const HelperRequest& request);

  size_t open_files() const { return fds_.size() - free_handles_.size(); }

 private:
  CallOutcome perform(const HelperRequest& request, uint32_t& alignment_bytes);
  CallOutcome open(const HelperRequest& request, uint32_t& alignment_bytes);
  CallOutcome transfer(const HelperRequest& request, int fd);
  CallOutcome close(uint32_t handle);
  CallOutcome rename(const std::string& from, const std::string& to) const;
  CallOutcome unlink(const std::string& path) const;

  const int folder_fd_;
  const std::span<std::byte> memory_;
  std::vector<int> fds_;  // by handle; -1 where free
  std::vector<uint32_t> free_handles_;
};

}  // namespace storage
