#include "storage/layout/coss_volume.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "storage/base/units.h"

namespace storage {

namespace {

constexpr const char* kNameInFolder = "cacheoff-coss";

std::string errno_text(int system_errno) {
  return std::generic_category().message(system_errno);
}

}  // namespace

CossVolume::~CossVolume() {
  unlock();
  if (directory_fd_ >= 0) ::close(directory_fd_);
}

void CossVolume::unlock() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::unique_ptr<CossVolume> CossVolume::open(const std::filesystem::path& path,
                                             const CossOptions& options, uint64_t new_id,
                                             Access access, std::string& error) {
  std::unique_ptr<CossVolume> volume(new CossVolume());
  volume->shown_path_ = "path=" + path.string();
  volume->capacity_bytes_ = options.capacity_bytes;
  if (!volume->open_file(path, access, error)) return nullptr;
  if (volume->take_over(options, access, new_id, error)) return volume;
  // An empty file that could not be sized is of no use to anybody.
  if (volume->made_) ::unlinkat(volume->directory_fd_, volume->name_.c_str(), 0);
  return nullptr;
}

bool CossVolume::open_file(const std::filesystem::path& given_path, Access access,
                           std::string& error) {
  struct stat status {};
  const bool exists = ::stat(given_path.c_str(), &status) == 0;
  const bool in_folder = exists && S_ISDIR(status.st_mode);
  // A device is often named by a link, and the engines follow none.
  std::error_code unresolved;
  std::filesystem::path path = std::filesystem::weakly_canonical(given_path, unresolved);
  if (unresolved) path = given_path;
  const std::filesystem::path folder =
      in_folder ? path : (path.has_parent_path() ? path.parent_path() : ".");
  name_ = in_folder ? kNameInFolder : path.filename().string();
  directory_fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd_ < 0) {
    error = shown_path_ + ": cannot open the folder " + folder.string() + ": " + errno_text(errno);
    return false;
  }
  int flags = O_RDWR | O_CLOEXEC;
  if (access == Access::kInspect) flags = O_RDONLY | O_CLOEXEC;
  // Refused by the kernel while the device is mounted.
  if (exists && S_ISBLK(status.st_mode)) flags |= O_EXCL;
  fd_ = ::openat(directory_fd_, name_.c_str(), flags);
  if (fd_ < 0 && errno == ENOENT && access == Access::kUse) {
    fd_ = ::openat(directory_fd_, name_.c_str(), flags | O_CREAT | O_EXCL, 0640);
    made_ = fd_ >= 0;
  }
  if (fd_ < 0) {
    error = shown_path_ + ": cannot open it: " + errno_text(errno) +
            (errno == EBUSY ? " (is the device mounted?)" : "");
    return false;
  }
  if (::fstat(fd_, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))) {
    error = shown_path_ + ": is neither a file nor a block device nor a folder";
    return false;
  }
  device_ = S_ISBLK(status.st_mode);
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    made_ = false;
    error = shown_path_ + ": the store is in use by another process";
    return false;
  }
  return true;
}

uint64_t CossVolume::size_bytes() const {
  if (device_) {
    uint64_t size = 0;
    return ::ioctl(fd_, BLKGETSIZE64, &size) == 0 ? size : 0;
  }
  struct stat status {};
  return ::fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool CossVolume::take_over(const CossOptions& options, Access access, uint64_t new_id,
                           std::string& error) {
  std::vector<std::byte> front(kCossStripesOffset);
  const ssize_t got = ::pread(fd_, front.data(), front.size(), 0);
  if (got < 0) {
    error = shown_path_ + ": cannot read it: " + errno_text(errno);
    return false;
  }
  front.resize(static_cast<size_t>(got));
  const auto page = std::span<const std::byte>(front).first(std::min(front.size(), kCossPageSize));
  const Result<CossGeometry> found = decode_coss_superblock(page);
  if (found && access == Access::kInspect) {
    geometry_ = *found;
    previous_stripe_count_ = found->stripe_count;
    return true;
  }
  if (found) {
    if (found->stripe_size_bytes != options.stripe_size_bytes ||
        found->block_size_bytes != options.block_size_bytes) {
      error = shown_path_ +
              ": the store was made with stripe-size=" + std::to_string(found->stripe_size_bytes) +
              ",block-size=" + std::to_string(found->block_size_bytes) +
              ": give these, or remove the store";
      return false;
    }
    geometry_ = *found;
    previous_stripe_count_ = found->stripe_count;
    geometry_.stripe_count = options.stripe_count;
    return make_room(error);
  }
  const bool blank =
      std::ranges::all_of(front, [](std::byte value) { return value == std::byte{0}; });
  if (access == Access::kInspect || found.error().code == Errc::kCorrupt || !blank) {
    error = shown_path_ + ": holds something else than a coss store" +
            (device_ ? ": clear its beginning first if it may be overwritten" : "");
    return false;
  }
  geometry_.store_id = new_id;
  geometry_.stripe_size_bytes = options.stripe_size_bytes;
  geometry_.block_size_bytes = options.block_size_bytes;
  geometry_.stripe_count = options.stripe_count;
  if (!make_room(error)) return false;
  if (write_superblock()) return true;
  error = shown_path_ + ": cannot write to it: " + errno_text(errno);
  return false;
}

bool CossVolume::make_room(std::string& error) {
  const uint64_t wanted = geometry_.index_offset() + coss_index_area_bytes(capacity_bytes_);
  const uint64_t present = size_bytes();
  if (present >= wanted) return true;
  if (device_) {
    error = shown_path_ + ": the device has " + format_size(present) +
            ", less than size=" + format_size(capacity_bytes_);
    return false;
  }
  // All of it now, so that a stripe never meets a full filesystem.
  int failure = ::fallocate(fd_, 0, 0, static_cast<off_t>(wanted)) == 0 ? 0 : errno;
  if (failure == EOPNOTSUPP) {
    failure = ::ftruncate(fd_, static_cast<off_t>(wanted)) == 0 ? 0 : errno;
  }
  if (failure == 0) return true;
  error = shown_path_ + ": cannot make it " + format_size(wanted) +
          " long: " + errno_text(failure) + ": give a smaller size=";
  return false;
}

bool CossVolume::write_superblock() {
  std::array<std::byte, kCossPageSize> page{};
  encode_coss_superblock(geometry_, page);
  const ssize_t put = ::pwrite(fd_, page.data(), page.size(), 0);
  return put == static_cast<ssize_t>(page.size()) && ::fdatasync(fd_) == 0;
}

bool CossVolume::adopt_size() {
  if (previous_stripe_count_ == geometry_.stripe_count) return true;
  if (!write_superblock()) return false;
  previous_stripe_count_ = geometry_.stripe_count;
  const uint64_t wanted = geometry_.index_offset() + coss_index_area_bytes(capacity_bytes_);
  if (device_ || size_bytes() <= wanted) return true;
  return ::ftruncate(fd_, static_cast<off_t>(wanted)) == 0;
}

}  // namespace storage
