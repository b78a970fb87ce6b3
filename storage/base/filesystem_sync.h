// Writing back what a filesystem has in memory.
#pragma once

namespace storage {

/// Has all that was written to the filesystem of the open file brought to its device; POSIX can
/// only ask for all filesystems, and need not wait. 0, or -1 with errno. Blocks.
int sync_filesystem(int fd);

}  // namespace storage
