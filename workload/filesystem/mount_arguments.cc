#include "workload/filesystem/mount_arguments.h"

#include <sys/mount.h>

#include <algorithm>
#include <array>

#include "workload/experiment/mount_table.h"

namespace workload {
namespace {

/// An option that is a flag of the mount.
struct MountAttribute {
  std::string_view option;
  unsigned set;
  unsigned clear;
  /// `ro` makes both the mount and its filesystem read-only.
  bool is_parameter_too = false;
};

constexpr std::array<MountAttribute, 19> kMountAttributes{{
    {"defaults", 0, 0},
    {"rw", 0, MOUNT_ATTR_RDONLY, true},
    {"ro", MOUNT_ATTR_RDONLY, 0, true},
    {"exec", 0, MOUNT_ATTR_NOEXEC},
    {"noexec", MOUNT_ATTR_NOEXEC, 0},
    {"suid", 0, MOUNT_ATTR_NOSUID},
    {"nosuid", MOUNT_ATTR_NOSUID, 0},
    {"dev", 0, MOUNT_ATTR_NODEV},
    {"nodev", MOUNT_ATTR_NODEV, 0},
    {"atime", 0, MOUNT_ATTR_NOATIME},
    {"noatime", MOUNT_ATTR_NOATIME, MOUNT_ATTR__ATIME},
    {"diratime", 0, MOUNT_ATTR_NODIRATIME},
    {"nodiratime", MOUNT_ATTR_NODIRATIME, 0},
    // The kernel's own choice, which is why its bits are none.
    {"relatime", MOUNT_ATTR_RELATIME, MOUNT_ATTR__ATIME},
    {"norelatime", 0, 0},
    {"strictatime", MOUNT_ATTR_STRICTATIME, MOUNT_ATTR__ATIME},
    {"nostrictatime", 0, MOUNT_ATTR_STRICTATIME},
    {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW, 0},
    {"symfollow", 0, MOUNT_ATTR_NOSYMFOLLOW},
}};

const MountAttribute* find_attribute(std::string_view option) {
  const auto* found =
      std::find_if(kMountAttributes.begin(), kMountAttributes.end(),
                   [&](const MountAttribute& known) { return known.option == option; });
  return found == kMountAttributes.end() ? nullptr : found;
}

}  // namespace

MountArguments mount_arguments(std::string_view options) {
  MountArguments arguments;
  for (auto& option : split_list(options)) {
    const MountAttribute* known = find_attribute(option);
    if (known != nullptr) {
      arguments.attributes = (arguments.attributes & ~known->clear) | known->set;
    }
    if (known == nullptr || known->is_parameter_too) {
      arguments.parameters.push_back(std::move(option));
    }
  }
  return arguments;
}

bool is_mount_attribute(std::string_view option) {
  return find_attribute(option) != nullptr;
}

}  // namespace workload
