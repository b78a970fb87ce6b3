#include "storage/io/diskd/helper_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "storage/io/diskd/open_below.h"
#include "storage/io/diskd/owned_fd.h"
#include "storage/io/file_calls.h"

namespace storage {

namespace {

// The folder that a path lies in, opened, and the name in it.
struct Place {
  int system_errno = 0;
  OwnedFd folder;  // none: the store's own
  std::string name;
};

Place place_of(int folder_fd, const std::string& path) {
  Place place;
  const size_t slash = path.rfind('/');
  place.name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (place.name.empty() || place.name == "." || place.name == "..") {
    place.system_errno = EINVAL;
  } else if (slash != std::string::npos) {
    const std::string folder = path.substr(0, slash);
    const CallOutcome opened = open_folder_below(folder_fd, folder.empty() ? "/" : folder);
    place.system_errno = opened.system_errno;
    if (opened.system_errno == 0) place.folder = OwnedFd(static_cast<int>(opened.value));
  }
  return place;
}

CallOutcome outcome_of(int result) {
  return result < 0 ? CallOutcome(errno, 0) : CallOutcome();
}

}  // namespace

HelperFiles::HelperFiles(int folder_fd, std::span<std::byte> memory)
    : folder_fd_(folder_fd), memory_(memory) {}

HelperFiles::~HelperFiles() {
  for (const int fd : fds_) {
    if (fd >= 0) (void)close_file(fd);
  }
}

int HelperFiles::check_kernel() const {
  const CallOutcome opened = open_folder_below(folder_fd_, ".");
  if (opened.system_errno == 0) (void)close_file(static_cast<int>(opened.value));
  return opened.system_errno;
}

HelperReply HelperFiles::handle(const HelperRequest& request) {
  HelperReply reply;
  reply.id = request.id;
  const CallOutcome outcome = perform(request, reply.alignment_bytes);
  reply.system_errno = outcome.system_errno;
  reply.value = outcome.value;
  return reply;
}

CallOutcome HelperFiles::perform(const HelperRequest& request, uint32_t& alignment_bytes) {
  switch (request.kind) {
    case IoKind::kOpen:
      return open(request, alignment_bytes);
    case IoKind::kRename:
      return rename(request.path, request.new_path);
    case IoKind::kUnlink:
      return unlink(request.path);
    default:
      break;
  }
  const int fd = request.handle < fds_.size() ? fds_[request.handle] : -1;
  if (fd < 0) return CallOutcome(EBADF, 0);
  switch (request.kind) {
    case IoKind::kRead:
    case IoKind::kWrite:
      return transfer(request, fd);
    case IoKind::kStat:
      return request.of_space ? allocated_to_file(fd) : size_of_file(fd);
    case IoKind::kSync:
      return sync_file(fd);
    case IoKind::kClose:
      return close(request.handle);
    default:
      return CallOutcome(EINVAL, 0);
  }
}

CallOutcome HelperFiles::open(const HelperRequest& request, uint32_t& alignment_bytes) {
  const CallOutcome opened = open_below(folder_fd_, request.path, open_flags(request.mode));
  if (opened.system_errno != 0) return opened;
  OwnedFd fd(static_cast<int>(opened.value));
  const OpenedFile inspected = inspect_opened(fd.get(), request.mode);
  if (inspected.system_errno != 0) return CallOutcome(inspected.system_errno, 0);
  // Larger than a slot it could not be kept.
  if (inspected.alignment_bytes > kHelperSlotSizeBytes) return CallOutcome(EINVAL, 0);
  alignment_bytes = static_cast<uint32_t>(inspected.alignment_bytes);
  if (free_handles_.empty()) {
    free_handles_.push_back(static_cast<uint32_t>(fds_.size()));
    fds_.push_back(-1);
  }
  const uint32_t handle = free_handles_.back();
  free_handles_.pop_back();
  fds_[handle] = fd.release();
  return CallOutcome(0, handle);
}

CallOutcome HelperFiles::transfer(const HelperRequest& request, int fd) {
  const size_t slots = memory_.size() / kHelperSlotSizeBytes;
  if (request.slot >= slots || request.size_bytes > kHelperSlotSizeBytes) {
    return CallOutcome(EINVAL, 0);
  }
  const auto bytes = memory_.subspan(request.slot * kHelperSlotSizeBytes, request.size_bytes);
  if (request.kind == IoKind::kWrite) return write_file(fd, request.offset_bytes, bytes);
  return read_file(fd, request.offset_bytes, bytes, request.alignment_bytes);
}

CallOutcome HelperFiles::close(uint32_t handle) {
  const CallOutcome outcome = close_file(fds_[handle]);
  fds_[handle] = -1;
  free_handles_.push_back(handle);
  return outcome;
}

CallOutcome HelperFiles::rename(const std::string& from, const std::string& to) const {
  const Place old_place = place_of(folder_fd_, from);
  if (old_place.system_errno != 0) return CallOutcome(old_place.system_errno, 0);
  const Place new_place = place_of(folder_fd_, to);
  if (new_place.system_errno != 0) return CallOutcome(new_place.system_errno, 0);
  const auto fd_of = [this](const Place& place) {
    return place.folder.get() >= 0 ? place.folder.get() : folder_fd_;
  };
  return outcome_of(::renameat(fd_of(old_place), old_place.name.c_str(), fd_of(new_place),
                               new_place.name.c_str()));
}

CallOutcome HelperFiles::unlink(const std::string& path) const {
  const Place place = place_of(folder_fd_, path);
  if (place.system_errno != 0) return CallOutcome(place.system_errno, 0);
  const int folder = place.folder.get() >= 0 ? place.folder.get() : folder_fd_;
  return outcome_of(::unlinkat(folder, place.name.c_str(), 0));
}

}  // namespace storage
