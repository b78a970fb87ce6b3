#include <cstddef>
#include <fstream>

#include "storage/base/kernel_file.h"

namespace storage {

namespace {

constexpr size_t kKernelFileBytesMax = 1 << 20;

}  // namespace

std::string read_kernel_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  char buffer[4096];
  while (text.size() < kKernelFileBytesMax && in.read(buffer, sizeof buffer).gcount() > 0) {
    text.append(buffer, static_cast<size_t>(in.gcount()));
  }
  return text;
}

std::vector<std::filesystem::path> kernel_folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code gone;
  for (std::filesystem::directory_iterator entry(folder, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    entries.push_back(entry->path());
  }
  return entries;
}

bool kernel_files_are_read() {
  return true;
}

}  // namespace storage
