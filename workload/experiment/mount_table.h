// The kernel's table of mounts, and whether a mount got the options that were asked for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// One line of /proc/self/mountinfo.
struct MountEntry {
  std::string mount_point;
  std::string filesystem;            ///< `ext4`, `tmpfs`.
  std::string source;                ///< `/dev/vda1`.
  std::vector<std::string> options;  ///< Of the mount and of the filesystem, in this order.
  /// The options, comma-separated.
  std::string options_text() const;
};

/// Reads mountinfo; lines that are damaged are left out. Escapes (`\040`) are resolved.
std::vector<MountEntry> parse_mount_table(std::string_view mountinfo);

/// The mount that a folder lies on (the longest mount point above it, the last one mounted there);
/// `folder` must be absolute and without links.
std::optional<MountEntry> mount_of(const std::vector<MountEntry>& table,
                                   const std::filesystem::path& folder);

/// Compares what was asked for (`noatime,size=512M`) with what the kernel says, one line a
/// difference: `mount option 'x' was ignored`, `mount option 'size=1000' became 'size=4k'`. Sizes
/// are compared as sizes; options that are never shown because they are the default (`rw`, `exec`,
/// `atime`) count as given where their opposite is not shown.
std::vector<std::string> option_differences(std::string_view asked, const MountEntry& got);

/// Splits at commas; empty parts are left out.
std::vector<std::string> split_list(std::string_view text);

}  // namespace workload
