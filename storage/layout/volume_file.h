// The file or block device of a store that lives in one of them: finding it, its lock, its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace storage {

/// An open and locked file or device. Its calls block. Closing it gives the lock back.
class VolumeFile {
 public:
  enum class Access {
    kUse,      ///< Makes the file where there is none.
    kInspect,  ///< Changes nothing.
  };

  /// Opens `path`: a file, a block device, or a folder, in which the file `name_in_folder` is
  /// used. Links are followed. On failure the result is null and `error` one line for the user.
  static std::unique_ptr<VolumeFile> open(const std::filesystem::path& path,
                                          std::string_view name_in_folder, Access access,
                                          std::string& error);
  ~VolumeFile();
  VolumeFile(const VolumeFile&) = delete;
  VolumeFile& operator=(const VolumeFile&) = delete;

  /// The folder that holds the file, and the file's name in it.
  int directory_fd() const { return directory_fd_; }
  const std::string& name() const { return name_; }
  /// `path=…`, the beginning of every complaint.
  const std::string& shown_path() const { return shown_path_; }
  bool device() const { return device_; }
  uint64_t size_bytes() const;

  /// Reads from the beginning, as much as there is; how many bytes, or -1 and errno.
  int64_t read_front(std::span<std::byte> out) const;
  /// Writes at `offset_bytes` and brings it to the disk. False, with errno, on failure.
  bool write(uint64_t offset_bytes, std::span<const std::byte> bytes) const;
  /// Makes a file at least `wanted_bytes` long, with all of its blocks, so that nothing written to
  /// it later meets a full filesystem; a device must be as long already. On failure `error` is one
  /// line for the user, in which `asked_bytes` is the capacity that was asked for.
  bool make_room(uint64_t wanted_bytes, uint64_t asked_bytes, std::string& error) const;
  /// Cuts a file that is longer; a device stays as it is. False, with errno, on failure.
  bool shorten(uint64_t wanted_bytes) const;
  /// Whether the name still leads to this file, and the file is at least `wanted_bytes` long: what
  /// was put into a file that someone removed or cut is lost. False, with errno, where it is not.
  bool in_place(uint64_t wanted_bytes) const;
  /// Removes the file if open() has made it: an empty one is of no use to anybody.
  void remove_if_made() const;
  /// Gives the lock back; others may use the store from now on.
  void unlock();

 private:
  VolumeFile() = default;
  bool holds_usable_place(const std::filesystem::path& folder, Access access,
                          std::string& error) const;
  bool open_file(const std::filesystem::path& path, std::string_view name_in_folder, Access access,
                 std::string& error);

  std::string shown_path_;
  int directory_fd_ = -1;
  int fd_ = -1;
  std::string name_;
  bool device_ = false;
  bool made_ = false;
};

}  // namespace storage
