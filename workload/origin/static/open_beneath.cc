#include "workload/origin/static/open_beneath.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "workload/filesystem/owned_fd.h"

namespace workload {

int open_beneath_by_names(int folder_fd, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;
  OwnedFd folder;
  std::string_view rest = path.empty() ? std::string_view(".") : std::string_view(path);
  for (;;) {
    const auto slash = std::min(rest.find('/'), rest.size());
    const std::string name(rest.substr(0, slash));
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (name == ".." || name.empty()) return -EXDEV;
    const int above = folder.get() >= 0 ? folder.get() : folder_fd;
    int opened = -1;
    do {
      opened = ::openat(above, name.c_str(), rest.empty() ? kFlags : kFlags | O_DIRECTORY);
    } while (opened < 0 && errno == EINTR);
    if (opened < 0) return -errno;
    if (rest.empty()) return opened;
    folder = OwnedFd(opened);
  }
}

}  // namespace workload
