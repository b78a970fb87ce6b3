// One file over FUSE, which is a modelled disk.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "workload/disk/served_disk.h"

struct fuse_session;

namespace workload::disk {

/// Mounts a folder that holds the file `disk` alone, and hands its reads, writes and flushes to a
/// served disk. Many of them are under way at a time; each is answered by the disk's own thread.
/// One thread, but for those that it starts.
class FuseFile {
 public:
  static constexpr const char* kName = "disk";

  /// `disk` must outlive this.
  FuseFile(ServedDisk& disk, uint64_t size_bytes) : disk_(disk), size_bytes_(size_bytes) {}
  /// As unmount().
  ~FuseFile();
  FuseFile(const FuseFile&) = delete;
  FuseFile& operator=(const FuseFile&) = delete;

  /// Mounts it on the empty folder `mount_point` and begins to serve. Where fusermount3 is
  /// installed, it unmounts when this process is killed. Returns what is wrong, or nothing.
  std::string mount(const std::string& mount_point);
  /// Becomes readable when it is no longer mounted anywhere, as after `umount`. (Another mount
  /// namespace that was made meanwhile has a mount of its own.)
  int ended_descriptor() const { return ended_fd_; }
  /// Unmounts and stops to serve. False where something still used the file: it gets errors from
  /// now on.
  bool unmount();

 private:
  struct Requests;  // what FUSE calls
  void serve();

  ServedDisk& disk_;
  uint64_t size_bytes_;
  std::string mount_point_;
  fuse_session* session_ = nullptr;
  int ended_fd_ = -1;
  std::vector<std::thread> threads_;
  std::atomic<size_t> serving_{0};
};

}  // namespace workload::disk
