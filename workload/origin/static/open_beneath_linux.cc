#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "workload/origin/static/open_beneath.h"

namespace workload {

// openat2(2), which the C library does not wrap; Linux has it from 5.6 on, unless it is filtered.
int open_beneath(int folder_fd, const std::string& path) {
  static std::atomic<bool> missing{false};
  if (missing.load(std::memory_order_relaxed)) return open_beneath_by_names(folder_fd, path);
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something was renamed meanwhile, so that the kernel could not be sure.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const long opened =
        ::syscall(SYS_openat2, folder_fd, path.empty() ? "." : path.c_str(), &how, sizeof how);
    if (opened >= 0) return static_cast<int>(opened);
    if (errno == ENOSYS) {
      missing.store(true, std::memory_order_relaxed);
      return open_beneath_by_names(folder_fd, path);
    }
    // Filters of system calls say this of a call that they do not know; so does a file that may not
    // be read, which the second way then says again.
    if (errno == EPERM) return open_beneath_by_names(folder_fd, path);
    if (errno != EINTR && errno != EAGAIN) break;
  }
  return -errno;
}

}  // namespace workload
