// Whether a filesystem has the room that a store was told to use.
#pragma once

#include <cstdint>
#include <string>

namespace storage {

/// A line to warn with where `asked_bytes`, the capacity of a store below `directory_fd`, is more
/// than it can come to: what it has already, `held_bytes`, and what the filesystem has free for its
/// user. Empty where there is room, and where the filesystem does not tell. A store takes its space
/// bit by bit, so this is no error: room may be made for it later. Blocks for a statvfs(2).
std::string beyond_filesystem(int directory_fd, uint64_t asked_bytes, uint64_t held_bytes);

}  // namespace storage
