#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/diskd/open_below.h"

namespace storage {

// openat2(2), which the C library does not wrap.
CallOutcome open_below(int folder_fd, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? 0640 : 0;
  how.resolve = RESOLVE_BENEATH;
  while (true) {
    const long fd = ::syscall(SYS_openat2, folder_fd, path.c_str(), &how, sizeof how);
    if (fd >= 0) return CallOutcome(0, static_cast<uint64_t>(fd));
    // EAGAIN: something was renamed meanwhile, so that the kernel could not be sure.
    if (errno != EINTR && errno != EAGAIN) return CallOutcome(errno, 0);
  }
}

CallOutcome open_folder_below(int folder_fd, const std::string& path) {
  return open_below(folder_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace storage
