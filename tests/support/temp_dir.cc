#include "tests/support/temp_dir.h"

#include <stdlib.h>

#include <stdexcept>
#include <system_error>

namespace testing_support {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "cacheoff-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a temporary folder " + name);
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // A leftover folder must not turn a passed test into an abort.
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace testing_support
