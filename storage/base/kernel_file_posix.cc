#include "storage/base/kernel_file.h"

namespace storage {

std::string read_kernel_file(const std::filesystem::path&) {
  return {};
}

std::vector<std::filesystem::path> kernel_folder_entries(const std::filesystem::path&) {
  return {};
}

bool kernel_files_are_read() {
  return false;
}

}  // namespace storage
