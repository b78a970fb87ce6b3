#include "workload/experiment/machine_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "storage/base/event_method.h"
#include "storage/base/units.h"
#include "workload/experiment/memory_limit.h"
#include "workload/filesystem/cache_device.h"
#include "workload/filesystem/cache_places.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/filesystem/filesystem_mount.h"
#include "workload/filesystem/modelled_device.h"
#include "workload/filesystem/scratch_folder.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

/// Of an image that a filesystem is tried on; mkfs writes a share of the size.
constexpr uint64_t kTrialBytesMax = storage::kMiB * 1024;
constexpr auto kTrialTimeMax = std::chrono::seconds(30);

}  // namespace

MachineCheck::MachineCheck(const ExperimentOptions& options, std::filesystem::path disk_program,
                           StopSignals* stop)
    : options_(options), disk_program_(std::move(disk_program)), stop_(stop) {
  if (options.memory.any()) no_memory_limit_ = why_no_memory_limit();
  no_mounts_ = why_built_without_mounts();
  if (!no_mounts_.empty()) return;
  if (geteuid() != 0) {
    no_mounts_ = "needs root";
  } else if (needs_root(options)) {
    const auto entered = enter_private_mounts();
    if (!entered) no_mounts_ = entered.error().text;
  }
}

std::string MachineCheck::why_not(const CellPlan& cell) {
  if (auto missing = why_no_system(cell.scheme); !missing.empty()) return missing;
  if (!no_memory_limit_.empty()) return no_memory_limit_;
  const std::string no_method = is_of_variant(cell) ? why_not_method(cell.event_method) : "";
  return no_method.empty() ? why_not_place(cell) : no_method;
}

std::string MachineCheck::why_not_method(const std::string& method) {
  const auto known = tried_methods_.find(method);
  if (known != tried_methods_.end()) return known->second;
  // All programs lie side by side.
  const auto proxy = disk_program_.parent_path() / "cacheoff-proxy";
  const std::filesystem::path variant = storage::event_method_program(proxy.string(), method);
  std::string& reason = tried_methods_[method];
  std::error_code failure;
  if (!std::filesystem::exists(variant, failure)) {
    reason = variant.filename().string() +
             " is not built; build it: cmake -DCACHEOFF_EVENT_METHODS=" + method;
  } else if (const auto tried = output_of(
                 {variant.string(), "--event-method", method, "--list-schemes"}, kTrialTimeMax);
             !tried) {
    reason = "the event method " + method + " does not work here: cacheoff-proxy --event-method " +
             method + " says why";
  }
  return reason;
}

std::string MachineCheck::why_not_place(const CellPlan& cell) {
  if (cell.filesystem.empty() || cell.filesystem == "here") return {};
  if (!no_mounts_.empty()) {
    return no_mounts_ == "needs root"
               ? (cell.filesystem == "tmpfs" ? "mounting tmpfs needs root"
                                             : "a device for " + cell.filesystem + " needs root")
               : no_mounts_;
  }
  if (stop_ != nullptr && stop_->received() != 0) return "stopped by a signal";
  if (is_on_modelled_disks(cell, options_)) {
    if (!no_disks_) no_disks_ = why_no_modelled_disk(disk_program_, stop_);
    if (!no_disks_->empty()) return *no_disks_;
  }
  const auto key = std::pair(cell.filesystem, cell.mount_options);
  const auto known = tried_.find(key);
  if (known != tried_.end()) return known->second;
  return tried_[key] = try_out(cell);
}

std::string MachineCheck::try_out(const CellPlan& cell) const {
  MountRequest request{cell.filesystem, "cacheoff", {}, cell.mount_options};
  if (cell.filesystem == "tmpfs") {
    const auto mounted = try_mount(request);
    return mounted ? std::string() : mounted.error().text;
  }
  const FilesystemKind* kind = find_filesystem_kind(cell.filesystem);
  // A bare device needs no trial where it is a real one.
  if (kind == nullptr && !options_.device_paths.empty()) return {};
  std::error_code failure;
  auto scratch = ScratchFolder::make(std::filesystem::temp_directory_path(failure));
  if (!scratch) return scratch.error().text;
  const uint64_t size =
      std::min(device_size_of_cell(cell, options_.cache_size_bytes), kTrialBytesMax);
  const auto device = make_image_device(*scratch, "trial.img", size);
  if (!device) return device.error().text;
  if (kind == nullptr) return {};
  request.source = (*device)->path();
  const auto command = mkfs_command(
      *kind, request.source, mkfs_options_for(options_, cell.filesystem), new_filesystem_id());
  if (!command) return command.error().text;
  if (auto made = run_mkfs(*command, scratch->path() / "mkfs.log", stop_); !made) {
    return made.error().text;
  }
  const auto mounted = try_mount(request);
  return mounted ? std::string() : mounted.error().text;
}

bool needs_root(const ExperimentOptions& options) {
  return std::any_of(options.filesystems.begin(), options.filesystems.end(),
                     [](const std::string& name) { return name != "here"; });
}

Expected<void> check_devices(const ExperimentOptions& options) {
  if (geteuid() != 0) return {};
  std::map<dev_t, std::string> known;
  for (const auto& path : options.device_paths) {
    if (auto checked = check_real_device(path); !checked) return checked;
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) continue;
    const auto [other, is_new] = known.emplace(status.st_rdev, path);
    if (!is_new) {
      return usage_problem("--device-path '" + path + "': is the same device as '" + other->second +
                           "'; each disk must be one of its own");
    }
  }
  return {};
}

Expected<void> check_device_sizes(const ExperimentOptions& options, const Plan& plan) {
  if (geteuid() != 0) return {};
  for (const auto& cell : plan.cells) {
    const uint64_t needed = device_size_of_cell(cell, options.cache_size_bytes);
    for (size_t i = 0; needed > 0 && i < std::min<size_t>(cell.disks, options.device_paths.size());
         ++i) {
      const auto& path = options.device_paths[i];
      const uint64_t size = block_device_size_bytes(path);
      if (size >= needed) continue;
      return usage_problem("--device-path '" + path + "': has " + storage::format_size(size) +
                           " where " + cell.name + " needs " + storage::format_size(needed) +
                           "; right would be a larger device or a smaller --cache-size");
    }
  }
  return {};
}

}  // namespace workload
