// Paths at which nothing can ever be kept, told without opening anything.
#pragma once

#include <filesystem>
#include <string>

namespace storage {

/// Why nothing can ever be kept at `path`: something on the way is a file, a name is too long, it
/// would lie in a filesystem of the kernel's own such as /proc. Empty where something is or may be
/// there, and where that cannot be told. Any thread; blocks for a few stat(2).
std::string path_fault(const std::filesystem::path& path);

}  // namespace storage
