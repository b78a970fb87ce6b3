// What a portable build has not: mounts, loop devices, modelled disks and groups of processes. What
// asks for one of them gets the reason; what clears them up finds none.
#include <utility>

#include "workload/filesystem/cache_device.h"
#include "workload/filesystem/disk_program.h"
#include "workload/filesystem/filesystem_mount.h"
#include "workload/filesystem/loop_device.h"
#include "workload/filesystem/memory_cgroup.h"
#include "workload/filesystem/modelled_device.h"
#include "workload/filesystem/mount_arguments.h"

namespace workload {
namespace {

Problem built_without(const std::string& what) {
  return run_problem("cacheoff is built without " + what + " (it is a portable build)");
}

}  // namespace

std::string why_built_without_mounts() {
  return built_without("filesystems on devices").text;
}

Expected<void> enter_private_mounts() {
  return built_without("mounts");
}

Expected<void> try_mount(const MountRequest&) {
  return built_without("mounts");
}

Expected<FilesystemMount> FilesystemMount::mount(const MountRequest&) {
  return built_without("mounts");
}

FilesystemMount::FilesystemMount(FilesystemMount&& other) noexcept = default;
FilesystemMount& FilesystemMount::operator=(FilesystemMount&& other) noexcept = default;
FilesystemMount::~FilesystemMount() = default;

void unmount_wherever_used(const std::filesystem::path&) noexcept {}

MountArguments mount_arguments(std::string_view) {
  return {};
}

bool is_mount_attribute(std::string_view) {
  return false;
}

std::vector<std::string> loop_devices_over(const std::filesystem::path&) {
  return {};
}

Expected<void> detach_loop_device(const std::string&) {
  return built_without("loop devices");
}

void set_loop_medium(const std::string&, bool) noexcept {}

Expected<void> limit_dirty_memory(const std::string&, uint64_t) {
  return built_without("loop devices");
}

void reset_idle_loop_devices() noexcept {}

Expected<std::unique_ptr<CacheDevice>> make_image_device(ScratchFolder&, const std::string&,
                                                         uint64_t) {
  return built_without("loop devices");
}

Expected<std::unique_ptr<CacheDevice>> open_real_device(const std::string&, uint64_t) {
  return built_without("devices");
}

Expected<void> check_real_device(const std::string&) {
  return built_without("devices");
}

uint64_t block_device_size_bytes(const std::string&) {
  return 0;
}

boost::json::object describe_cache_device(CacheDevice&) {
  return {};
}

void flush_device(const std::string&) noexcept {}

Expected<std::unique_ptr<CacheDevice>> make_modelled_device(ScratchFolder&, const std::string&,
                                                            DiskProgramRequest) {
  return built_without("modelled disks");
}

std::string why_no_modelled_disk(const std::filesystem::path&, StopSignals*) {
  return built_without("modelled disks").text;
}

std::vector<std::string> disk_command(const DiskProgramRequest&) {
  return {};
}

DiskProgram::~DiskProgram() = default;

Expected<void> DiskProgram::set_fast(bool) {
  return built_without("modelled disks");
}

Expected<boost::json::object> DiskProgram::status() {
  return built_without("modelled disks");
}

Expected<MemoryHierarchy> find_memory_hierarchy() {
  return built_without("limits on memory");
}

Expected<MemoryCgroup> MemoryCgroup::make(const MemoryHierarchy&, const std::string&, uint64_t) {
  return built_without("limits on memory");
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept = default;
MemoryCgroup& MemoryCgroup::operator=(MemoryCgroup&& other) noexcept = default;
MemoryCgroup::~MemoryCgroup() = default;

Expected<uint64_t> MemoryCgroup::set_limit(uint64_t) {
  return built_without("limits on memory");
}

std::optional<MemoryUse> MemoryCgroup::look() const {
  return std::nullopt;
}

std::string cgroup_name() {
  return "none";
}

std::optional<ProcessIdentity> cgroup_owner(std::string_view) {
  return std::nullopt;
}

bool remove_cgroup(const std::filesystem::path&) noexcept {
  return true;
}

size_t remove_dead_cgroups(const MemoryHierarchy&) noexcept {
  return 0;
}

}  // namespace workload
