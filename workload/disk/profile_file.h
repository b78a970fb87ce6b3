// Profiles of disks as TOML files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/disk/profile.h"

namespace workload::disk {

/// Reads a profile: what it does not say is as in its `base`, a built-in profile. `file` names it
/// in messages. Nothing, and one line with file, line, key and what would be right in `error`, for
/// text that is no profile.
std::optional<DiskProfile> parse_profile(std::string_view toml, const std::string& file,
                                         std::string& error);

/// A built-in profile by its name, or else the regular file at that path, of at most 1 MiB. A disk
/// that is none of the built-in ones but has the name of one is named by its file.
std::optional<DiskProfile> load_profile(const std::string& name_or_path, std::string& error);

/// All of a profile as text that parse_profile() reads back to an equal one, times in nanoseconds
/// as far as they need them.
std::string profile_to_toml(const DiskProfile& profile);

}  // namespace workload::disk
