#include "workload/disk/image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace workload::disk {

std::unique_ptr<ImageFile> ImageFile::open(const std::string& path, uint64_t size_bytes,
                                           std::string& error) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0) {
    error = "cannot open '" + path + "': " + std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<ImageFile> image(new ImageFile(fd));
  struct stat found {};
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    error = "'" + path + "' is no regular file";
    return nullptr;
  }
  if (found.st_size != 0 && static_cast<uint64_t>(found.st_size) != size_bytes) {
    error = "'" + path + "' has " + std::to_string(found.st_size) + " bytes and not " +
            std::to_string(size_bytes) + "; give its size, or remove it";
    return nullptr;
  }
  if (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) {
    error = "cannot make '" + path + "' " + std::to_string(size_bytes) +
            " bytes long: " + std::strerror(errno);
    return nullptr;
  }
  return image;
}

ImageFile::~ImageFile() {
  ::close(fd_);
}

int ImageFile::read(uint64_t offset_bytes, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return EIO;  // somebody cut the file
    bytes = bytes.subspan(static_cast<size_t>(got));
    offset_bytes += static_cast<uint64_t>(got);
  }
  return 0;
}

int ImageFile::write(uint64_t offset_bytes, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset_bytes += static_cast<uint64_t>(put);
  }
  return 0;
}

}  // namespace workload::disk
