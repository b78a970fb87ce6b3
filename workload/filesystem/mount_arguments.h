// Mount options as a user writes them, split into what the kernel takes them as.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// The parts of `noatime,data=writeback`.
struct MountArguments {
  /// Of the mount itself: MOUNT_ATTR_ flags, as fsmount() takes them.
  unsigned attributes = 0;
  /// Of the filesystem, in the order given: `ro`, `lazytime`, `data=writeback`.
  std::vector<std::string> parameters;
};

/// Splits at commas. Of options that deny each other the last one counts, as with mount(8);
/// `defaults` and empty parts are nothing. What is no option of mounts in general goes to the
/// filesystem, which refuses what it does not know.
MountArguments mount_arguments(std::string_view options);

/// Whether every mount has this option, whatever its filesystem (`noatime`, `nosuid`).
bool is_mount_attribute(std::string_view option);

}  // namespace workload
