// The system calls behind file operations, each made to its end in the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/io/engine.h"

namespace storage {

/// What a call ended in: an errno, 0 for success, and its value (a descriptor, a count of bytes).
/// A transfer that failed half-way has both.
struct CallOutcome {
  int system_errno = 0;
  uint64_t value = 0;

  CallOutcome() = default;
  CallOutcome(int errno_in, uint64_t value_in) : system_errno(errno_in), value(value_in) {}
};

// Safe from any thread. Interrupted calls are repeated.

/// The flags of openat() for `mode`.
int open_flags(OpenMode mode);

/// Opens `path` relative to the folder `root_fd`; the value is the descriptor. Never follows a link
/// in the last place of the path (ELOOP) and never waits for a pipe's other end. EINVAL where
/// `mode` asks for direct transfers and the filesystem refuses them at once.
CallOutcome open_file(int root_fd, const char* path, OpenMode mode);

/// What an opened file is good for.
struct OpenedFile {
  int system_errno = 0;  ///< 0 where it can be used.
  /// Offsets, lengths and addresses of direct transfers must be multiples of this; 1 otherwise.
  size_t alignment_bytes = 1;

  OpenedFile(int errno_in, size_t alignment_in)
      : system_errno(errno_in), alignment_bytes(alignment_in) {}
};

/// EISDIR where it is neither a regular file nor a block device, whatever else it is; EINVAL where
/// `mode` asks for direct transfers and the filesystem has none for it.
OpenedFile inspect_opened(int fd, OpenMode mode);

/// Reads until `buffer` is full or the file ends. `alignment_bytes` is 1, or that of a file that
/// was opened for direct transfers, which cannot be read on from where it ended.
CallOutcome read_file(int fd, uint64_t offset_bytes, std::span<std::byte> buffer,
                      size_t alignment_bytes);

/// Writes all of `buffer`; EIO where the kernel writes nothing and gives no reason.
CallOutcome write_file(int fd, uint64_t offset_bytes, std::span<const std::byte> buffer);

/// The value is the size of the file, or of the block device.
CallOutcome size_of_file(int fd);

/// The value is what the filesystem has given to the file, in bytes.
CallOutcome allocated_to_file(int fd);

CallOutcome sync_file(int fd);
CallOutcome rename_file(int root_fd, const char* from, const char* to);
CallOutcome unlink_file(int root_fd, const char* path);

/// The descriptor is free afterwards, whatever the outcome.
CallOutcome close_file(int fd);

}  // namespace storage
