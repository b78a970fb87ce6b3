#include "storage/io/blocking.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include "storage/io/system_error.h"
#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/pattern.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

using testing_support::pattern_body;

class BlockingEngineTest : public ::testing::Test {
 protected:
  ~BlockingEngineTest() override { ::close(root_fd_); }
  template <class T>
  Result<T> run(Task<T> task) {
    return testing_support::run_task(io_, std::move(task));
  }
  testing_support::TempDir folder_;
  testing_support::FakeClock clock_;
  boost::asio::io_context io_;
  int root_fd_ = ::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  BlockingEngine engine_{clock_, root_fd_};
};

TEST_F(BlockingEngineTest, WritesReadsRenamesAndUnlinks) {
  const std::string body = pattern_body(1, 100'000);
  auto file = run(engine_.open("a", OpenMode::kCreateExclusive));
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(run((*file)->write(10, std::as_bytes(std::span(body)))).has_value());
  EXPECT_EQ(*run((*file)->size_bytes()), 100'010u);
  EXPECT_EQ(*run((*file)->allocated_bytes()) % 512, 0u);
  EXPECT_TRUE(run((*file)->sync()).has_value());
  EXPECT_TRUE(run((*file)->close()).has_value());
  EXPECT_TRUE(run((*file)->close()).has_value());
  ASSERT_TRUE(run(engine_.rename("a", "b")).has_value());
  EXPECT_EQ(run(engine_.open("a", OpenMode::kRead)).error().code, Errc::kNotFound);

  auto again = run(engine_.open("b", OpenMode::kRead));
  ASSERT_TRUE(again.has_value());
  std::vector<std::byte> buffer(200'000);
  EXPECT_EQ(*run((*again)->read(10, buffer)), 100'000u) << "fewer only at the end of the file";
  EXPECT_TRUE(testing_support::matches_pattern(1, 0, std::span(buffer).first(100'000)));
  EXPECT_EQ(*run((*again)->read(100'010, buffer)), 0u);
  // An open file outlives its name.
  ASSERT_TRUE(run(engine_.unlink("b")).has_value());
  EXPECT_EQ(run(engine_.unlink("b")).error().code, Errc::kNotFound);
  EXPECT_EQ(*run((*again)->read(10, buffer)), 100'000u);
}

TEST_F(BlockingEngineTest, SaysWhatFailed) {
  ASSERT_TRUE(run(engine_.open("a", OpenMode::kCreateExclusive)).has_value());
  EXPECT_EQ(run(engine_.open("a", OpenMode::kCreateExclusive)).error(), Error(Errc::kIo, EEXIST));
  EXPECT_EQ(run(engine_.open("a/b", OpenMode::kRead)).error(), Error(Errc::kIo, ENOTDIR));
  auto file = run(engine_.open("a", OpenMode::kRead));
  const std::string text = "text";
  EXPECT_EQ(run((*file)->write(0, std::as_bytes(std::span(text)))).error(),
            Error(Errc::kIo, EBADF));
}

TEST_F(BlockingEngineTest, WhatStandsInAFilesPlaceIsDamageAndNeverBlocks) {
  ASSERT_EQ(::mkfifoat(root_fd_, "pipe", 0600), 0);
  ASSERT_EQ(::symlinkat("/etc/passwd", root_fd_, "link"), 0);
  ASSERT_EQ(::mkdirat(root_fd_, "folder", 0700), 0);
  for (const char* name : {"pipe", "link", "folder"}) {
    const auto file = run(engine_.open(name, OpenMode::kRead));
    ASSERT_TRUE(file.has_error()) << name;
    EXPECT_EQ(file.error().code, Errc::kCorrupt) << name;
  }
  EXPECT_EQ(run(engine_.unlink("folder")).error().code, Errc::kNotFound);
}

TEST_F(BlockingEngineTest, RunningOutOfFileNumbersIsOverload) {
#ifdef CACHEOFF_SANITIZED
  GTEST_SKIP() << "the undefined-behaviour sanitizer needs a file number of its own";
#endif
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(root_fd_) + 1;  // none is left
  while (::fcntl(static_cast<int>(few.rlim_cur), F_GETFD) >= 0) ++few.rlim_cur;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto file = run(engine_.open("a", OpenMode::kCreateExclusive));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(file.has_error());
  EXPECT_EQ(file.error(), Error(Errc::kOverloaded, EMFILE));
  EXPECT_TRUE(run(engine_.open("a", OpenMode::kCreateExclusive)).has_value());
}

TEST_F(BlockingEngineTest, CountsOperationsBytesAndErrors) {
  auto file = run(engine_.open("a", OpenMode::kCreateExclusive));
  const std::string text = "text";
  ASSERT_TRUE(run((*file)->write(0, std::as_bytes(std::span(text)))).has_value());
  std::vector<std::byte> buffer(100);
  ASSERT_TRUE(run((*file)->read(1, buffer)).has_value());
  (void)run(engine_.unlink("nothing"));
  file->reset();
  testing_support::Counts counts;
  engine_.visit_counters(counts);
  EXPECT_EQ(counts.of("io_operations_total", "operation=\"open\""), 1);
  EXPECT_EQ(counts.of("io_operations_total", "operation=\"close\""), 1);
  EXPECT_EQ(counts.of("io_bytes_total", "operation=\"write\""), 4);
  EXPECT_EQ(counts.of("io_bytes_total", "operation=\"read\""), 3);
  EXPECT_EQ(counts.of("io_operations_total", "operation=\"unlink\""), 1);
  EXPECT_EQ(counts.of("io_errors_total", "operation=\"unlink\""), 1);
  EXPECT_EQ(counts.of("io_nanoseconds_total", "operation=\"read\""), 0) << "the clock stood still";
}

TEST(SystemErrors, MeanWhatACallerHasToDo) {
  EXPECT_EQ(error_from_errno(ENOENT).code, Errc::kNotFound);
  EXPECT_EQ(error_from_errno(ENOSPC).code, Errc::kNoSpace);
  EXPECT_EQ(error_from_errno(EDQUOT).code, Errc::kNoSpace);
  EXPECT_EQ(error_from_errno(ENFILE).code, Errc::kOverloaded);
  EXPECT_EQ(error_from_errno(EIO), Error(Errc::kIo, EIO));
}

}  // namespace
}  // namespace storage
