// A filesystem mounted for a run where nobody else sees it, gone when the runner is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/mount_table.h"

namespace workload {

/// Why this build can mount nothing, whoever runs it; empty where it can.
std::string why_built_without_mounts();

/// Gives this process (one thread) and the children it starts from now on a mount namespace of
/// their own: what they mount is invisible to others and vanishes with the last of them, even when
/// they are killed. Needs root; a Problem otherwise.
Expected<void> enter_private_mounts();

/// What is mounted, and how.
struct MountRequest {
  std::string filesystem;             ///< `ext4`, as /proc/filesystems has it.
  std::string source;                 ///< The block device; `cacheoff` where there is none.
  std::filesystem::path mount_point;  ///< An empty folder that is there.
  std::string options;                ///< Comma-separated; empty is the kernel's own choice.
};

/// Whether the kernel knows the filesystem and takes the options, without a mount point. The
/// Problem says what the kernel said.
Expected<void> try_mount(const MountRequest& request);

/// A mounted filesystem. Movable; the destructor unmounts it.
class FilesystemMount {
 public:
  /// A Problem names the options, and has what the kernel said of them.
  static Expected<FilesystemMount> mount(const MountRequest& request);

  FilesystemMount(FilesystemMount&& other) noexcept;
  FilesystemMount& operator=(FilesystemMount&& other) noexcept;
  ~FilesystemMount();

  const std::filesystem::path& path() const { return mount_point_; }
  /// What the kernel made of the options, as the mount table says.
  const std::string& options_in_force() const { return options_in_force_; }
  /// What became of each option that was asked for.
  const std::vector<OptionOutcome>& outcomes() const { return outcomes_; }

 private:
  FilesystemMount() = default;
  void unmount() noexcept;

  std::filesystem::path mount_point_;
  std::string options_in_force_;
  std::vector<OptionOutcome> outcomes_;
};

/// Unmounts what is mounted there. Waits a moment for the last files there to be closed; what is
/// still open then keeps the filesystem until it is closed, but nobody finds it any more.
void unmount_wherever_used(const std::filesystem::path& mount_point) noexcept;

}  // namespace workload
