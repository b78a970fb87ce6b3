// Any I/O engine in a folder of its own, for tests that run over all of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "storage/io/engine_factory.h"
#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// How many descriptors the process has open.
inline size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += entry.is_symlink() ? 1 : 0;
  }
  return count;
}

/// Memory for direct transfers.
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t size_bytes)
      : data_(static_cast<std::byte*>(::operator new(size_bytes, kAlignment))),
        size_bytes_(size_bytes) {}
  ~AlignedBuffer() { ::operator delete(data_, kAlignment); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  std::span<std::byte> bytes() const { return {data_, size_bytes_}; }

 private:
  static constexpr std::align_val_t kAlignment{4096};
  std::byte* data_;
  size_t size_bytes_;
};

/// The engine, its folder, and the context that runs only inside these calls.
class EngineUnderTest {
 public:
  explicit EngineUnderTest(const storage::EngineChoice& choice)
      : io_(std::make_unique<boost::asio::io_context>(1)),
        buffers_(io_->get_executor(), 64 * 1024, 1 << 20),
        root_fd_(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    const storage::SchemeEnvironment environment{io_->get_executor(), clock_, buffers_};
    storage::EngineOrError made = storage::make_engine(choice, root_fd_, environment);
    if (made.engine == nullptr) throw std::runtime_error(made.error);
    engine_ = std::move(made.engine);
  }
  ~EngineUnderTest() {
    engine_.reset();
    ::close(root_fd_);
  }
  EngineUnderTest(const EngineUnderTest&) = delete;
  EngineUnderTest& operator=(const EngineUnderTest&) = delete;

  storage::IoEngine& engine() { return *engine_; }
  boost::asio::io_context& io() { return *io_; }
  std::filesystem::path path_of(const std::string& name) const { return folder_.path() / name; }

  template <class T>
  storage::Result<T> run(storage::Task<T> task) {
    return run_task(*io_, std::move(task));
  }
  /// An open file that has been made with this content.
  std::unique_ptr<storage::File> make_file(const std::string& name, std::string content) {
    auto file = run(engine_->open(name, storage::OpenMode::kCreateExclusive));
    if (file.has_error()) throw std::runtime_error(to_string(file.error()));
    const auto written = run((*file)->write(0, std::as_bytes(std::span(content))));
    if (written.has_error()) throw std::runtime_error(to_string(written.error()));
    return std::move(*file);
  }
  /// A file of `size_bytes` opened past the page cache; null where the filesystem refuses that.
  std::unique_ptr<storage::File> make_direct_file(const std::string& name, size_t size_bytes) {
    make_file(name, std::string(size_bytes, 'd'));
    auto file = run(engine_->open(name, storage::OpenMode::kReadWriteDirect));
    return file.has_value() ? std::move(*file) : nullptr;
  }

  double count(std::string_view name, std::string_view label = "") const {
    Counts counts;
    engine_->visit_counters(counts);
    return counts.of(name, label);
  }
  void destroy_engine() { engine_.reset(); }
  void destroy_context() { io_.reset(); }

 private:
  TempDir folder_;
  FakeClock clock_;
  std::unique_ptr<boost::asio::io_context> io_;
  storage::BufferPool buffers_;
  int root_fd_;
  std::unique_ptr<storage::IoEngine> engine_;
};

/// The engines that this kernel allows; the others are named on stderr.
inline std::vector<std::string> usable_engines() {
  std::vector<std::string> names;
  for (const std::string_view name : storage::engine_names()) {
    storage::EngineChoice choice;
    choice.name = name;
    try {
      const EngineUnderTest tested(choice);
      names.emplace_back(name);
    } catch (const std::runtime_error& refused) {
      std::fprintf(stderr, "not tested: %s\n", refused.what());
    }
  }
  return names;
}

}  // namespace testing_support
