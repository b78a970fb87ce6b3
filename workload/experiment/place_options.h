// The options of `cacheoff bench` that say where caches live, on what, and with how much memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"

namespace workload {

/// The parts of comma-separated lists in the order given; one that is there twice is refused, since
/// it would be run once and look as if it had been run twice.
Expected<std::vector<std::string>> list_of_different(std::string_view option,
                                                     const std::vector<std::string>& values);

/// Setters for the option table; each checks the values of the option that it is named after.
Expected<void> set_filesystems(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_mounts(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_mkfs(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_disks(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_device_paths(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_device(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_dirty_limit(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_fast_fill(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_user(ExperimentOptions& options, const std::vector<std::string>& values);
Expected<void> set_memory(ExperimentOptions& options, const std::vector<std::string>& values);

/// Whether `--device`, `--dirty-limit` and `--fast-fill` fit the other options.
Expected<void> check_device_options(const ExperimentOptions& options);

/// By how much modelled disks are faster than their profile says: as fast as all other times; 1 for
/// a trace that is replayed as fast as can be.
double device_time_scale(const ExperimentOptions& options);

/// Names of the filesystems that can be asked for, separated by blanks.
std::string filesystem_names();

/// Whether cacheoff mounts it, so that it takes mount options.
bool is_mounted_filesystem(std::string_view name);

}  // namespace workload
