#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "workload/experiment/runner.h"

namespace workload {

void spread_subfolders(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  int flags = 0;
  if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
    flags |= FS_TOPDIR_FL;
    // Where the filesystem has no such flag, there is nothing to ask for.
    static_cast<void>(ioctl(fd, FS_IOC_SETFLAGS, &flags));
  }
  close(fd);
}

}  // namespace workload
