#include "storage/base/kernel_folder.h"

namespace storage {

// POSIX does not say what a filesystem is: making a file will fail with a reason of its own.
bool is_of_the_kernel(const std::filesystem::path&) {
  return false;
}

}  // namespace storage
