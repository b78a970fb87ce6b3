#include "storage/layout/ufs_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "storage/io/system_error.h"

namespace storage {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::string reason(int system_errno) {
  return std::generic_category().message(system_errno);
}

std::string folder_path(unsigned first, unsigned second) {
  char text[24];
  std::snprintf(text, sizeof text, "%02X/%02X", first, second);
  return text;
}

std::pair<unsigned, unsigned> folder_of(UfsShape shape, uint64_t sequence) {
  const uint64_t folder = sequence / kUfsFilesPerFolder;
  return {static_cast<unsigned>(folder / shape.l2 % shape.l1),
          static_cast<unsigned>(folder % shape.l2)};
}

// The number in `000000001FA3` or `000000001FA3.tmp`; nothing for any other name.
std::optional<UfsFoundFile> parse_name(std::string_view name) {
  constexpr size_t kDigits = 12;
  if (name.size() < kDigits) return std::nullopt;
  UfsFoundFile found;
  for (const char c : name.substr(0, kDigits)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'A' || c > 'F')) return std::nullopt;
    found.sequence = found.sequence * 16 + static_cast<uint64_t>(digit ? c - '0' : c - 'A' + 10);
  }
  found.temporary = name.substr(kDigits) == ".tmp";
  if (!found.temporary && name.size() != kDigits) return std::nullopt;
  return found;
}

Folder open_folder(int root_fd, const char* path) {
  const int fd = ::openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  Folder folder(::fdopendir(fd));
  if (!folder) {
    const int failure = errno;
    ::close(fd);
    errno = failure;
  }
  return folder;
}

// Calls `visit(name)` for each entry but the two dots; false with errno set when it cannot read.
template <class Visit>
bool for_each_name(DIR* folder, Visit visit) {
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(folder);  // NOLINT(concurrency-mt-unsafe): own stream
    if (entry == nullptr) return errno == 0;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") visit(name);
  }
}

// What a filesystem has in its root from the start does not make a folder somebody else's.
bool is_empty_folder(int fd, bool& readable) {
  const Folder folder = open_folder(fd, ".");
  bool empty = true;
  readable = folder && for_each_name(folder.get(), [&empty](std::string_view name) {
               if (name != "lost+found") empty = false;
             });
  return empty;
}

std::string marker_text(UfsShape shape) {
  return "cacheoff ufs store, version 1\nl1=" + std::to_string(shape.l1) +
         "\nl2=" + std::to_string(shape.l2) + "\n";
}

Result<void> make_folder(int root_fd, const std::string& path) {
  if (::mkdirat(root_fd, path.c_str(), 0750) == 0 || errno == EEXIST) return {};
  return error_from_errno(errno);
}

}  // namespace

std::string ufs_object_path(UfsShape shape, uint64_t sequence) {
  const auto [first, second] = folder_of(shape, sequence);
  char text[48];
  std::snprintf(text, sizeof text, "%02X/%02X/%012llX", first, second,
                static_cast<unsigned long long>(sequence));
  return text;
}

std::string ufs_temporary_path(UfsShape shape, uint64_t sequence) {
  return ufs_object_path(shape, sequence) + ".tmp";
}

std::unique_ptr<UfsDirectory> UfsDirectory::open(const std::filesystem::path& path, UfsShape shape,
                                                 Access access, std::string& error) {
  const std::string name = "cache directory " + path.string() + ": ";
  if (access == Access::kUse) {
    std::error_code failure;
    std::filesystem::create_directories(path, failure);
    std::error_code unknown;
    if (failure && !std::filesystem::exists(path, unknown)) {
      error = name + "cannot be created: " + failure.message();
      return nullptr;
    }
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    error = name + "cannot be opened as a folder: " + reason(errno);
    return nullptr;
  }
  std::unique_ptr<UfsDirectory> directory(new UfsDirectory(fd, shape));
  if (!directory->lock_marker(name, access, error)) return nullptr;
  if (!directory->read_marker(name, access, error)) return nullptr;
  return directory;
}

UfsDirectory::~UfsDirectory() {
  unlock();
  ::close(directory_fd_);
}

void UfsDirectory::unlock() {
  if (marker_fd_ >= 0) ::close(marker_fd_);
  marker_fd_ = -1;
}

