// A file as a block device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {

/// A loop device over a file. Movable. Detached by the destructor; the kernel does it by itself
/// once nobody has the device open or mounted, so a killed owner leaves none behind either.
class LoopDevice {
 public:
  /// Takes the first free device. Direct I/O is asked for, so that a page is not kept twice; see
  /// has_direct_io(). Queue settings, which outlive whoever had the device before, are those of a
  /// plain disk afterwards (reset_loop_settings()).
  static Expected<LoopDevice> attach(const std::filesystem::path& file);

  LoopDevice(LoopDevice&& other) noexcept = default;
  LoopDevice& operator=(LoopDevice&& other) noexcept;
  ~LoopDevice();

  /// `/dev/loop3`.
  const std::string& path() const { return path_; }
  /// Whether the file's filesystem can do it; otherwise all I/O goes through the page cache.
  bool has_direct_io() const;

 private:
  LoopDevice() = default;
  void detach() noexcept;

  OwnedFd fd_;
  std::string path_;
};

/// Loop devices whose file lies below `folder` (also where it was removed meanwhile), by path.
std::vector<std::string> loop_devices_over(const std::filesystem::path& folder);

/// Detaches the device and waits until it is gone; a device in use goes with its last user. A
/// Problem where it still has its file after ten seconds.
Expected<void> detach_loop_device(const std::string& path);

/// Tells the kernel what kind of disk the device stands for, and ends write-back throttling, which
/// the disks of 2003 did not know: it would hold writes back for a latency that no such disk has.
void set_loop_medium(const std::string& path, bool is_rotating) noexcept;

/// Lets no more than `bytes` written to the device wait in memory. A Problem says what this kernel
/// does not have, or made of it.
Expected<void> limit_dirty_memory(const std::string& path, uint64_t bytes);

/// The limit in force; nothing where there is none but the machine's.
std::optional<uint64_t> dirty_limit_bytes(const std::string& path);

/// Sets what earlier users may have changed: read-ahead of 128 KiB (a loop device with direct I/O
/// begins with far more), write-back throttling as the kernel would, no share of dirty memory of
/// its own. Settings that this kernel does not have are left out.
void reset_loop_settings(const std::string& path) noexcept;

/// The same for loop devices that nobody has and that still have a limit on dirty memory or no
/// write-back throttling: a killed runner's.
void reset_idle_loop_devices() noexcept;

/// Settings of a device's queue that decide what is measured, as the kernel has them now, by name:
/// `read_ahead_kb`, `scheduler`, `rotational`, `wbt_lat_usec`, `nr_requests`, `logical_block_size`,
/// `write_cache`.
std::vector<std::pair<std::string, std::string>> queue_settings(const std::string& path);

}  // namespace workload
