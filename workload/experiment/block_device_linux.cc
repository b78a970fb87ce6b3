#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <optional>
#include <string>

#include "workload/experiment/machine_stats.h"
#include "workload/experiment/mount_table.h"

namespace workload {
namespace {

std::optional<BlockDevice> named_device(dev_t number) {
  BlockDevice device;
  device.major = major(number);
  device.minor = minor(number);
  const std::string link =
      "/sys/dev/block/" + std::to_string(device.major) + ":" + std::to_string(device.minor);
  std::error_code failure;
  const auto target = std::filesystem::read_symlink(link, failure);
  if (failure) return std::nullopt;
  device.name = target.filename().string();
  return device;
}

}  // namespace

std::optional<BlockDevice> block_device_of(const std::filesystem::path& folder) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return std::nullopt;
  if (S_ISBLK(status.st_mode)) return named_device(status.st_rdev);
  if (major(status.st_dev) != 0) return named_device(status.st_dev);
  // btrfs and overlay give files an anonymous device; the mount table knows what lies beneath.
  const auto mount = mount_of(parse_mount_table(read_kernel_file("/proc/self/mountinfo")), folder);
  if (!mount || stat(mount->source.c_str(), &status) != 0 || !S_ISBLK(status.st_mode)) {
    return std::nullopt;
  }
  return named_device(status.st_rdev);
}

}  // namespace workload
