// A block device for tests.
#pragma once

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "tests/support/temp_dir.h"

namespace testing_support {

/// A loop device over a file of its own, or none where the user may not make one. Goes with the
/// object.
class LoopDevice {
 public:
  explicit LoopDevice(uint64_t size_bytes) {
    const int file = ::open((folder_ / "image").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    // Another process may take the number first.
    for (int attempt = 0; attempt < 20 && control >= 0 && path_.empty(); ++attempt) {
      const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
      const std::string path = "/dev/loop" + std::to_string(number);
      fd_ = number < 0 ? -1 : ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      if (fd_ < 0) break;
      if (::ftruncate(file, static_cast<off_t>(size_bytes)) == 0 &&
          ::ioctl(fd_, LOOP_SET_FD, file) == 0) {
        path_ = path;
      } else {
        ::close(fd_);
        fd_ = -1;
      }
    }
    if (control >= 0) ::close(control);
    if (file >= 0) ::close(file);
  }
  ~LoopDevice() {
    if (fd_ < 0) return;
    ::ioctl(fd_, LOOP_CLR_FD, 0);
    ::close(fd_);
  }
  LoopDevice(const LoopDevice&) = delete;
  LoopDevice& operator=(const LoopDevice&) = delete;
  /// Empty where there is none.
  const std::string& path() const { return path_; }

 private:
  TempDir folder_;
  int fd_ = -1;
  std::string path_;
};

}  // namespace testing_support
