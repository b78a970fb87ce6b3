// The files of the pattern: which there are, how large each is, and every byte of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/base/random.h"

namespace webproxy {

/// Mean size of a file, as in filebench's webproxy.f.
inline constexpr uint64_t kFileSizeMean = 16 * 1024;
/// No file is larger; about one in 10^10 would be.
inline constexpr uint64_t kFileSizeMax = 256 * 1024;
/// Of the names, those whose files are there at the start, in percent (filebench: prealloc=80).
inline constexpr uint64_t kPresentPercent = 80;

/// A file that was created for the `version`-th time under the name of its number.
struct FileVersion {
  uint32_t number = 0;
  uint32_t version = 0;

  friend bool operator==(const FileVersion& left, const FileVersion& right) = default;
};

/// What files hold: size and bytes are a function of the seed and of number and version alone.
/// Immutable; safe from any thread.
class FileContent {
 public:
  explicit FileContent(uint64_t seed);

  /// A sample of the gamma distribution of shape 1.5 and mean kFileSizeMean, 1 to kFileSizeMax.
  uint64_t size_bytes(FileVersion file) const;
  /// The whole file; the memory is this object's.
  std::span<const std::byte> bytes(FileVersion file) const;
  /// Whether `read` is the whole file and nothing else.
  bool matches(FileVersion file, std::span<const std::byte> read) const;

 private:
  storage::Random dice_of(FileVersion file) const;

  uint64_t seed_;
  std::vector<std::byte> block_;  ///< Random bytes; a file is a part of it.
};

/// Which files are there and which of them nobody uses. A file that was taken belongs to who took
/// it until it is given back: no two users ever have the same one. One thread at a time.
class FileSet {
 public:
  /// Names 0 to `names` - 1, of which the first `present` have a file of version 0. Both at least
  /// 1, and at most kNamesMax.
  FileSet(uint32_t names, uint32_t present);

  static constexpr uint32_t kNamesMax = 5'000'000;

  /// Takes one of the files that are there, all equally likely. There must be an idle one.
  FileVersion take_present(storage::Random& dice);
  /// Takes a name without a file, with the version that its next file has. There must be one.
  FileVersion take_absent(storage::Random& dice);
  /// Gives a file back that is there.
  void give_present(FileVersion file);
  /// Gives a name back whose file was deleted.
  void give_absent(FileVersion file);

  size_t idle_present() const { return present_.size(); }
  size_t idle_absent() const { return absent_.size(); }

 private:
  std::vector<uint32_t> versions_;  ///< Of each name, the version that it has or will have next.
  std::vector<uint32_t> present_;
  std::vector<uint32_t> absent_;
};

/// The file's name, eight digits: all files of a place lie in one folder.
std::string file_name(FileVersion file);

}  // namespace webproxy
