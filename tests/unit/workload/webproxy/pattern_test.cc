// The pattern on real engines in a folder of the test, with a clock that the test moves.
#include "workload/webproxy/pattern.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "storage/base/buffer_pool.h"
#include "storage/io/engine_factory.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "workload/webproxy/program_options.h"

namespace webproxy {
namespace {

using testing::HasSubstr;

/// Passes everything on, moves the clock by a millisecond with each file that is opened, and does
/// what a test says with the n-th one that is opened for reading.
class SteppingEngine final : public storage::IoEngine {
 public:
  SteppingEngine(storage::IoEngine& engine, testing_support::FakeClock& clock)
      : engine_(engine), clock_(clock) {}
  const char* name() const override { return engine_.name(); }
  storage::Task<std::unique_ptr<storage::File>> open(std::filesystem::path path,
                                                     storage::OpenMode mode) override {
    clock_.advance(std::chrono::milliseconds(1));
    calls_ += (mode == storage::OpenMode::kRead ? "r" : "c") + path.string() + " ";
    if (mode == storage::OpenMode::kRead && ++reads_ == at_read && before_read) before_read(path);
    return engine_.open(std::move(path), mode);
  }
  storage::Task<void> rename(std::filesystem::path from, std::filesystem::path to) override {
    return engine_.rename(std::move(from), std::move(to));
  }
  storage::Task<void> unlink(std::filesystem::path path) override {
    calls_ += "d" + path.string() + " ";
    return engine_.unlink(std::move(path));
  }
  void visit_counters(storage::CounterVisitor& visitor) const override {
    engine_.visit_counters(visitor);
  }
  const std::string& calls() const { return calls_; }

  uint64_t at_read = 0;
  std::function<void(const std::filesystem::path&)> before_read;

 private:
  storage::IoEngine& engine_;
  testing_support::FakeClock& clock_;
  std::string calls_;
  uint64_t reads_ = 0;
};

/// A folder, an engine of that name in it, and a pattern of a few files.
class Bench {
 public:
  explicit Bench(const std::string& engine) {
    fd_ = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    storage::EngineChoice choice;
    choice.name = engine;
    choice.threads = 2;
    choice.queue_limit = 1000;
    auto made = storage::make_engine(choice, fd_, {io_.get_executor(), clock, buffers_});
    EXPECT_EQ(made.error, "");
    real_ = std::move(made.engine);
    stepping.emplace(*real_, clock);
    options.files = 40;
    options.workers = 4;
    options.goal.requests = 120;
    options.cache_size_bytes = 40 * kFileSizeMean;
  }
  ~Bench() {
    pattern.reset();
    real_.reset();
    ::close(fd_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  bool run() {
    pattern.emplace(io_, clock, std::vector<storage::IoEngine*>{&*stepping}, options);
    return pattern->prepare() && pattern->measure();
  }
  size_t files_there() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder.path()),
                                             std::filesystem::directory_iterator()));
  }

  testing_support::TempDir folder;
  testing_support::FakeClock clock;
  PatternOptions options;
  std::optional<SteppingEngine> stepping;
  std::optional<Pattern> pattern;

 private:
  boost::asio::io_context io_{1};
  storage::BufferPool buffers_{io_.get_executor(), 4096, 4096};
  int fd_ = -1;
  std::unique_ptr<storage::IoEngine> real_;
};

TEST(Pattern, EveryEngineDoesTheWholeWorkWithoutAWrongByte) {
  for (const auto engine : engines()) {
    SCOPED_TRACE(engine);
    Bench bench{std::string(engine)};
    ASSERT_TRUE(bench.run()) << bench.pattern->failure();
    const Account& account = bench.pattern->account();
    const auto& total = account.recorder().total;
    EXPECT_EQ(total.good, 120U);
    EXPECT_EQ(total.error_count(), 0U);
    EXPECT_EQ(account.read_time().count() + account.create_time().count(), 120U);
    // Five reads to a new file, but for loops that the end cut short.
    EXPECT_NEAR(static_cast<double>(account.create_time().count()), 20, 4);
    EXPECT_GE(account.delete_time().count(), account.create_time().count());
    EXPECT_TRUE(account.recorder().series.total() == total);
    const uint64_t gone = account.delete_time().count() - account.create_time().count();
    EXPECT_EQ(bench.files_there(), 40 - gone);
  }
}

TEST(Pattern, NobodyTakesItForACache) {
  Bench bench("blocking");
  ASSERT_TRUE(bench.run()) << bench.pattern->failure();
  const auto& total = bench.pattern->account().recorder().total;
  EXPECT_EQ(total.hits, 0U);
  EXPECT_EQ(total.misses, 0U);
  EXPECT_FALSE(total.hit_ratio_percent());
  EXPECT_FALSE(total.hit_response_time_ms());
  EXPECT_FALSE(total.miss_response_time_ms());
}

