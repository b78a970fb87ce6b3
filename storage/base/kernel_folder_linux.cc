#include <linux/magic.h>
#include <sys/vfs.h>

#include "storage/base/kernel_folder.h"

namespace storage {

bool is_of_the_kernel(const std::filesystem::path& folder) {
  struct statfs about {};
  if (::statfs(folder.c_str(), &about) != 0) return false;
  return about.f_type == PROC_SUPER_MAGIC || about.f_type == SYSFS_MAGIC;
}

}  // namespace storage
