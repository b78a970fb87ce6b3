// A ufs store on a faulty engine, with a look at what it leaves on disk.
#pragma once

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "storage/layout/ufs_directory.h"
#include "storage/layout/ufs_scheme.h"
#include "tests/support/engine_under_test.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fault_engine.h"
#include "tests/support/gated_engine.h"
#include "tests/support/store_calls.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// The store, its folder and all around it. The io_context runs only inside these calls.
class UfsUnderTest : public StoreCalls<UfsUnderTest> {
 public:
  /// In a folder of its own, or in `folder`, which is then left as it is.
  explicit UfsUnderTest(uint64_t capacity_bytes = 8 << 20, size_t buffer_size_bytes = 16 * 1024,
                        const std::filesystem::path& folder = {})
      : own_folder_(folder.empty() ? std::make_unique<TempDir>() : nullptr),
        buffers_(io_.get_executor(), buffer_size_bytes, 64 * buffer_size_bytes) {
    spec_.scheme = "ufs";
    spec_.path = own_folder_ != nullptr ? own_folder_->path() : folder;
    spec_.capacity_bytes = capacity_bytes;
    spec_.options = {{"l1", "2"}, {"l2", "2"}};
  }

  FaultPlan plan;
  Gate gate;
  /// What the store had to say for a log.
  std::vector<std::string> events;
  /// What the store runs on from the next start() on.
  storage::EngineChoice engine = engine_named("blocking");

  static storage::EngineChoice engine_named(std::string name) {
    storage::EngineChoice choice;
    choice.name = std::move(name);
    choice.threads = 4;
    return choice;
  }

  boost::asio::io_context& io() { return io_; }
  storage::SchemeSpec& spec() { return spec_; }
  storage::StorageScheme& scheme() { return *scheme_; }
  storage::SchemeEnvironment environment() {
    return storage::SchemeEnvironment{
        io_.get_executor(), clock_, buffers_, 1, 128, [this](const std::string& line) {
          events.push_back(line);
        }};
  }
  const std::filesystem::path& folder() const { return spec_.path; }

  /// Destroys the scheme, if there is one, as a crash would, makes a new one and starts it.
  storage::Result<storage::RecoveryReport> start() {
    crash();
    storage::SchemeOrError made = storage::make_file_per_object(
        "ufs", spec_, environment(),
        [this](int directory_fd,
               const storage::SchemeEnvironment& outside) -> storage::EngineOrError {
          auto inner = storage::make_engine(engine, directory_fd, outside);
          if (inner.engine == nullptr) return inner;
          return std::make_unique<FaultEngine>(
              std::make_unique<GatedEngine>(std::move(inner.engine), gate), plan);
        });
    if (made.scheme == nullptr) throw std::runtime_error(made.error);
    scheme_ = std::move(made.scheme);
    return run(scheme_->start());
  }
  /// Destroys the scheme without a stop.
  void crash() {
    scheme_.reset();
    run_the_rest();
  }
  /// Object files, or with `temporary` the unfinished ones.
  std::vector<std::filesystem::path> files(bool temporary = false) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
      const bool in_level_two = entry.path().parent_path().parent_path() != folder() &&
                                entry.path().parent_path() != folder();
      if (!entry.is_regular_file() || !in_level_two) continue;
      if ((entry.path().extension() == ".tmp") == temporary) found.push_back(entry.path());
    }
    return found;
  }
  /// What the filesystem has given to the object files.
  uint64_t allocated_bytes() const {
    uint64_t sum = 0;
    for (const std::filesystem::path& path : files()) {
      struct stat status {};
      if (::stat(path.c_str(), &status) == 0) sum += static_cast<uint64_t>(status.st_blocks) * 512;
    }
    return sum;
  }

 private:
  std::unique_ptr<TempDir> own_folder_;
  FakeClock clock_;
  boost::asio::io_context io_;
  storage::BufferPool buffers_;
  storage::SchemeSpec spec_;
  std::unique_ptr<storage::StorageScheme> scheme_;
};

/// The engines that the layout runs on.
inline std::vector<std::string> engines_of_ufs() {
  std::vector<std::string> names = usable_engines();
  std::erase_if(names,
                [](const std::string& name) { return name == "libaio" || name == "posix_aio"; });
  return names;
}

/// Changes one byte of a file.
inline void flip_byte(const std::filesystem::path& path, uint64_t offset_bytes,
                      std::byte mask = std::byte{0x10}) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset_bytes));
  const int old = file.get();
  file.seekp(static_cast<std::streamoff>(offset_bytes));
  file.put(static_cast<char>(static_cast<unsigned char>(old) ^ std::to_integer<int>(mask)));
}

}  // namespace testing_support
