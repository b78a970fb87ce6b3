#define FUSE_USE_VERSION 314
#include "workload/disk/fuse/fuse_file.h"

#include <fuse3/fuse_lowlevel.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace workload::disk {
namespace {

/// The largest request that the kernel sends (256 pages).
constexpr unsigned kRequestBytesMax = 1024 * 1024;
/// Requests that the kernel sends without waiting for answers. A loop device has 128 under way.
constexpr unsigned kRequestsMax = 256;
/// Threads that take requests; each copies its data and goes on.
constexpr unsigned kThreads = 3;
constexpr fuse_ino_t kFileInode = 2;
constexpr double kAttributesValid_s = 86'400;

struct stat attributes_of(fuse_ino_t inode, uint64_t size_bytes) {
  struct stat result {};
  result.st_ino = inode;
  result.st_uid = ::getuid();
  result.st_gid = ::getgid();
  if (inode == FUSE_ROOT_ID) {
    result.st_mode = S_IFDIR | 0700;
    result.st_nlink = 2;
  } else {
    result.st_mode = S_IFREG | 0600;
    result.st_nlink = 1;
    result.st_size = static_cast<off_t>(size_bytes);
    result.st_blksize = 4096;
    result.st_blocks = static_cast<blkcnt_t>(size_bytes / 512);
  }
  return result;
}

bool fusermount_is_there() {
  const char* const text = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::string path = text == nullptr ? "" : text;
  while (!path.empty()) {
    const size_t end = std::min(path.find(':'), path.size());
    if (::access((path.substr(0, end) + "/fusermount3").c_str(), X_OK) == 0) return true;
    path.erase(0, end + 1);
  }
  return false;
}

void wake_only(int) {}

}  // namespace

struct FuseFile::Requests {
  static FuseFile& self(fuse_req_t request) {
    return *static_cast<FuseFile*>(fuse_req_userdata(request));
  }

  static void init(void*, fuse_conn_info* connection) {
    connection->want |= FUSE_CAP_ASYNC_DIO & connection->capable;
    connection->want &= ~(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE |
                          FUSE_CAP_WRITEBACK_CACHE);
    connection->max_background = kRequestsMax;
    connection->congestion_threshold = kRequestsMax;
    connection->max_write = kRequestBytesMax;
    connection->max_read = kRequestBytesMax;  // as the mount option says
  }
  static void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    if (parent != FUSE_ROOT_ID || std::strcmp(name, kName) != 0) {
      fuse_reply_err(request, ENOENT);
      return;
    }
    fuse_entry_param entry{};
    entry.ino = kFileInode;
    entry.attr = attributes_of(kFileInode, self(request).size_bytes_);
    entry.attr_timeout = entry.entry_timeout = kAttributesValid_s;
    fuse_reply_entry(request, &entry);
  }
  static void getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
    const struct stat attributes = attributes_of(inode, self(request).size_bytes_);
    fuse_reply_attr(request, &attributes, kAttributesValid_s);
  }
  static void readdir(fuse_req_t request, fuse_ino_t, size_t size, off_t from, fuse_file_info*) {
    static constexpr const char* kNames[]{".", "..", kName};
    std::vector<char> buffer(size);
    size_t used = 0;
    for (off_t at = from; at >= 0 && at < 3; ++at) {
      const fuse_ino_t inode = at == 2 ? kFileInode : static_cast<fuse_ino_t>(FUSE_ROOT_ID);
      const struct stat attributes = attributes_of(inode, self(request).size_bytes_);
      const size_t needed = fuse_add_direntry(request, buffer.data() + used, size - used,
                                              kNames[at], &attributes, at + 1);
      if (needed > size - used) break;
      used += needed;
    }
    fuse_reply_buf(request, buffer.data(), used);
  }
  static void open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
    if (inode != kFileInode) {
      fuse_reply_err(request, EISDIR);
      return;
    }
    // Nothing may be kept in, or read ahead into, the kernel's page cache: it is not the disk's.
    file->direct_io = 1;
    file->noflush = 1;
    fuse_reply_open(request, file);
  }
  static void read(fuse_req_t request, fuse_ino_t, size_t size, off_t offset, fuse_file_info*) {
    const uint64_t end = self(request).size_bytes_;
    const auto from = static_cast<uint64_t>(offset);
    if (offset < 0 || from >= end || size == 0) {
      fuse_reply_buf(request, nullptr, 0);
      return;
    }
    const auto length = static_cast<size_t>(std::min<uint64_t>(size, end - from));
    self(request).disk_.read(from, length, [request](int error, std::span<const std::byte> bytes) {
      if (error != 0) {
        fuse_reply_err(request, error);
      } else {
        fuse_reply_buf(request, reinterpret_cast<const char*>(bytes.data()), bytes.size());
      }
    });
  }
  static void write(fuse_req_t request, fuse_ino_t, const char* data, size_t size, off_t offset,
                    fuse_file_info*) {
    const uint64_t end = self(request).size_bytes_;
    const auto from = static_cast<uint64_t>(offset);
    if (offset < 0 || size > end || from > end - size) {
      fuse_reply_err(request, ENOSPC);
      return;
    }
    if (size == 0) {
      fuse_reply_write(request, 0);
      return;
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    self(request).disk_.write(from, std::vector(bytes, bytes + size), [request, size](int error) {
      if (error != 0) {
        fuse_reply_err(request, error);
      } else {
        fuse_reply_write(request, size);
      }
    });
  }
  static void fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    self(request).disk_.flush([request](int error) { fuse_reply_err(request, error); });
  }
  static void statfs(fuse_req_t request, fuse_ino_t) {
    struct statvfs answer {};
    answer.f_bsize = answer.f_frsize = 4096;
    answer.f_blocks = self(request).size_bytes_ / 4096;
    answer.f_namemax = 255;
    fuse_reply_statfs(request, &answer);
  }
};

