// A group of processes whose memory the kernel counts and limits, page cache included.
//
// Linux has two interfaces for it, and both are known here: version 1 with a hierarchy for memory
// alone, version 2 with one hierarchy for everything. A group is a folder there; it holds nothing
// once its processes are gone, and never outlives a reboot.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/mount_table.h"
#include "workload/filesystem/run_journal.h"

namespace workload {

/// Where groups are made.
struct MemoryHierarchy {
  unsigned version = 1;        ///< 1 or 2.
  std::filesystem::path root;  ///< Its topmost group that this process sees.
};

/// Version 1 where its hierarchy for memory is mounted, else version 2 where that can limit memory.
/// A Problem where there is neither.
Expected<MemoryHierarchy> find_memory_hierarchy(const std::vector<MountEntry>& mounts);
/// Among the mounts of this process.
Expected<MemoryHierarchy> find_memory_hierarchy();

/// What a group uses at one moment, in bytes.
struct MemoryUse {
  uint64_t usage_bytes = 0;       ///< All that the limit is compared with.
  uint64_t peak_bytes = 0;        ///< The most that it ever was; 0 where this kernel has no record.
  uint64_t page_cache_bytes = 0;  ///< Pages of files, which give way; not those of tmpfs.
  /// What can't give way: memory of the processes, shared memory, and files on a tmpfs.
  uint64_t process_bytes = 0;
  uint64_t kernel_bytes = 0;    ///< Inodes, stacks, page tables; with version 2 also sockets.
  uint64_t times_at_limit = 0;  ///< How often the group was at its limit since it was made.
  bool frozen = false;          ///< Its processes wait for memory that there is not.
};

/// A group that goes with the object. Movable.
class MemoryCgroup {
 public:
  /// Makes a group of that name (a cgroup_name(), which no other has; one that is there is taken)
  /// with that limit. The Problem names the file that could not be written; nothing is left then.
  ///
  /// Version 1: the limit is hard, and the kernel's killer is off, so that a group that runs out
  /// freezes instead, until the limit is raised. Version 2 can't do that: its limit is the one that
  /// slows down what is above it (`memory.high`), so that for moments a bit more can be in use.
  static Expected<MemoryCgroup> make(const MemoryHierarchy& hierarchy, const std::string& name,
                                     uint64_t limit_bytes);

  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&& other) noexcept;
  ~MemoryCgroup();

  unsigned version() const { return version_; }
  const std::filesystem::path& path() const { return path_; }
  /// The file that a process writes `0` to in order to be in the group, with all that it starts.
  std::filesystem::path entrance() const { return path_ / "cgroup.procs"; }

  /// Sets the limit and returns the one in force as the kernel gives it back, rounded to pages.
  Expected<uint64_t> set_limit(uint64_t limit_bytes);
  /// Nothing where the group can't be looked at.
  std::optional<MemoryUse> look() const;

 private:
  MemoryCgroup(unsigned version, std::filesystem::path path)
      : version_(version), path_(std::move(path)) {}
  void remove() noexcept;

  unsigned version_ = 1;
  std::filesystem::path path_;  ///< Empty where there is none any more.
};

/// A name that no other group has: `cacheoff-`, the number and the start of this process, and how
/// many names it took before.
std::string cgroup_name();

/// Whose group that is, by its name; nothing where it is no cgroup_name().
std::optional<ProcessIdentity> cgroup_owner(std::string_view name);

/// Ends what runs in a group that a dead runner made, and removes it. False where it is still
/// there; true where it never was.
bool remove_cgroup(const std::filesystem::path& path) noexcept;

/// Removes the groups in a hierarchy that nobody is in and whose makers are dead; returns how many.
size_t remove_dead_cgroups(const MemoryHierarchy& hierarchy) noexcept;

}  // namespace workload
