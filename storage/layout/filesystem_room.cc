#include "storage/layout/filesystem_room.h"

#include <sys/statvfs.h>

#include "storage/base/units.h"

namespace storage {

std::string beyond_filesystem(int directory_fd, uint64_t asked_bytes, uint64_t held_bytes) {
  struct statvfs about {};
  // Filesystems without a bound of their own say that they have no blocks.
  if (::fstatvfs(directory_fd, &about) != 0 || about.f_blocks == 0) return {};
  const uint64_t available = held_bytes + uint64_t{about.f_bavail} * about.f_frsize;
  if (asked_bytes <= available) return {};
  return "size asked is " + format_size(asked_bytes) + ", size available is " +
         format_size(available) +
         " on its filesystem: objects will be evicted for want of room there; give a smaller "
         "size= that leaves the filesystem some";
}

}  // namespace storage
