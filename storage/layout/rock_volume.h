// The file or block device of a rock store: whose it is, its lock and its size.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "storage/layout/rock_format.h"
#include "storage/layout/rock_options.h"
#include "storage/layout/volume_file.h"

namespace storage {

/// An open and locked file or device that holds a store or is about to. Its calls block.
class RockVolume {
 public:
  /// kUse makes, sizes and marks the file where that is needed; with kInspect the geometry is the
  /// one found, and `options` are not looked at.
  using Access = VolumeFile::Access;

  /// Opens `path` (see VolumeFile). On failure the result is null and `error` one line for the
  /// user. What holds anything else than a rock store of this version and slot size is refused.
  /// `new_id` becomes the number of a store that is made.
  static std::unique_ptr<RockVolume> open(const std::filesystem::path& path,
                                          const RockOptions& options, uint64_t new_id,
                                          Access access, std::string& error);

  /// As the options ask for.
  const RockGeometry& geometry() const { return geometry_; }
  /// Slots that the store had when it was used last; 0 where it was made by this open().
  uint32_t previous_slot_count() const { return previous_slot_count_; }
  int directory_fd() const { return file_->directory_fd(); }
  const std::string& name() const { return file_->name(); }

  /// Makes the present number of slots the store's, and a file as long as that needs. False, with
  /// errno, on failure.
  bool adopt_size();
  /// Whether the file is still where it was and as long as it has to be. False, with errno, where
  /// someone removed, replaced or cut it.
  bool in_place() const { return file_->in_place(geometry_.file_size_bytes()); }
  /// Gives the lock back; others may use the store from now on.
  void unlock() { file_->unlock(); }

 private:
  RockVolume() = default;
  bool take_over(const RockOptions& options, Access access, uint64_t new_id, std::string& error);
  bool write_superblock();

  std::unique_ptr<VolumeFile> file_;
  RockGeometry geometry_;
  uint32_t previous_slot_count_ = 0;
};

}  // namespace storage
