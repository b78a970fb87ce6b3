#include "storage/layout/volume_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "storage/base/units.h"
#include "storage/io/file_space.h"
#include "storage/layout/known_stores.h"

namespace storage {

namespace {

std::string errno_text(int system_errno) {
  return std::generic_category().message(system_errno);
}

// Whether a folder holds anything.
bool is_of_others(const std::filesystem::path& folder) {
  std::error_code unreadable;
  // What a new filesystem has in it belongs to nobody.
  const auto is_foreign = [](const std::filesystem::directory_entry& entry) {
    return entry.path().filename() != "lost+found";
  };
  bool foreign = false;
  for (std::filesystem::directory_iterator entry(folder, unreadable), end;
       !unreadable && entry != end && !foreign; entry.increment(unreadable)) {
    foreign = is_foreign(*entry);
  }
  return foreign;
}

}  // namespace

VolumeFile::~VolumeFile() {
  unlock();
  if (directory_fd_ >= 0) ::close(directory_fd_);
}

void VolumeFile::unlock() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

std::unique_ptr<VolumeFile> VolumeFile::open(const std::filesystem::path& path,
                                             std::string_view name_in_folder, Access access,
                                             std::string& error) {
  std::unique_ptr<VolumeFile> file(new VolumeFile());
  file->shown_path_ = "path=" + path.string();
  if (!file->open_file(path, name_in_folder, access, error)) return nullptr;
  return file;
}

bool VolumeFile::open_file(const std::filesystem::path& given_path, std::string_view name_in_folder,
                           Access access, std::string& error) {
  struct stat status {};
  const bool exists = ::stat(given_path.c_str(), &status) == 0;
  const bool in_folder = exists && S_ISDIR(status.st_mode);
  // A device is often named by a link, and the engines follow none.
  std::error_code unresolved;
  std::filesystem::path path = std::filesystem::weakly_canonical(given_path, unresolved);
  if (unresolved) path = given_path;
  const std::filesystem::path folder =
      in_folder ? path : (path.has_parent_path() ? path.parent_path() : ".");
  name_ = in_folder ? std::string(name_in_folder) : path.filename().string();
  directory_fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_fd_ < 0) {
    error = shown_path_ + ": cannot open the folder " + folder.string() + ": " + errno_text(errno);
    return false;
  }
  if (in_folder && !holds_usable_place(path, access, error)) return false;
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

// Whether the store's file is in the folder, or may be made there.
bool VolumeFile::holds_usable_place(const std::filesystem::path& folder, Access access,
                                    std::string& error) const {
  struct stat status {};
  if (::fstatat(directory_fd_, name_.c_str(), &status, 0) == 0 || errno != ENOENT) return true;
  const std::string other = store_in_folder(directory_fd_);
  if (!other.empty()) {
    error = shown_path_ + ": " + other;
  } else if (access == Access::kInspect) {
    error = shown_path_ + ": the folder holds no store of this kind (there is no " + name_ + ")";
  } else if (is_of_others(folder)) {
    error = shown_path_ +
            ": the folder holds something else than a store of this kind: give a new " +
            "or empty folder, or a file in this one";
  } else {
    return true;
  }
  return false;
}

uint64_t VolumeFile::size_bytes() const {
  if (device_) {
    const int64_t size = device_size_bytes(fd_);
    return size > 0 ? static_cast<uint64_t>(size) : 0;
  }
  struct stat status {};
  return ::fstat(fd_, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool VolumeFile::in_place(uint64_t wanted_bytes) const {
  struct stat held {};
  struct stat named {};
  if (::fstat(fd_, &held) != 0) return false;
  if (::fstatat(directory_fd_, name_.c_str(), &named, 0) != 0) return false;
  if (held.st_dev != named.st_dev || held.st_ino != named.st_ino) {
    errno = ESTALE;
    return false;
  }
  if (size_bytes() < wanted_bytes) {
    errno = ENODATA;
    return false;
  }
  return true;
}

int64_t VolumeFile::read_front(std::span<std::byte> out) const {
  return ::pread(fd_, out.data(), out.size(), 0);
}

bool VolumeFile::write(uint64_t offset_bytes, std::span<const std::byte> bytes) const {
  const ssize_t put = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
  return put == static_cast<ssize_t>(bytes.size()) && ::fdatasync(fd_) == 0;
}

bool VolumeFile::make_room(uint64_t wanted_bytes, uint64_t asked_bytes, std::string& error) const {
  const uint64_t present = size_bytes();
  if (device_ && present < wanted_bytes) {
    error = shown_path_ + ": the device has " + format_size(present) +
            ", less than size=" + format_size(asked_bytes);
    return false;
  }
  if (device_ || present >= wanted_bytes) return true;
  int failure = give_blocks(fd_, wanted_bytes);
  if (failure == EOPNOTSUPP) {
    failure = ::ftruncate(fd_, static_cast<off_t>(wanted_bytes)) == 0 ? 0 : errno;
  }
  if (failure == 0) return true;
  error = shown_path_ + ": cannot make it " + format_size(wanted_bytes) +
          " long: " + errno_text(failure) + ": give a smaller size=";
  return false;
}

bool VolumeFile::shorten(uint64_t wanted_bytes) const {
  if (device_ || size_bytes() <= wanted_bytes) return true;
  return ::ftruncate(fd_, static_cast<off_t>(wanted_bytes)) == 0;
}

void VolumeFile::remove_if_made() const {
  if (made_) ::unlinkat(directory_fd_, name_.c_str(), 0);
}

}  // namespace storage
