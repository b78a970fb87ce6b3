// Folders that are a window on the kernel, and keep no files.
#pragma once

#include <filesystem>

namespace storage {

/// Whether the folder belongs to the kernel (/proc, /sys), so that no file can be made in it. False
/// where that is not known. Any thread.
bool is_of_the_kernel(const std::filesystem::path& folder);

}  // namespace storage
