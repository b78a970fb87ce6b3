// What a filesystem or a device says of the space behind an open file: where systems differ.
#pragma once

#include <cstddef>
#include <cstdint>

namespace storage {

/// Size of an open block device in bytes; -1 with errno where it is not known.
int64_t device_size_bytes(int fd);

/// Gives a file blocks for its first `size_bytes` and makes it so long. An errno, or 0; EOPNOTSUPP
/// where the filesystem can't give blocks ahead.
int give_blocks(int fd, uint64_t size_bytes);

/// What offsets, lengths and addresses of direct transfers of the file must be multiples of, in
/// bytes; an assumption where the filesystem does not say, 0 where it has no direct transfers.
size_t direct_alignment_bytes(int fd);

}  // namespace storage
