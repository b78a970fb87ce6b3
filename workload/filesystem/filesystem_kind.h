// The filesystems that cacheoff makes on block devices, and how each is made.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"

namespace workload {

/// A filesystem that a program of the system makes.
struct FilesystemKind {
  std::string_view name;     ///< As the kernel knows it: `ext4`.
  std::string_view program;  ///< `mkfs.ext4`.
  std::string_view package;  ///< Debian's package that has the program.
  /// Before the options of the user, which go before them where the program takes the last.
  std::array<std::string_view, 4> arguments;
  std::string_view id_option;  ///< Sets the identity; `-U`.
  std::string_view id_prefix;  ///< Stands before the identity in the same word; `uuid=`.
  uint64_t size_bytes_min;     ///< What the program refuses to go below.
  uint64_t overhead_bytes;     ///< Its own tables and journal, beside what grows with the content.
};

/// ext2, ext3, ext4, xfs and btrfs.
std::span<const FilesystemKind> filesystem_kinds();

/// The kind of that name, or null.
const FilesystemKind* find_filesystem_kind(std::string_view name);

/// Size of a device on which the cache of `cache_bytes` is no more than two thirds: files are
/// larger on disk than in the cache's account, and a full filesystem is another experiment. A
/// multiple of 1 MiB.
uint64_t device_size_bytes(const FilesystemKind& kind, uint64_t cache_bytes);

/// A new identity (UUID) that is_own_filesystem_id() recognises.
std::string new_filesystem_id();

/// Whether cacheoff gave a filesystem this identity.
bool is_own_filesystem_id(std::string_view id);

/// `mkfs.ext4 -q … DEVICE` with the path of the program. `options` are words separated by blanks.
/// A Problem where the program is not installed, with the package that has it.
Expected<std::vector<std::string>> mkfs_command(const FilesystemKind& kind,
                                                const std::string& device, std::string_view options,
                                                const std::string& id);

/// Runs such a command; what it prints goes to the file `log`, and its last words into the Problem.
/// `stop` (may be null) ends it.
Expected<void> run_mkfs(const std::vector<std::string>& command, const std::filesystem::path& log,
                        StopSignals* stop);

/// Full path of a program of the system: in PATH, or where programs of root are; empty where it is
/// in neither.
std::string find_program(std::string_view name);

/// Splits at blanks.
std::vector<std::string> split_words(std::string_view text);

}  // namespace workload
