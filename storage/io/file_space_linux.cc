#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "storage/io/file_space.h"

namespace storage {

int64_t device_size_bytes(int fd) {
  uint64_t size = 0;
  return ::ioctl(fd, BLKGETSIZE64, &size) == 0 ? static_cast<int64_t>(size) : -1;
}

int give_blocks(int fd, uint64_t size_bytes) {
  return ::fallocate(fd, 0, 0, static_cast<off_t>(size_bytes)) == 0 ? 0 : errno;
}

size_t direct_alignment_bytes(int fd) {
#ifdef STATX_DIOALIGN
  struct statx status {};
  const int result = ::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status);
  if (result == 0 && (status.stx_mask & STATX_DIOALIGN) != 0) {
    if (status.stx_dio_offset_align == 0) return 0;
    return std::max<size_t>(status.stx_dio_offset_align, status.stx_dio_mem_align);
  }
#endif
  (void)fd;
  return 4096;
}

}  // namespace storage
