// A store that lives in one file, on a faulty engine.
#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "storage/io/blocking.h"
#include "storage/layout/ufs_scheme.h"
#include "storage/registry.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fault_engine.h"
#include "tests/support/gated_engine.h"
#include "tests/support/store_calls.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// Which of them, and how it is made.
struct VolumeKind {
  std::string scheme;
  std::map<std::string, std::string> options;
  size_t buffer_size_bytes = 0;
  /// With the engine of the specification.
  storage::SchemeOrError (*make)(const storage::SchemeSpec&, const storage::SchemeEnvironment&);
  /// With an engine of the test's.
  storage::SchemeOrError (*make_on)(const storage::SchemeSpec&, const storage::SchemeEnvironment&,
                                    const storage::EngineFactory&);
};

/// The store, its file and all around it. The io_context runs only inside these calls.
class VolumeUnderTest : public StoreCalls<VolumeUnderTest> {
 public:
  VolumeUnderTest(VolumeKind kind, uint64_t capacity_bytes, const std::filesystem::path& folder)
      : kind_(std::move(kind)),
        own_folder_(folder.empty() ? std::make_unique<TempDir>() : nullptr),
        buffers_(io_.get_executor(), kind_.buffer_size_bytes, 64 * kind_.buffer_size_bytes) {
    spec_.scheme = kind_.scheme;
    spec_.path =
        (own_folder_ != nullptr ? own_folder_->path() : folder) / ("store." + spec_.scheme);
    spec_.capacity_bytes = capacity_bytes;
    spec_.options = kind_.options;
  }

  FaultPlan plan;
  Gate gate;

  boost::asio::io_context& io() { return io_; }
  storage::SchemeSpec& spec() { return spec_; }
  storage::StorageScheme& scheme() { return *scheme_; }
  const std::filesystem::path& file() const { return spec_.path; }
  storage::SchemeEnvironment environment() {
    return storage::SchemeEnvironment{io_.get_executor(), clock_, buffers_};
  }
  storage::BufferPool& buffers() { return buffers_; }
  FakeClock& clock() { return clock_; }

  /// Destroys the scheme, if there is one, as a crash would, makes a new one and starts it.
  storage::Result<storage::RecoveryReport> start() {
    crash();
    storage::SchemeOrError made = kind_.make_on(
        spec_, environment(), [this](int directory_fd, const storage::SchemeEnvironment& outside) {
          auto inner = std::make_unique<storage::BlockingEngine>(outside.clock, directory_fd);
          return storage::EngineOrError(std::make_unique<GatedEngine>(
              std::make_unique<FaultEngine>(std::move(inner), plan), gate));
        });
    if (made.scheme == nullptr) throw std::runtime_error(made.error);
    scheme_ = std::move(made.scheme);
    return run(scheme_->start());
  }
  /// Makes the scheme from the specification as the registry does, with its own engine.
  storage::Result<storage::RecoveryReport> start_on_its_engine() {
    crash();
    storage::SchemeOrError made = kind_.make(spec_, environment());
    if (made.scheme == nullptr) throw std::runtime_error(made.error);
    scheme_ = std::move(made.scheme);
    return run(scheme_->start());
  }
  /// Destroys the scheme without a stop.
  void crash() {
    scheme_.reset();
    run_the_rest();
  }
  /// Lets it go on as far as it can.
  void run_what_can() {
    io_.restart();
    io_.poll();
  }

  /// Changes one byte of the file.
  void flip_byte(uint64_t offset_bytes, std::byte mask = std::byte{0xff}) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset_bytes));
    const auto flipped = static_cast<char>(static_cast<std::byte>(stream.get()) ^ mask);
    stream.seekp(static_cast<std::streamoff>(offset_bytes));
    stream.put(flipped);
  }

  /// The whole file, to be put back by write_image().
  std::string image() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write_image(const std::string& bytes) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  const VolumeKind kind_;
  std::unique_ptr<TempDir> own_folder_;
  FakeClock clock_;
  boost::asio::io_context io_;
  storage::BufferPool buffers_;
  storage::SchemeSpec spec_;
  std::unique_ptr<storage::StorageScheme> scheme_;
};

}  // namespace testing_support
