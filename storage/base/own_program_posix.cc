#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "storage/base/own_program.h"

namespace storage {

namespace {

std::filesystem::path& noted_program() {
  static std::filesystem::path path;
  return path;
}

// As a shell finds a command; empty where it does not.
std::filesystem::path found_in_path(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  std::istringstream list(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    const auto candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace

void note_own_program(const char* called_by) {
  const std::string name = called_by == nullptr ? "" : called_by;
  const std::filesystem::path path =
      name.find('/') == std::string::npos ? found_in_path(name) : std::filesystem::path(name);
  std::error_code failure;
  // Now, as the current folder may be another one later.
  noted_program() = path.empty() ? path : std::filesystem::canonical(path, failure);
}

std::filesystem::path own_program() {
  return noted_program();
}

}  // namespace storage
