// A modelled disk as a block device: cacheoff-disk, and a loop device with direct I/O over it.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// Needs root, /dev/fuse, loop devices and a built cacheoff-disk. The destructor takes everything
/// down again, in the order in which that works. One thread.
class ModelledDisk {
 public:
  /// `arguments` go to cacheoff-disk, beside its image, folder and control socket. Where the disk
  /// cannot be had, problem() says why. Its image is in memory if /dev/shm is there.
  explicit ModelledDisk(std::vector<std::string> arguments);
  ~ModelledDisk();
  ModelledDisk(const ModelledDisk&) = delete;
  ModelledDisk& operator=(const ModelledDisk&) = delete;

  /// Empty where there is a disk.
  const std::string& problem() const { return problem_; }
  /// Of the block device.
  const std::string& path() const { return device_; }
  /// What the disk answers to a command of its control socket; empty where it does not answer.
  boost::json::object control(const std::string& command) const;

 private:
  bool attach();
  void detach();
  void set_queue(const std::string& name, const std::string& value) const;

  TempDir folder_;
  std::string image_;
  std::string problem_;
  std::string device_;
  int device_fd_ = -1;
  std::unique_ptr<Process> disk_;
};

/// Size of the sectors between which a power cut may tear writes without making this filesystem
/// unmountable: the superblocks of ext4 and btrfs are larger than 512 bytes, and are not in the
/// care of their logs.
inline std::string sector_for(const std::string& filesystem) {
  return filesystem == "xfs" ? "512" : "4096";
}

/// A filesystem made on a device and mounted on a folder of its own; unmounted by the destructor.
class MountedFilesystem {
 public:
  /// `type` is ext4, xfs or btrfs. mounted() is false where mkfs or mount failed.
  MountedFilesystem(const ModelledDisk& disk, std::string type);
  ~MountedFilesystem();
  MountedFilesystem(const MountedFilesystem&) = delete;
  MountedFilesystem& operator=(const MountedFilesystem&) = delete;

  bool mounted() const { return mounted_; }
  /// Why it is not.
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& path() const { return folder_.path(); }
  /// Unmounts it, whatever state it is in. False where something still uses it.
  bool unmount();
  /// Mounts it again, as it was left.
  bool mount();

 private:
  std::string device_;
  std::string type_;
  std::string problem_;
  TempDir folder_;
  bool mounted_ = false;
};

}  // namespace testing_support
