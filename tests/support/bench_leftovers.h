// What a bench may leave on the machine, looked for from outside.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace testing_support {

/// Mounts and loop devices below the folder, in whatever mount namespace, processes that name it,
/// modelled disks that were killed and can't end, scratch folders in it, and notes in its folder
/// `state` (CACHEOFF_STATE_DIR). One line each.
std::vector<std::string> bench_leftovers(const std::filesystem::path& folder);

}  // namespace testing_support
