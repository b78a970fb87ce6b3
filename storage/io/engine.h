// How file operations reach the kernel: the part that ufs, aufs and diskd differ in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "storage/base/counters.h"
#include "storage/base/task.h"

namespace storage {

/// An open file of an engine. Closing happens in close(); a File destroyed without it is closed
/// by the engine in the background, errors counted.
class File {
 public:
  virtual ~File() = default;
  /// Reads up to `buffer.size()` bytes; fewer only at the end of the file.
  virtual Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) = 0;
  /// Writes all of `buffer` or fails.
  virtual Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) = 0;
  virtual Task<uint64_t> size_bytes() = 0;
  /// Space the filesystem has given to the file, in bytes (st_blocks * 512).
  virtual Task<uint64_t> allocated_bytes() = 0;
  virtual Task<void> sync() = 0;
  /// What offsets, lengths and buffer addresses of read() and write() must be multiples of.
  virtual size_t alignment_bytes() const { return 1; }
  virtual Task<void> close() = 0;
};

/// How a file is opened.
enum class OpenMode {
  kRead,             ///< Must exist.
  kReadWrite,        ///< Must exist.
  kCreateExclusive,  ///< Must not exist; read and write. kOverloaded where overloaded().
  /// Must exist; read and write past the page cache (O_DIRECT). Offsets, lengths and addresses are
  /// multiples of File::alignment_bytes(). kIo with EINVAL where the filesystem refuses it.
  kReadWriteDirect,
};

/// File operations. All calls on the owner's executor. A cancelled operation completes once, and
/// only when nothing touches its buffer any more. Relative paths are resolved against the folder
/// that the engine was made for. Errors are as error_from_errno() says.
class IoEngine {
 public:
  virtual ~IoEngine() = default;
  virtual const char* name() const = 0;
  virtual Task<std::unique_ptr<File>> open(std::filesystem::path path, OpenMode mode) = 0;
  virtual Task<void> rename(std::filesystem::path from, std::filesystem::path to) = 0;
  /// kNotFound where there is no such file.
  virtual Task<void> unlink(std::filesystem::path path) = 0;
  /// Whether a new file would be refused now, because too much is waiting: whoever can should
  /// decline new objects. Work that was accepted goes on.
  virtual bool overloaded() const { return false; }
  virtual void visit_counters(CounterVisitor& visitor) const = 0;
};

}  // namespace storage
