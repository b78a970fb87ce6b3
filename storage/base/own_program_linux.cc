#include "storage/base/own_program.h"

namespace storage {

void note_own_program(const char*) {}

std::filesystem::path own_program() {
  std::error_code failure;
  return std::filesystem::read_symlink("/proc/self/exe", failure);
}

}  // namespace storage
