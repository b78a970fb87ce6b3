// What every I/O engine does alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "storage/base/random.h"
#include "tests/support/engine_under_test.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Error;
using storage::File;
using storage::OpenMode;
using storage::Result;

class EngineConformance : public ::testing::TestWithParam<std::string> {
 protected:
  static storage::EngineChoice choice() {
    storage::EngineChoice made;
    made.name = GetParam();
    made.threads = 4;
    made.queue_limit = 10'000;
    made.depth_max = 32;  // fewer than there are operations in most tests
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, EngineConformance, ::testing::ValuesIn(usable_engines()),
                         [](const auto& tested) { return tested.param; });

TEST_P(EngineConformance, WritesReadsRenamesAndUnlinks) {
  EngineUnderTest tested(choice());
  const std::string body = pattern_body(1, 100'000);
  auto file = tested.run(tested.engine().open("a", OpenMode::kCreateExclusive));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ((*file)->alignment_bytes(), 1u);
  ASSERT_TRUE(tested.run((*file)->write(10, std::as_bytes(std::span(body)))).has_value());
  EXPECT_EQ(*tested.run((*file)->size_bytes()), 100'010u);
  EXPECT_EQ(*tested.run((*file)->allocated_bytes()) % 512, 0u);
  EXPECT_TRUE(tested.run((*file)->sync()).has_value());
  EXPECT_TRUE(tested.run((*file)->close()).has_value());
  EXPECT_TRUE(tested.run((*file)->close()).has_value());
  ASSERT_TRUE(tested.run(tested.engine().rename("a", "b")).has_value());

  auto again = tested.run(tested.engine().open("b", OpenMode::kReadWrite));
  ASSERT_TRUE(again.has_value());
  std::vector<std::byte> buffer(200'000);
  EXPECT_EQ(*tested.run((*again)->read(10, buffer)), 100'000u) << "fewer only at the end";
  EXPECT_TRUE(matches_pattern(1, 0, std::span(buffer).first(100'000)));
  EXPECT_EQ(*tested.run((*again)->read(100'010, buffer)), 0u);
  EXPECT_EQ(*tested.run((*again)->read(500'000, buffer)), 0u);
  EXPECT_EQ(*tested.run((*again)->read(0, std::span(buffer).first(0))), 0u);
  // An open file outlives its name.
  ASSERT_TRUE(tested.run(tested.engine().unlink("b")).has_value());
  EXPECT_EQ(*tested.run((*again)->read(10, buffer)), 100'000u);
}

TEST_P(EngineConformance, SaysWhatFailed) {
  EngineUnderTest tested(choice());
  storage::IoEngine& engine = tested.engine();
  tested.make_file("a", "text");
  EXPECT_EQ(tested.run(engine.open("a", OpenMode::kCreateExclusive)).error(),
            Error(Errc::kIo, EEXIST));
  EXPECT_EQ(tested.run(engine.open("a/b", OpenMode::kRead)).error(), Error(Errc::kIo, ENOTDIR));
  EXPECT_EQ(tested.run(engine.open("no", OpenMode::kRead)).error(), Error(Errc::kNotFound, ENOENT));
  EXPECT_EQ(tested.run(engine.open("no", OpenMode::kReadWriteDirect)).error().code,
            Errc::kNotFound);
  EXPECT_EQ(tested.run(engine.unlink("no")).error().code, Errc::kNotFound);
  EXPECT_EQ(tested.run(engine.rename("no", "a")).error().code, Errc::kNotFound);
  auto file = tested.run(engine.open("a", OpenMode::kRead));
  const std::string text = "text";
  EXPECT_EQ(tested.run((*file)->write(0, std::as_bytes(std::span(text)))).error(),
            Error(Errc::kIo, EBADF));
  EXPECT_EQ(tested.count("io_errors_total", "operation=\"write\""), 1);
  EXPECT_EQ(tested.count("io_errors_total", "operation=\"unlink\""), 1);
}

TEST_P(EngineConformance, DirectFilesSayTheirAlignmentAndHoldToIt) {
  EngineUnderTest tested(choice());
  const size_t size = 64 * 1024;
  const auto file = tested.make_direct_file("a", size);
  if (file == nullptr) GTEST_SKIP() << "the filesystem has no direct transfers";
  const size_t alignment = file->alignment_bytes();
  ASSERT_GE(alignment, 512u);
  ASSERT_EQ(alignment & (alignment - 1), 0u);
  const AlignedBuffer out(size);
  fill_pattern(7, 0, out.bytes());
  ASSERT_TRUE(tested.run(file->write(size, out.bytes())).has_value());
  EXPECT_EQ(*tested.run(file->size_bytes()), 2 * size);
  EXPECT_TRUE(tested.run(file->sync()).has_value());

  const AlignedBuffer in(2 * size);
  EXPECT_EQ(*tested.run(file->read(size, in.bytes())), size) << "fewer only at the end";
  EXPECT_TRUE(matches_pattern(7, 0, in.bytes().first(size)));
  EXPECT_EQ(*tested.run(file->read(2 * size, in.bytes())), 0u);
  EXPECT_EQ(tested.run(file->read(alignment / 2, in.bytes().first(alignment))).error(),
            Error(Errc::kIo, EINVAL));
}

TEST_P(EngineConformance, ADirectFileMayEndAnywhere) {
  EngineUnderTest tested(choice());
  const auto file = tested.make_direct_file("a", 10'001);
  if (file == nullptr) GTEST_SKIP() << "the filesystem has no direct transfers";
  const AlignedBuffer in(64 * 1024);
  EXPECT_EQ(*tested.run(file->read(0, in.bytes())), 10'001u);
  EXPECT_EQ(*tested.run(file->read(8192, in.bytes())), 10'001u - 8192);
}

// Writes a block of its own and reads it back, `rounds` times.
storage::Task<int> use_block(File& file, uint64_t block, size_t size, int rounds) {
  const AlignedBuffer buffer(size);
  int right = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint64_t id = block * 1000 + static_cast<uint64_t>(round);
    fill_pattern(id, 0, buffer.bytes());
    const Result<void> written = co_await file.write(block * size, buffer.bytes());
    if (!written) co_return written.error();
    std::ranges::fill(buffer.bytes(), std::byte{0});
    const Result<size_t> got = co_await file.read(block * size, buffer.bytes());
    if (!got) co_return got.error();
    right += *got == size && matches_pattern(id, 0, buffer.bytes()) ? 1 : 0;
  }
  co_return right;
}

TEST_P(EngineConformance, ManyOperationsAtOnceDoNotMixTheirBytes) {
  EngineUnderTest tested(choice());
  constexpr size_t kBlocks = 300;
  constexpr size_t kSize = 8192;
  std::vector<std::unique_ptr<File>> files;
  files.push_back(tested.make_file("buffered", ""));
  files.push_back(tested.make_direct_file("direct", kBlocks * kSize));
  for (const auto& file : files) {
    if (file == nullptr) continue;
    std::vector<Spawned<Result<int>>> running;
    for (uint64_t block = 0; block < kBlocks; ++block) {
      running.push_back(spawn_task(tested.io(), use_block(*file, block, kSize, 3)));
    }
    for (auto& one : running) EXPECT_EQ(*one.finish(), 3);
  }
}

TEST_P(EngineConformance, AContextWithNothingUnderWayComesToItsEnd) {
  EngineUnderTest tested(choice());
  const auto file = tested.make_file("a", "text");
  tested.make_direct_file("b", 4096);
  tested.io().restart();
  tested.io().run();  // hangs if the engine keeps it busy
  EXPECT_EQ(*tested.run(file->size_bytes()), 4u);
}

TEST_P(EngineConformance, FilesThatAreJustDroppedAreClosed) {
  const size_t before = open_descriptors();
  {
    EngineUnderTest tested(choice());
    for (int i = 0; i < 200; ++i) {
      tested.make_file(std::to_string(i), "text");
      if (i % 2 == 0) (void)tested.run(tested.engine().open(std::to_string(i), OpenMode::kRead));
    }
    EXPECT_EQ(tested.count("io_operations_total", "operation=\"open\""), 300);
    EXPECT_EQ(tested.count("io_operations_total", "operation=\"close\""), 300);
  }
  EXPECT_EQ(open_descriptors(), before);
}

// Everything an operation touches, and how often it ended.
struct Attempt {
  explicit Attempt(size_t size) : buffer(size) {}
  AlignedBuffer buffer;
  int ends = 0;
  Errc code = Errc::kNone;
  bool right = true;
};

storage::Task<void> attempt_all(storage::IoEngine& engine, std::shared_ptr<Attempt> attempt,
                                uint64_t id, std::string direct_name) {
  const std::string name = std::to_string(id);
  Result<void> result;
  {
    auto file = co_await engine.open(name, OpenMode::kCreateExclusive);
    if (file.has_error()) result = file.error();
    if (result) {
      fill_pattern(id, 0, attempt->buffer.bytes());
      result = co_await (*file)->write(0, attempt->buffer.bytes());
    }
  }
  if (result) result = co_await engine.rename(name, name + "-renamed");
  if (result && !direct_name.empty()) {
    auto file = co_await engine.open(direct_name, OpenMode::kReadWriteDirect);
    if (file.has_error()) result = file.error();
    if (result) result = co_await (*file)->write(id * 4096, attempt->buffer.bytes().first(4096));
    std::ranges::fill(attempt->buffer.bytes(), std::byte{1});
    if (result) {
      const auto got = co_await (*file)->read(id * 4096, attempt->buffer.bytes().first(4096));
      if (got.has_error()) result = got.error();
      if (got) attempt->right = matches_pattern(id, 0, attempt->buffer.bytes().first(4096));
    }
  }
  ++attempt->ends;
  if (!result) attempt->code = result.error().code;
  // Whatever still wrote here would be seen.
  std::ranges::fill(attempt->buffer.bytes(), std::byte{0xee});
  co_return result;
}

boost::asio::awaitable<bool> attempt_without_throwing(storage::IoEngine& engine,
                                                      std::shared_ptr<Attempt> attempt, uint64_t id,
                                                      std::string direct_name) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  (void)co_await attempt_all(engine, std::move(attempt), id, std::move(direct_name));
  co_return true;
}

constexpr uint64_t kAttempts = 64;
constexpr size_t kAttemptSize = 16 * 1024;

std::string direct_name_in(EngineUnderTest& tested) {
  return tested.make_direct_file("direct", kAttempts * 4096) != nullptr ? "direct" : "";
}

TEST_P(EngineConformance, ACancelledOperationEndsOnceAndLeavesItsBufferAlone) {
  const uint64_t seed = test_seed(5);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  const size_t before = open_descriptors();
  uint64_t cancelled = 0;
  for (uint64_t round = 0; round < 10; ++round) {
    EngineUnderTest tested(choice());
    const std::string direct = direct_name_in(tested);
    std::vector<std::shared_ptr<Attempt>> attempts;
    std::vector<Spawned<bool>> running;
    for (uint64_t id = 0; id < kAttempts; ++id) {
      attempts.push_back(std::make_shared<Attempt>(kAttemptSize));
      running.push_back(spawn_task(
          tested.io(), attempt_without_throwing(tested.engine(), attempts.back(), id, direct)));
    }
    tested.io().restart();
    for (uint64_t steps = random.below(400); steps > 0; --steps) tested.io().poll_one();
    for (auto& one : running) {
      if (random.below(2) == 0) one.cancel();
    }
    for (auto& one : running) EXPECT_TRUE(one.finish());
    for (const auto& attempt : attempts) {
      EXPECT_EQ(attempt->ends, 1);
      EXPECT_TRUE(attempt->right);
      EXPECT_TRUE(attempt->code == Errc::kNone || attempt->code == Errc::kAborted)
          << storage::name_of(attempt->code);
      cancelled += attempt->code == Errc::kAborted ? 1 : 0;
      EXPECT_EQ(std::ranges::count(attempt->buffer.bytes(), std::byte{0xee}),
                static_cast<ptrdiff_t>(kAttemptSize));
    }
  }
  EXPECT_EQ(open_descriptors(), before);
  if (GetParam() == "thread_pool") {
    EXPECT_GT(cancelled, 0u);
  }
}

TEST_P(EngineConformance, TheEngineMayGoWhileOperationsAreUnderWay) {
  const size_t before = open_descriptors();
  for (uint64_t round = 0; round < 20; ++round) {
    EngineUnderTest tested(choice());
    auto file = tested.make_file("a", pattern_body(1, 4096 * 20));
    auto direct = tested.make_direct_file("direct", 4096 * 20);
    std::vector<std::unique_ptr<AlignedBuffer>> buffers;
    std::vector<Spawned<Result<size_t>>> running;
    for (uint64_t i = 0; i < 40; ++i) {
      File* const used = i % 2 == 1 && direct != nullptr ? direct.get() : file.get();
      buffers.push_back(std::make_unique<AlignedBuffer>(4096));
      running.push_back(spawn_task(tested.io(), used->read(i / 2 * 4096, buffers.back()->bytes())));
    }
    tested.io().restart();
    for (uint64_t steps = 0; steps < round * 10; ++steps) tested.io().poll_one();
    tested.destroy_engine();
    for (auto& one : running) {
      const auto got = one.finish();
      if (GetParam() == "blocking" || GetParam() == "libaio") continue;
      if (got.has_error()) {
        EXPECT_EQ(got.error().code, Errc::kAborted);
      } else {
        EXPECT_EQ(*got, 4096u);
      }
    }
    EXPECT_EQ(running.size(), 40u);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(EngineConformance, TheContextMayGoWhileOperationsAreUnderWay) {
  const size_t before = open_descriptors();
  for (uint64_t round = 0; round < 20; ++round) {
    EngineUnderTest tested(choice());
    const std::string direct = direct_name_in(tested);
    std::vector<std::shared_ptr<Attempt>> attempts;
    std::vector<Spawned<bool>> running;
    for (uint64_t id = 0; id < kAttempts; ++id) {
      attempts.push_back(std::make_shared<Attempt>(kAttemptSize));
      running.push_back(spawn_task(
          tested.io(), attempt_without_throwing(tested.engine(), attempts.back(), id, direct)));
    }
    tested.io().restart();
    for (uint64_t steps = 0; steps < round * 30; ++steps) tested.io().poll_one();
    // The coroutines go, and with them their buffers.
    tested.destroy_context();
    running.clear();
    for (const auto& attempt : attempts) EXPECT_EQ(attempt.use_count(), 1);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(EngineConformance, OperationsOfAFileWithoutItsEngineAreRefusedNotLost) {
  const size_t before = open_descriptors();
  {
    EngineUnderTest tested(choice());
    const auto file = tested.make_file("a", "text");
    tested.destroy_engine();
    std::vector<std::byte> buffer(4);
    const auto got = tested.run(file->read(0, buffer));
    EXPECT_TRUE(got.has_value() ? *got == 4 : got.error().code == Errc::kAborted);
    EXPECT_TRUE(tested.run(file->close()).has_value());
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace testing_support
