#include "storage/base/path_fault.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "storage/base/kernel_folder.h"

namespace storage {

std::string path_fault(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return {};
  if (errno == ENOTDIR || errno == ENAMETOOLONG || errno == ELOOP) {
    return std::generic_category().message(errno);
  }
  if (errno != ENOENT) return {};
  // What would have to be made: in the nearest folder that is there.
  std::error_code failure;
  std::filesystem::path folder = std::filesystem::absolute(path, failure).parent_path();
  while (folder.has_relative_path() && ::stat(folder.c_str(), &status) != 0) {
    folder = folder.parent_path();
  }
  return is_of_the_kernel(folder) ? folder.string() + " is of the kernel, and keeps no files"
                                  : std::string();
}

}  // namespace storage
