// The file or block device of a coss store: whose it is, its lock and its size.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "storage/layout/coss_format.h"
#include "storage/layout/coss_options.h"

namespace storage {

/// An open and locked file or device that holds a store or is about to. Its calls block. Closing
/// it gives the lock back.
class CossVolume {
 public:
  enum class Access {
    kUse,      ///< Creates, sizes and marks it where that is needed.
    kInspect,  ///< Changes nothing; the geometry is the one found.
  };

  /// Opens `path`: a file, which is made where there is none, a block device, or a folder, in
  /// which a file of fixed name is used. On failure the result is null and `error` one line for
  /// the user. What holds anything else than a store of these sizes is refused. `new_id` becomes
  /// the number of a store that is made.
  static std::unique_ptr<CossVolume> open(const std::filesystem::path& path,
                                          const CossOptions& options, uint64_t new_id,
                                          Access access, std::string& error);
  ~CossVolume();
  CossVolume(const CossVolume&) = delete;
  CossVolume& operator=(const CossVolume&) = delete;

  /// As the options ask for.
  const CossGeometry& geometry() const { return geometry_; }
  /// Stripes that the store had when it was used last; 0 where it was made by this open().
  uint32_t previous_stripe_count() const { return previous_stripe_count_; }
  /// The folder that holds the file, and the file's name in it.
  int directory_fd() const { return directory_fd_; }
  const std::string& name() const { return name_; }

  /// Makes the present number of stripes the store's, and a file as long as that needs.
  bool adopt_size();
  /// Gives the lock back; others may use the store from now on.
  void unlock();

 private:
  CossVolume() = default;
  bool open_file(const std::filesystem::path& path, Access access, std::string& error);
  bool take_over(const CossOptions& options, Access access, uint64_t new_id, std::string& error);
  bool make_room(std::string& error);
  bool write_superblock();
  uint64_t size_bytes() const;

  std::string shown_path_;
  int directory_fd_ = -1;
  int fd_ = -1;
  std::string name_;
  bool device_ = false;
  bool made_ = false;
  uint64_t capacity_bytes_ = 0;
  CossGeometry geometry_;
  uint32_t previous_stripe_count_ = 0;
};

}  // namespace storage
