#include "storage/io/file_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/file_space.h"

namespace storage {

namespace {

// Repeats a call for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

CallOutcome outcome_of(int64_t result) {
  if (result < 0) return CallOutcome(errno, 0);
  return CallOutcome(0, static_cast<uint64_t>(result));
}

}  // namespace

int open_flags(OpenMode mode) {
  // Whatever was put in a file's place must neither lead elsewhere (a link) nor block (a pipe).
  constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY | kAlways;
    case OpenMode::kReadWrite:
      return O_RDWR | kAlways;
    case OpenMode::kCreateExclusive:
      return O_RDWR | O_CREAT | O_EXCL | kAlways;
    case OpenMode::kReadWriteDirect:
      return O_RDWR | O_DIRECT | kAlways;
  }
  return O_RDONLY | kAlways;
}

CallOutcome open_file(int root_fd, const char* path, OpenMode mode) {
  return outcome_of(uninterrupted([&] { return ::openat(root_fd, path, open_flags(mode), 0640); }));
}

OpenedFile inspect_opened(int fd, OpenMode mode) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return OpenedFile(errno, 1);
  if (!S_ISREG(status.st_mode) && !S_ISBLK(status.st_mode)) return OpenedFile(EISDIR, 1);
  if (mode != OpenMode::kReadWriteDirect) return OpenedFile(0, 1);
  const size_t alignment = direct_alignment_bytes(fd);
  return OpenedFile(alignment == 0 ? EINVAL : 0, alignment);
}

CallOutcome read_file(int fd, uint64_t offset_bytes, std::span<std::byte> buffer,
                      size_t alignment_bytes) {
  uint64_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(fd, buffer.data() + done, buffer.size() - done,
                     static_cast<off_t>(offset_bytes + done));
    });
    if (got < 0) return CallOutcome(errno, done);
    done += static_cast<uint64_t>(got);
    if (got == 0 || done % alignment_bytes != 0) break;
  }
  return CallOutcome(0, done);
}

CallOutcome write_file(int fd, uint64_t offset_bytes, std::span<const std::byte> buffer) {
  uint64_t done = 0;
  while (done < buffer.size()) {
    const ssize_t put = uninterrupted([&] {
      return ::pwrite(fd, buffer.data() + done, buffer.size() - done,
                      static_cast<off_t>(offset_bytes + done));
    });
    if (put == 0) return CallOutcome(EIO, done);  // no reason given: never loop on it
    if (put < 0) return CallOutcome(errno, done);
    done += static_cast<uint64_t>(put);
  }
  return CallOutcome(0, done);
}

CallOutcome size_of_file(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return CallOutcome(errno, 0);
  if (!S_ISBLK(status.st_mode)) return CallOutcome(0, static_cast<uint64_t>(status.st_size));
  return outcome_of(device_size_bytes(fd));
}

CallOutcome allocated_to_file(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return CallOutcome(errno, 0);
  return CallOutcome(0, static_cast<uint64_t>(status.st_blocks) * 512);
}

CallOutcome sync_file(int fd) {
  return outcome_of(uninterrupted([&] { return ::fdatasync(fd); }));
}

CallOutcome rename_file(int root_fd, const char* from, const char* to) {
  return outcome_of(uninterrupted([&] { return ::renameat(root_fd, from, root_fd, to); }));
}

CallOutcome unlink_file(int root_fd, const char* path) {
  return outcome_of(uninterrupted([&] { return ::unlinkat(root_fd, path, 0); }));
}

CallOutcome close_file(int fd) {
  const int result = ::close(fd);
  if (result < 0 && errno == EINTR) return {};  // the system has closed it all the same
  return outcome_of(result);
}

}  // namespace storage
