// The file or block device of a coss store: whose it is, its lock and its size.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "storage/layout/coss_format.h"
#include "storage/layout/coss_options.h"
#include "storage/layout/volume_file.h"

namespace storage {

/// An open and locked file or device that holds a store or is about to. Its calls block. Closing
/// it gives the lock back.
class CossVolume {
 public:
  /// kUse creates, sizes and marks it where that is needed; with kInspect the geometry is the one
  /// found.
  using Access = VolumeFile::Access;

  /// Opens `path`: a file, which is made where there is none, a block device, or a folder, in
  /// which a file of fixed name is used. On failure the result is null and `error` one line for
  /// the user. What holds anything else than a store of these sizes is refused. `new_id` becomes
  /// the number of a store that is made.
  static std::unique_ptr<CossVolume> open(const std::filesystem::path& path,
                                          const CossOptions& options, uint64_t new_id,
                                          Access access, std::string& error);
  ~CossVolume() = default;
  CossVolume(const CossVolume&) = delete;
  CossVolume& operator=(const CossVolume&) = delete;

  /// As the options ask for.
  const CossGeometry& geometry() const { return geometry_; }
  /// Stripes that the store had when it was used last, as far as the file still has them; 0 where
  /// it was made by this open().
  uint32_t previous_stripe_count() const { return previous_stripe_count_; }
  /// The folder that holds the file, and the file's name in it.
  int directory_fd() const { return file_->directory_fd(); }
  const std::string& name() const { return file_->name(); }

  /// Makes the present number of stripes the store's, and a file as long as that needs.
  bool adopt_size();
  /// Whether the file is still where it was and as long as it has to be. False, with errno, where
  /// someone removed, replaced or cut it.
  bool in_place() const { return file_->in_place(file_size_bytes()); }
  /// Gives the lock back; others may use the store from now on.
  void unlock() { file_->unlock(); }

 private:
  CossVolume() = default;
  bool take_over(const CossOptions& options, Access access, uint64_t new_id, std::string& error);
  bool make_room(std::string& error);
  bool write_superblock();
  uint32_t stripes_present() const;
  uint64_t file_size_bytes() const;

  std::unique_ptr<VolumeFile> file_;
  uint64_t capacity_bytes_ = 0;
  CossGeometry geometry_;
  uint32_t previous_stripe_count_ = 0;
};

}  // namespace storage
