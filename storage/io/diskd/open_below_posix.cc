#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "storage/io/diskd/open_below.h"
#include "storage/io/diskd/owned_fd.h"

namespace storage {

namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

CallOutcome open_part(int folder_fd, const std::string& name, int flags) {
  while (true) {
    const int fd = ::openat(folder_fd, name.c_str(), flags, 0640);
    if (fd >= 0) return CallOutcome(0, static_cast<uint64_t>(fd));
    if (errno != EINTR) return CallOutcome(errno, 0);
  }
}

}  // namespace

// Part by part, and no link is followed, not even one that stays below.
CallOutcome open_below(int folder_fd, const std::string& path, int flags) {
  if (path.empty()) return CallOutcome(ENOENT, 0);
  if (path.front() == '/') return CallOutcome(EXDEV, 0);
  OwnedFd folder;
  size_t begin = 0;
  while (true) {
    const size_t slash = path.find('/', begin);
    const std::string name = path.substr(begin, slash - begin);
    if (name == "..") return CallOutcome(EXDEV, 0);
    const int above = folder.get() >= 0 ? folder.get() : folder_fd;
    const bool last = slash == std::string::npos;
    const CallOutcome opened =
        open_part(above, name.empty() ? "." : name, last ? flags | O_NOFOLLOW : kFolderFlags);
    if (last || opened.system_errno != 0) return opened;
    folder = OwnedFd(static_cast<int>(opened.value));
    begin = slash + 1;
  }
}

CallOutcome open_folder_below(int folder_fd, const std::string& path) {
  return open_below(folder_fd, path, kFolderFlags);
}

}  // namespace storage
