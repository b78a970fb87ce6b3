#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/file_space.h"

namespace storage {

// Nobody reads or writes at the descriptor's own position.
int64_t device_size_bytes(int fd) {
  return ::lseek(fd, 0, SEEK_END);
}

int give_blocks(int fd, uint64_t size_bytes) {
  const int failure = ::posix_fallocate(fd, 0, static_cast<off_t>(size_bytes));
  // What filesystems answer that can't.
  return failure == EINVAL || failure == ENOSYS ? EOPNOTSUPP : failure;
}

size_t direct_alignment_bytes(int) {
  return 4096;
}

}  // namespace storage
