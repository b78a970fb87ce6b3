// Reading the parts of an object file and verifying them, for all who read one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/base/buffer_pool.h"
#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/ufs_file_format.h"
#include "storage/types.h"

namespace storage {

/// The verified beginning of an object file, and whatever else came with its first read: for a
/// small object that is the whole file. Views point into `first` and `long_prefix`.
struct UfsHead {
  UfsHeader header;
  std::string_view key;
  UfsMetadataSlot metadata;
  Space first;                         ///< Holds the first bytes of the file.
  size_t first_size_bytes = 0;         ///< How many; fewer than the buffer at the file's end.
  std::vector<std::byte> long_prefix;  ///< What stands before the body, if `first` is too short.

  std::span<const std::byte> first_bytes() const {
    return std::span<const std::byte>(first.bytes()).first(first_size_bytes);
  }
  /// The whole file is in `first`.
  bool complete() const { return header.file_size_bytes() <= first_size_bytes; }
};

/// A buffer of the pool, or of the heap where the pool's are too short for `size_bytes`.
Task<Space> lend_ufs_buffer(BufferPool& buffers, size_t size_bytes);

/// Reads and verifies header, key and metadata. kCorrupt where they are damaged, where the file
/// has another number than `sequence`, or where it is cut there.
Task<UfsHead> read_ufs_head(File& file, BufferPool& buffers, uint64_t sequence);

/// The block checksums of the file whose head that is.
Task<std::vector<uint64_t>> read_ufs_trailer(File& file, const UfsHead& head);

/// Whether all blocks in `body` are as they were written: the first is block `first_block`, only
/// the last of the object may be short.
bool verify_ufs_blocks(const UfsHeader& header, std::span<const uint64_t> checksums,
                       uint64_t first_block, std::span<const std::byte> body);

}  // namespace storage
