// Every scheme of the registry, and combinations of them, made and restarted alike for tests.
#pragma once

#include <gtest/gtest.h>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "storage/layout/directories.h"
#include "storage/layout/memory_front.h"
#include "storage/registry.h"
#include "tests/support/fake_clock.h"
#include "tests/support/store_calls.h"
#include "tests/support/temp_dir.h"

namespace testing_support {

/// A scheme of the registry, alone or behind a memory front, or several as one.
struct SchemeCase {
  std::string name;    ///< Of the case, for test names.
  std::string scheme;  ///< As its info() says: of the registry row, or of several.
  bool persistent = false;
  bool needs_path = false;
  bool has_folders = false;  ///< Takes l1 and l2, the numbers of its folders.
  bool has_stripes = false;  ///< Takes stripe-size, and holds no object larger than that.
  bool behind_memory = false;
  std::map<std::string, std::string> options{};  ///< Beside those that every case gets.
  std::vector<SchemeCase> directories{};  ///< What there is instead, each with a share of all.
  friend std::ostream& operator<<(std::ostream& out, const SchemeCase& scheme_case) {
    return out << scheme_case.name;
  }
};

/// The name of a case, as INSTANTIATE_TEST_SUITE_P takes it.
inline std::string case_name(const ::testing::TestParamInfo<SchemeCase>& instance) {
  return instance.param.name;
}

/// Two of `cases`, by their names, as one store.
inline SchemeCase case_of_two(const std::vector<SchemeCase>& cases, const std::string& first,
                              const std::string& second) {
  SchemeCase made;
  made.name = "directories_" + first + "_" + second;
  made.scheme = first == second ? first : first + "+" + second;
  made.persistent = true;
  for (const std::string& name : {first, second}) {
    made.directories.push_back(*std::ranges::find(cases, name, &SchemeCase::name));
    made.persistent = made.persistent && made.directories.back().persistent;
  }
  return made;
}

/// Every row of the registry alone, every row that can hold something behind a memory front,
/// and several directories.
inline std::vector<SchemeCase> all_scheme_cases() {
  std::vector<SchemeCase> cases;
  for (const storage::SchemeRow& row : storage::registry()) {
    SchemeCase made;
    made.name = made.scheme = std::string(row.name);
    made.persistent = row.persistent;
    made.needs_path = row.needs_path;
    made.has_folders = std::ranges::any_of(
        row.options, [](const storage::SchemeOption& option) { return option.name == "l1"; });
    made.has_stripes = std::ranges::any_of(row.options, [](const storage::SchemeOption& option) {
      return option.name == "stripe-size";
    });
    cases.push_back(made);
    if (!row.needs_size) continue;
    made.name += "_behind_memory";
    made.behind_memory = true;
    cases.push_back(made);
  }
  cases.push_back(case_of_two(cases, "ufs", "ufs"));
  cases.push_back(case_of_two(cases, "ufs", "memory"));
  return cases;
}

/// The cases that hold objects; with `persistent_only`, over a restart too.
inline std::vector<SchemeCase> holding_scheme_cases(bool persistent_only = false) {
  std::vector<SchemeCase> cases = all_scheme_cases();
  std::erase_if(cases, [persistent_only](const SchemeCase& scheme_case) {
    return scheme_case.scheme == "none" || (persistent_only && !scheme_case.persistent);
  });
  return cases;
}

/// Limits of a scheme under test.
struct SchemeLimits {
  uint64_t capacity_bytes = 16 << 20;
  uint64_t object_size_bytes_max = 4 << 20;
  unsigned key_hash_bits = 128;
};

/// A scheme with all that it needs, on an io_context that runs only inside these calls.
class SchemeUnderTest : public StoreCalls<SchemeUnderTest> {
 public:
  explicit SchemeUnderTest(const SchemeCase& scheme_case, SchemeLimits limits = SchemeLimits())
      : case_(scheme_case),
        limits_(within_reach(limits)),
        buffers_(io_.get_executor(), kBufferSizeBytes, kBufferCount * kBufferSizeBytes) {
    make();
  }
  ~SchemeUnderTest() { scheme_.reset(); }
  SchemeUnderTest(const SchemeUnderTest&) = delete;
  SchemeUnderTest& operator=(const SchemeUnderTest&) = delete;