FuseFile::~FuseFile() {
  unmount();
}

std::string FuseFile::mount(const std::string& mount_point) {
  static const fuse_lowlevel_ops kOperations = [] {
    fuse_lowlevel_ops operations{};
    operations.init = Requests::init;
    operations.lookup = Requests::lookup;
    operations.getattr = Requests::getattr;
    operations.readdir = Requests::readdir;
    operations.open = Requests::open;
    operations.read = Requests::read;
    operations.write = Requests::write;
    operations.fsync = Requests::fsync;
    operations.statfs = Requests::statfs;
    return operations;
  }();
  std::error_code failure;
  const auto folder = std::filesystem::canonical(mount_point, failure);
  if (failure || !std::filesystem::is_empty(folder, failure) || failure) {
    return "--mount '" + mount_point + "': must be an empty folder";
  }
  std::string options =
      "fsname=cacheoff-disk,subtype=cacheoff-disk,max_read=" + std::to_string(kRequestBytesMax);
  if (fusermount_is_there()) options += ",auto_unmount";
  std::string program = "cacheoff-disk";
  std::string dash_o = "-o";
  char* words[]{program.data(), dash_o.data(), options.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, words);
  session_ = fuse_session_new(&arguments, &kOperations, sizeof kOperations, this);
  fuse_opt_free_args(&arguments);
  if (session_ == nullptr) return "libfuse refused its options (" + options + ")";
  if (fuse_session_mount(session_, folder.c_str()) != 0) {
    fuse_session_destroy(session_);
    session_ = nullptr;
    return "--mount '" + mount_point + "': cannot be mounted (it needs root and /dev/fuse)";
  }
  mount_point_ = folder.string();
  ended_fd_ = ::eventfd(0, EFD_CLOEXEC);
  // Ends a read of /dev/fuse; see unmount().
  struct sigaction wake {};
  wake.sa_handler = wake_only;
  ::sigaction(SIGUSR1, &wake, nullptr);
  serving_ = kThreads;
  for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this] { serve(); });
  return {};
}

void FuseFile::serve() {
  sched_param priority{};
  priority.sched_priority = 1;
  // Where it may not be had, the disk's status says that answers may be late.
  static_cast<void>(::pthread_setschedparam(::pthread_self(), SCHED_RR, &priority));
  fuse_buf buffer{};
  while (fuse_session_exited(session_) == 0) {
    const int got = fuse_session_receive_buf(session_, &buffer);
    if (got == -EINTR || got == -EAGAIN) continue;
    if (got <= 0) break;  // unmounted
    fuse_session_process_buf(session_, &buffer);
  }
  std::free(buffer.mem);
  --serving_;
  const uint64_t one = 1;
  // An eventfd takes this as long as it is open.
  static_cast<void>(!::write(ended_fd_, &one, sizeof one));
}

bool FuseFile::unmount() {
  if (session_ == nullptr) return true;
  const bool unused = serving_ == 0 || ::umount2(mount_point_.c_str(), UMOUNT_NOFOLLOW) == 0;
  // The mount may live on in other mount namespaces, which copied it, so /dev/fuse need not have
  // come to its end.
  fuse_session_exit(session_);
  // Those that were about to sleep in a read when the signal came get another.
  while (serving_ > 0) {
    for (std::thread& thread : threads_) ::pthread_kill(thread.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  disk_.stop();  // what is still under way is answered while there is somebody to answer
  fuse_session_unmount(session_);
  fuse_session_destroy(session_);
  session_ = nullptr;
  ::close(ended_fd_);
  ended_fd_ = -1;
  return unused;
}

}  // namespace workload::disk
