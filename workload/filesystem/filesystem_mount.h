// A tmpfs of its own for a run: mounted where nobody else sees it, gone when the runner is.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"

namespace workload {

/// Gives this process (one thread) and the children it starts from now on a mount namespace of
/// their own: what they mount is invisible to others and vanishes with the last of them, even when
/// they are killed. Needs root; a Problem otherwise.
Expected<void> enter_private_mounts();

/// A mounted tmpfs. Movable; the destructor unmounts it and removes the mount point.
class TmpfsMount {
 public:
  /// Makes the folder `mount_point` (its parent must exist) and mounts a tmpfs there with the
  /// comma-separated options, or the kernel's own choice where they are empty. A Problem names the
  /// options that the kernel refused.
  static Expected<TmpfsMount> mount(const std::filesystem::path& mount_point,
                                    std::string_view options);

  TmpfsMount(TmpfsMount&& other) noexcept;
  TmpfsMount& operator=(TmpfsMount&& other) noexcept;
  ~TmpfsMount();

  const std::filesystem::path& path() const { return mount_point_; }
  /// What the kernel made of the options, as the mount table says.
  const std::string& options_in_force() const { return options_in_force_; }
  /// One line for each option that the kernel ignored or changed.
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  TmpfsMount() = default;
  void unmount() noexcept;

  std::filesystem::path mount_point_;
  std::string options_in_force_;
  std::vector<std::string> differences_;
};

}  // namespace workload