  static constexpr size_t kBufferSizeBytes = 64 * 1024;
  static constexpr size_t kBufferCount = 32;

  boost::asio::io_context& io() { return io_; }
  storage::StorageScheme& scheme() { return *scheme_; }
  storage::BufferPool& buffers() { return buffers_; }
  FakeClock& clock() { return clock_; }
  const SchemeLimits& limits() const { return limits_; }
  /// What the scheme has from the next restart() on.
  void set_limits(SchemeLimits limits) { limits_ = within_reach(limits); }

  storage::Result<storage::RecoveryReport> start() { return run(scheme_->start()); }

  /// Stops the scheme, makes a new one over the same folder, and starts it.
  storage::Result<storage::RecoveryReport> restart(storage::StopMode mode) {
    const storage::Result<void> stopped = run(scheme_->stop(mode));
    if (stopped.has_error()) return stopped.error();
    make();
    return start();
  }

 private:
  /// Small, so that a store has several.
  static uint64_t stripe_size_bytes(const SchemeLimits& limits) {
    return limits.capacity_bytes >= 4 << 20 ? 640 << 10 : 140 << 10;
  }
  /// The limits that the scheme can have.
  SchemeLimits within_reach(SchemeLimits limits) const {
    if (!case_.has_stripes) return limits;
    const uint64_t body_max = stripe_size_bytes(limits) - (8 << 10);
    limits.object_size_bytes_max = std::min(limits.object_size_bytes_max, body_max);
    return limits;
  }

  storage::SchemeSpec spec_of(const SchemeCase& wanted, const std::string& folder) const {
    storage::SchemeSpec spec;
    spec.scheme = wanted.scheme;
    if (wanted.scheme != "none") {
      spec.capacity_bytes = limits_.capacity_bytes;
      spec.options["max-object"] = std::to_string(limits_.object_size_bytes_max);
    }
    if (wanted.needs_path) spec.path = folder_.path() / folder;
    // Few folders: making and removing thousands of them for each test takes most of its time.
    if (wanted.has_folders) spec.options.insert({{"l1", "2"}, {"l2", "4"}});
    if (wanted.has_stripes) {
      spec.options["stripe-size"] = std::to_string(stripe_size_bytes(limits_));
      // More than can be on their way: nothing is declined for want of one.
      spec.options["membufs"] = "128";
    }
    spec.options.insert(wanted.options.begin(), wanted.options.end());
    return spec;
  }

  void make() {
    scheme_.reset();
    std::vector<storage::SchemeSpec> specs;
    for (const SchemeCase& directory : case_.directories) {
      specs.push_back(spec_of(directory, "directory " + std::to_string(specs.size())));
      specs.back().capacity_bytes /= case_.directories.size();
    }
    if (specs.empty()) specs.push_back(spec_of(case_, ""));
    storage::SchemeEnvironment environment{io_.get_executor(), clock_, buffers_, 1,
                                           limits_.key_hash_bits};
    storage::SchemeOrError made =
        storage::make_store(specs, storage::StoreSelection::kRoundRobin, environment);
    if (!made.scheme) throw std::runtime_error(made.error);
    scheme_ = std::move(made.scheme);
    if (!case_.behind_memory) return;
    // A quarter of the capacity, so that both tiers evict and objects move between them.
    storage::MemoryFrontOptions options(limits_.capacity_bytes / 4,
                                        limits_.object_size_bytes_max / 4);
    options.key_hash_bits = limits_.key_hash_bits;
    scheme_ = storage::make_memory_front(std::move(scheme_), options);
  }

  const SchemeCase case_;
  SchemeLimits limits_;
  TempDir folder_;
  FakeClock clock_;
  boost::asio::io_context io_;
  storage::BufferPool buffers_;
  std::unique_ptr<storage::StorageScheme> scheme_;
};

}  // namespace testing_support
