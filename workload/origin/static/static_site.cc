#include "workload/origin/static/static_site.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "workload/origin/static/open_beneath.h"

namespace workload {
namespace {

int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

unsigned status_of_error(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return 404;
    case EACCES:
    case EPERM:
    case EXDEV:   // A link out of the root.
    case ELOOP:   // A link that is not followed.
    case ENXIO:   // A socket.
    case ENODEV:  // A device without a driver.
      return 403;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

StaticSite::StaticSite(StaticSiteOptions options, OwnedFd root)
    : options_(std::move(options)), root_(std::move(root)) {}

storage::Result<std::shared_ptr<const StaticSite>> StaticSite::open(StaticSiteOptions options) {
  OwnedFd root(::open(options.root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) return storage::Error(storage::Errc::kIo, errno);
  return std::shared_ptr<const StaticSite>(new StaticSite(std::move(options), std::move(root)));
}

unsigned StaticSite::open_path(const std::string& relative, OpenedFile& out) const {
  const int opened = open_beneath(root_.get(), relative);
  if (opened < 0) return status_of_error(-opened);
  out.fd = OwnedFd(opened);
  struct stat facts {};
  if (::fstat(opened, &facts) != 0) return status_of_error(errno);
  out.is_directory = S_ISDIR(facts.st_mode);
  if (!out.is_directory && !S_ISREG(facts.st_mode)) return 403;
  out.facts.inode = facts.st_ino;
  out.facts.size_bytes = static_cast<uint64_t>(facts.st_size);
  out.facts.modified_unix_ns = nanoseconds(facts.st_mtim);
  out.facts.changed_unix_ns = nanoseconds(facts.st_ctim);
  return 0;
}

}  // namespace workload
