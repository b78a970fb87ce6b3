// What the kernel tells in files (/proc, /sys), where it does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace storage {

/// Content of such a file, at most 1 MiB; empty where there is none, or where the build reads none.
/// Any thread.
std::string read_kernel_file(const std::filesystem::path& path);

/// Paths of what is in such a folder; none where there is none, or where the build reads none.
std::vector<std::filesystem::path> kernel_folder_entries(const std::filesystem::path& folder);

/// Whether what is not found in there is not there. False in a portable build: then it is not
/// known.
bool kernel_files_are_read();

}  // namespace storage
