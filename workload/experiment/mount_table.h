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

/// What became of a mount option that was asked for.
struct OptionOutcome {
  enum class Kind {
    kEffective,  ///< The kernel shows it, or does not show its opposite where it would.
    kChanged,    ///< The kernel shows another value, or the opposite.
    kIgnored,    ///< The kernel does not show it, and would.
    kNotShown,   ///< Not shown: ignored, or a default that this filesystem does not show.
  };
  std::string option;  ///< As asked for.
  Kind kind = Kind::kEffective;
  std::string became;  ///< What the kernel shows instead, where it was changed.

  /// `effective`, `changed`, `ignored` or `not_shown`.
  std::string_view kind_name() const;
  /// One line about it, or nothing where it is effective.
  std::string complaint() const;
};

/// Compares what was asked for (`noatime,size=512M`) with what the kernel says, one outcome an
/// option, in order. Sizes are compared as sizes; options that are never shown because they are the
/// default (`rw`, `exec`, `atime`) count as effective where their opposite is not shown. Of an
/// option that is asked for and later denied (`atime,noatime`) only the last is looked for.
/// `in_full` has further options in force that the mount table does not show, where they are known.
std::vector<OptionOutcome> option_outcomes(std::string_view asked, const MountEntry& got,
                                           const std::vector<std::string>& in_full = {});

/// The complaints of the outcomes: `mount option 'x' was ignored by the kernel`, `mount option
/// 'size=1000' became 'size=4k'`.
std::vector<std::string> option_differences(const std::vector<OptionOutcome>& outcomes);

/// Splits at commas; empty parts are left out.
std::vector<std::string> split_list(std::string_view text);

}  // namespace workload