TEST(Pattern, ALoopIsADeleteANewFileAndFiveReads) {
  Bench bench("blocking");
  bench.options.workers = 1;
  bench.options.goal.requests = 12;
  ASSERT_TRUE(bench.run()) << bench.pattern->failure();
  std::string kinds;
  std::istringstream calls(bench.stepping->calls());
  for (std::string call; calls >> call;) kinds += call.front();
  EXPECT_EQ(kinds, std::string(40, 'c') + "dcrrrrr" + "dcrrrrr");
}

TEST(Pattern, TheSameSeedDoesTheSameInTheSameOrder) {
  const auto calls = [](uint64_t seed) {
    Bench bench("blocking");
    bench.options.seed = seed;
    EXPECT_TRUE(bench.run()) << bench.pattern->failure();
    return bench.stepping->calls();
  };
  const std::string first = calls(3);
  EXPECT_EQ(first, calls(3));
  EXPECT_NE(first, calls(4));
}

TEST(Pattern, ADurationEndsByTheClockAndTimesAreTheClocks) {
  Bench bench("blocking");
  bench.options.workers = 1;
  bench.options.goal.requests.reset();
  bench.options.goal.duration = std::chrono::milliseconds(600);
  bench.options.sample_interval = std::chrono::milliseconds(100);
  ASSERT_TRUE(bench.run()) << bench.pattern->failure();
  const Account& account = bench.pattern->account();
  // A millisecond passes with each file.
  EXPECT_EQ(account.recorder().total.good, 600U);
  EXPECT_EQ(account.duration(), std::chrono::milliseconds(600));
  EXPECT_EQ(account.recorder().series.row(2).good, 100U);
  EXPECT_DOUBLE_EQ(*account.recorder().total.response_time_ms(), 1.0);
  EXPECT_DOUBLE_EQ(account.rate_of(account.create_time().count()), 100 / 0.6);
}

TEST(Pattern, FillIsWhatWasWrittenOverTheCache) {
  Bench bench("blocking");
  bench.options.goal.requests.reset();
  bench.options.goal.fill = 2;
  ASSERT_TRUE(bench.run()) << bench.pattern->failure();
  const uint64_t written = bench.pattern->account().written_bytes();
  EXPECT_GE(written, 2 * bench.options.cache_size_bytes);
  // At most what was under way when it was met.
  EXPECT_LT(written, 2 * bench.options.cache_size_bytes + bench.options.workers * kFileSizeMax);
}

TEST(Pattern, AByteThatIsWrongEndsTheRun) {
  Bench bench("blocking");
  bench.stepping->at_read = 30;
  bench.stepping->before_read = [&](const std::filesystem::path& path) {
    std::fstream file(bench.folder.path() / path, std::ios::in | std::ios::out | std::ios::binary);
    const int before = file.get();
    file.seekp(0);
    file.put(static_cast<char>(before ^ 1));
  };
  EXPECT_FALSE(bench.run());
  EXPECT_THAT(bench.pattern->failure(), HasSubstr("wrong content"));
  const auto& total = bench.pattern->account().recorder().total;
  EXPECT_EQ(total.errors_of(workload::ErrorKind::kWrongBody), 1U);
  EXPECT_LT(total.completed, 120U);
}

TEST(Pattern, AFileThatIsGoneEndsTheRunAndIsNamed) {
  Bench bench("blocking");
  bench.stepping->at_read = 5;
  std::string name;
  bench.stepping->before_read = [&](const std::filesystem::path& path) {
    name = path;
    std::filesystem::remove(bench.folder.path() / path);
  };
  EXPECT_FALSE(bench.run());
  EXPECT_THAT(bench.pattern->failure(), HasSubstr("file " + name + ": can't be opened: not_found"));
}

TEST(Pattern, SeveralFoldersShareTheFiles) {
  Bench first("blocking");
  Bench second("blocking");
  boost::asio::io_context io;
  PatternOptions options = first.options;
  options.goal.requests = 60;
  Pattern pattern(io, first.clock, {&*first.stepping, &*second.stepping}, options);
  ASSERT_TRUE(pattern.prepare()) << pattern.failure();
  EXPECT_EQ(first.files_there(), 20U);
  EXPECT_EQ(second.files_there(), 20U);
  EXPECT_TRUE(pattern.measure()) << pattern.failure();
}

}  // namespace
}  // namespace webproxy
