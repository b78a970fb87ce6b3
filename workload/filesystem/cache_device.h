// Block devices that a run's caches lie on, whatever is behind them.
//
// A filesystem is made on a CacheDevice and mounted, or the device itself is given to a scheme.
// What is behind it (an image on a loop device, a real device, and whatever else serves a file or a
// device) is known only here.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "workload/experiment/expected.h"
#include "workload/filesystem/scratch_folder.h"

namespace workload {

class DiskProgram;

/// A device for one run. The destructor gives it back: whatever was mounted on it, and whoever had
/// it open, must be gone by then.
class CacheDevice {
 public:
  virtual ~CacheDevice() = default;
  CacheDevice(const CacheDevice&) = delete;
  CacheDevice& operator=(const CacheDevice&) = delete;

  /// `/dev/loop3`.
  virtual const std::string& path() const = 0;
  /// `image`, `modelled` or `device`.
  virtual std::string_view kind() const = 0;
  /// What about it makes figures other than they would be, one line; empty where nothing does.
  virtual std::string warning() const = 0;
  /// The modelled disk behind it; null where there is none.
  virtual DiskProgram* modelled_disk() { return nullptr; }
  /// Whether it is a loop device of its own, whose settings nobody else has.
  virtual bool is_loop() const { return false; }

 protected:
  CacheDevice() = default;
};

/// A sparse file of `size_bytes` in the scratch folder, on a loop device with direct I/O. Empty.
Expected<std::unique_ptr<CacheDevice>> make_image_device(ScratchFolder& scratch,
                                                         const std::string& name,
                                                         uint64_t size_bytes);

/// A real device as it is, once check_real_device() had nothing against it; then its first and last
/// 4 MiB are cleared (an old filesystem or store would be found there), and all of it is given back
/// to a device that can forget blocks. A Problem where it is smaller than `size_bytes_min`.
Expected<std::unique_ptr<CacheDevice>> open_real_device(const std::string& path,
                                                        uint64_t size_bytes_min);

/// Whether all that a real device holds may be lost: it is a block device that nobody uses
/// (mounted, part of another device, or open for one's own), and holds nothing that blkid
/// recognises but a filesystem that cacheoff made. The Problem names what is there.
Expected<void> check_real_device(const std::string& path);

/// What blkid says of a device (`blkid -p -o export`), judged as in check_real_device().
Expected<void> judge_signature(const std::string& path, std::string_view blkid_output);

/// Path, kind and queue settings, as a run's `devices[]` has them.
boost::json::object describe_cache_device(CacheDevice& device);

/// Writes what the kernel has of the device to it and forgets it, so that what mkfs left in memory
/// helps nobody.
void flush_device(const std::string& path) noexcept;

/// Size of a block device; 0 where it can't be read.
uint64_t block_device_size_bytes(const std::string& path);

}  // namespace workload
