// Which operating system and which versions of other people's software a figure was taken with.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace workload {

/// `PRETTY_NAME` of an os-release file (os-release(5)), unquoted; `otherwise` where there is none.
std::string parse_os_name(std::string_view os_release, std::string otherwise);

/// Name and version of the C library, of Boost and of each filesystem's tools (`e2fsprogs`,
/// `xfsprogs`, `btrfs-progs`); the version is empty where the tool is missing. Runs the tools.
std::vector<std::pair<std::string, std::string>> software_versions();

/// The first line of what a tool says about its version, without its own name: `1.47.0` of
/// `mke2fs 1.47.0 (5-Feb-2023)`; empty where no word begins with a digit or with `v` and a digit.
std::string parse_tool_version(std::string_view text);

}  // namespace workload