bool UfsDirectory::lock_marker(const std::string& name, Access access, std::string& error) {
  const std::string marker(kUfsMarkerName);
  const bool use = access == Access::kUse;
  marker_fd_ = ::openat(directory_fd_, marker.c_str(), (use ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (marker_fd_ < 0 && errno == ENOENT && use) {
    bool readable = false;
    if (!is_empty_folder(directory_fd_, readable)) {
      const std::string other = store_in_folder(directory_fd_);
      error = name + other;
      if (!other.empty()) return false;
      error = name + "holds files but is no ufs store of cacheoff (there is no " + marker +
              "); give an empty or a new folder";
      return false;
    }
    if (readable) {
      marker_fd_ = ::openat(directory_fd_, marker.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
      fresh_ = marker_fd_ >= 0;
    }
  }
  if (marker_fd_ < 0) {
    const int failure = errno;
    const std::string other = store_in_folder(directory_fd_);
    error = name + other;
    if (failure == ENOENT && !other.empty()) return false;
    error = name + (failure == ENOENT ? "is no ufs store of cacheoff (there is no " + marker + ")"
                                      : "cannot open " + marker + ": " + reason(failure));
    return false;
  }
  if (::flock(marker_fd_, LOCK_EX | LOCK_NB) == 0) return true;
  error = name + (errno == EWOULDBLOCK ? "is in use by another process or store; stop that one "
                                         "first, or give each its own folder"
                                       : "cannot be locked: " + reason(errno));
  return false;
}

bool UfsDirectory::read_marker(const std::string& name, Access access, std::string& error) {
  char buffer[256];
  const ssize_t got = ::pread(marker_fd_, buffer, sizeof buffer, 0);
  if (got < 0) {
    error = name + "cannot read " + std::string(kUfsMarkerName) + ": " + reason(errno);
    return false;
  }
  const std::string text(buffer, static_cast<size_t>(got));
  if (text.empty() && access == Access::kUse) {  // just made, or its maker was killed before this
    const std::string wanted = marker_text(shape_);
    // Durable before anything else is: a power cut must not leave objects without it, as such a
    // folder is taken for somebody else's.
    if (::pwrite(marker_fd_, wanted.data(), wanted.size(), 0) ==
            static_cast<ssize_t>(wanted.size()) &&
        ::fsync(marker_fd_) == 0 && ::fsync(directory_fd_) == 0) {
      return true;
    }
    error = name + "cannot write " + std::string(kUfsMarkerName) + ": " + reason(errno);
    return false;
  }
  UfsShape found;
  const bool parsed = std::sscanf(text.c_str(), "cacheoff ufs store, version 1\nl1=%u\nl2=%u\n",
                                  &found.l1, &found.l2) == 2 &&
                      text == marker_text(found) && found.l1 >= 1 && found.l1 <= 256 &&
                      found.l2 >= 1 && found.l2 <= 256;
  if (!parsed) {
    error = name + std::string(kUfsMarkerName) +
            " is damaged or of another version of cacheoff; write the store's three lines into it "
            "again ('cacheoff ufs store, version 1', 'l1=16', 'l2=256', with the store's own "
            "numbers), or empty the folder to start anew";
    return false;
  }
  if (access == Access::kUse && found != shape_) {
    error = name + "was made with l1=" + std::to_string(found.l1) +
            ",l2=" + std::to_string(found.l2) + "; give these, or another folder";
    return false;
  }
  shape_ = found;
  return true;
}

Result<void> UfsDirectory::make_folder_of(uint64_t sequence) {
  const auto [first, second] = folder_of(shape_, sequence);
  const std::string path = folder_path(first, second);
  const Result<void> outer = make_folder(directory_fd_, path.substr(0, 2));
  if (!outer) return outer;
  return make_folder(directory_fd_, path);
}

Result<UfsDirectory::ScanCounts> UfsDirectory::scan(
    const std::function<void(const UfsFoundFile&)>& found) {
  ScanCounts counts;
  for (unsigned first = 0; first < shape_.l1; ++first) {
    struct stat status {};
    const std::string outer = folder_path(first, 0).substr(0, 2);
    if (::fstatat(directory_fd_, outer.c_str(), &status, 0) != 0) {
      if (errno == ENOENT) continue;
      return error_from_errno(errno);
    }
    for (unsigned second = 0; second < shape_.l2; ++second) {
      const Result<void> result = scan_folder(first, second, counts, found);
      if (!result) return result.error();
    }
  }
  return counts;
}

Result<void> UfsDirectory::scan_folder(unsigned first, unsigned second, ScanCounts& counts,
                                       const std::function<void(const UfsFoundFile&)>& found) {
  const Folder folder = open_folder(directory_fd_, folder_path(first, second).c_str());
  if (!folder) {
    if (errno == ENOENT) return {};
    return error_from_errno(errno);
  }
  const bool readable = for_each_name(folder.get(), [&](std::string_view name) {
    std::optional<UfsFoundFile> file = parse_name(name);
    const bool ours = file && folder_of(shape_, file->sequence) == std::pair(first, second);
    struct stat status {};
    const std::string terminated(name);
    if (!ours ||
        ::fstatat(::dirfd(folder.get()), terminated.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
      ++counts.foreign;
      return;
    }
    file->file_size_bytes = static_cast<uint64_t>(status.st_size);
    file->allocated_bytes = static_cast<uint64_t>(status.st_blocks) * 512;
    found(*file);
  });
  if (!readable) return error_from_errno(errno);
  return {};
}

}  // namespace storage
