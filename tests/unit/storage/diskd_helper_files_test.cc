// What the helper does with requests, right ones and others.
#include "storage/io/diskd/helper_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "storage/base/random.h"
#include "storage/io/diskd/owned_fd.h"
#include "tests/support/engine_under_test.h"
#include "tests/support/seed.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSlots = 2;

class HelperFilesTest : public ::testing::Test {
 protected:
  HelperFilesTest() {
    fs::create_directory(store_);
    folder_fd_ = OwnedFd(::open(store_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    files_.emplace(folder_fd_.get(), memory_);
  }

  HelperReply ask(IoKind kind, uint32_t handle = 0, uint32_t slot = 0, uint32_t size = 0) {
    HelperRequest request;
    request.id = ++id_;
    request.kind = kind;
    request.handle = handle;
    request.slot = slot;
    request.size_bytes = size;
    return answered(request);
  }
  HelperReply open(const std::string& path, OpenMode mode = OpenMode::kRead) {
    HelperRequest request;
    request.kind = IoKind::kOpen;
    request.mode = mode;
    request.path = path;
    return answered(request);
  }
  int named(IoKind kind, const std::string& path, const std::string& new_path = "") {
    HelperRequest request;
    request.kind = kind;
    request.path = path;
    request.new_path = new_path;
    return answered(request).system_errno;
  }
  HelperReply answered(const HelperRequest& request) {
    const HelperReply reply = files_->handle(request);
    EXPECT_EQ(reply.id, request.id);
    return reply;
  }

  testing_support::TempDir outside_;
  const fs::path store_ = outside_ / "store";
  OwnedFd folder_fd_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kSlots * kHelperSlotSizeBytes);
  std::optional<HelperFiles> files_;
  uint64_t id_ = 0;
};

TEST_F(HelperFilesTest, WritesAndReadsThroughSlots) {
  ASSERT_EQ(files_->check_kernel(), 0);
  const HelperReply opened = open("a", OpenMode::kCreateExclusive);
  ASSERT_EQ(opened.system_errno, 0);
  const auto handle = static_cast<uint32_t>(opened.value);
  std::ranges::fill(std::span(memory_).first(1000), std::byte{'x'});
  EXPECT_EQ(ask(IoKind::kWrite, handle, 0, 1000).value, 1000u);
  EXPECT_EQ(ask(IoKind::kStat, handle).value, 1000u);
  const HelperReply read = ask(IoKind::kRead, handle, 1, kHelperSlotSizeBytes);
  EXPECT_EQ(read.system_errno, 0);
  EXPECT_EQ(read.value, 1000u);
  const auto second = std::span(memory_).subspan(kHelperSlotSizeBytes);
  EXPECT_EQ(std::ranges::count(second, std::byte{'x'}), 1000);
  EXPECT_EQ(ask(IoKind::kSync, handle).system_errno, 0);
  EXPECT_EQ(named(IoKind::kRename, "a", "b"), 0);
  EXPECT_EQ(named(IoKind::kUnlink, "b"), 0);
  EXPECT_EQ(ask(IoKind::kClose, handle).system_errno, 0);
  EXPECT_EQ(files_->open_files(), 0u);
  EXPECT_EQ(ask(IoKind::kClose, handle).system_errno, EBADF);
}

TEST_F(HelperFilesTest, RefusesHandlesAndSlotsThatThereAreNot) {
  const auto handle = static_cast<uint32_t>(open("a", OpenMode::kCreateExclusive).value);
  for (const IoKind kind :
       {IoKind::kRead, IoKind::kWrite, IoKind::kStat, IoKind::kSync, IoKind::kClose}) {
    EXPECT_EQ(ask(kind, handle + 1).system_errno, EBADF);
    EXPECT_EQ(ask(kind, 0xffffffff).system_errno, EBADF);
  }
  for (const IoKind kind : {IoKind::kRead, IoKind::kWrite}) {
    EXPECT_EQ(ask(kind, handle, kSlots, 1).system_errno, EINVAL);
    EXPECT_EQ(ask(kind, handle, 0xffffffff, 1).system_errno, EINVAL);
    EXPECT_EQ(ask(kind, handle, kSlots - 1, kHelperSlotSizeBytes + 1).system_errno, EINVAL);
  }
}

TEST_F(HelperFilesTest, StaysBelowItsFolder) {
  std::ofstream(outside_ / "secret") << "secret";
  fs::create_symlink("../secret", store_ / "link");
  fs::create_symlink("..", store_ / "out");
  fs::create_directory(store_ / "00");
  fs::create_symlink("00", store_ / "within");
  const std::vector<std::string> outside = {"../secret", "00/../../secret", "out/secret",
                                            outside_ / "secret"};
  for (const std::string& path : outside) {
    EXPECT_EQ(open(path).system_errno, EXDEV) << path;
    EXPECT_EQ(named(IoKind::kUnlink, path), EXDEV) << path;
    EXPECT_EQ(named(IoKind::kRename, path, "stolen"), EXDEV) << path;
  }
  EXPECT_EQ(open("../new", OpenMode::kCreateExclusive).system_errno, EXDEV);
  EXPECT_EQ(open("link").system_errno, ELOOP) << "a link in a file's place";
  EXPECT_EQ(named(IoKind::kUnlink, ".."), EINVAL);
  EXPECT_EQ(named(IoKind::kUnlink, "00/"), EINVAL);
  EXPECT_EQ(open("within/a", OpenMode::kCreateExclusive).system_errno, 0);
  EXPECT_EQ(named(IoKind::kRename, "within/a", "../a"), EXDEV);
  EXPECT_EQ(named(IoKind::kRename, "within/a", "00/b"), 0);
  EXPECT_TRUE(fs::exists(outside_ / "secret"));
  EXPECT_FALSE(fs::exists(outside_ / "new"));
}

TEST_F(HelperFilesTest, WhatIsNoFileIsNotOpened) {
  fs::create_directory(store_ / "folder");
  ASSERT_EQ(::mkfifo((store_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(open("folder").system_errno, EISDIR);
  EXPECT_EQ(open("pipe").system_errno, EISDIR);
  EXPECT_EQ(open("missing").system_errno, ENOENT);
  EXPECT_EQ(files_->open_files(), 0u);
}

TEST_F(HelperFilesTest, AnyRequestIsAnsweredAndNothingIsLeftOpen) {
  const uint64_t seed = testing_support::test_seed(3);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  const size_t before = testing_support::open_descriptors();
  Random random(seed);
  for (int round = 0; round < 5000; ++round) {
    HelperRequest request;
    request.id = random();
    request.kind = static_cast<IoKind>(random.below(kIoKindCount));
    if (request.kind == IoKind::kSync) continue;  // slow, and the same as another call
    request.mode = static_cast<OpenMode>(random.below(4));
    request.of_space = random.below(2) == 0;
    request.handle = static_cast<uint32_t>(random.below(20));
    request.slot = static_cast<uint32_t>(random.below(kSlots + 2));
    request.size_bytes = static_cast<uint32_t>(random.below(kHelperSlotSizeBytes + 1));
    request.offset_bytes = random.below(1 << 20);
    request.path = std::string(1, static_cast<char>('a' + random.below(6)));
    request.new_path = std::string(1, static_cast<char>('a' + random.below(6)));
    const HelperReply reply = files_->handle(request);
    EXPECT_EQ(reply.id, request.id);
    if (request.kind == IoKind::kRead) {
      EXPECT_LE(reply.value, request.size_bytes);
    }
  }
  files_.reset();
  EXPECT_EQ(testing_support::open_descriptors(), before);
}

}  // namespace
}  // namespace storage
