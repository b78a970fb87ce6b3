#include "workload/filesystem/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/experiment/child_process.h"
#include "workload/filesystem/cache_device.h"
#include "workload/filesystem/loop_device.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ScratchFolderTest : public testing::Test {
 protected:
  // Others that are tested at the same time must not clear up before this does.
  void SetUp() override { setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1); }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  /// Makes a scratch folder in a process that ends without clearing up, and returns its path.
  std::filesystem::path leave_one_behind(const std::function<void(ScratchFolder&)>& use =
                                             [](ScratchFolder&) {}) {
    const auto note = folder_ / "note";
    const pid_t pid = fork();
    if (pid == 0) {
      auto scratch = ScratchFolder::make(folder_.path());
      if (!scratch) _exit(1);
      use(*scratch);
      std::ofstream(note) << scratch->path().string() << std::flush;
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
    return *read_file(note, 4096);
  }

  testing_support::TempDir folder_;
};

TEST_F(ScratchFolderTest, GoesWithTheObjectAndNamesItselfToPrograms) {
  std::filesystem::path path;
  {
    auto scratch = ScratchFolder::make(folder_.path());
    ASSERT_TRUE(scratch) << scratch.error().text;
    path = scratch->path();
    EXPECT_EQ(std::getenv(kRunVariable), path.string());
    std::filesystem::create_directories(path / "a/b");
    auto second = ScratchFolder::make(folder_.path());
    ASSERT_TRUE(second);
    EXPECT_NE(second->path(), path);
    EXPECT_THAT(clean_up_leftovers({folder_.path()}).removed, IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(std::getenv(kRunVariable), nullptr);
}

TEST_F(ScratchFolderTest, AFolderForNotesThatCannotBeUsedIsRefused) {
  EXPECT_TRUE(check_state_folder()) << "it can be made";
  std::ofstream(folder_ / "file") << "x";
  std::filesystem::create_directory(folder_ / "open");
  std::filesystem::permissions(folder_ / "open", std::filesystem::perms::all);
  const std::vector<std::filesystem::path> all_wrong{"", "state", folder_ / "file",
                                                     folder_ / "open", folder_ / "none/state"};
  for (const auto& path : all_wrong) {
    const std::string wrong = path.string();
    setenv("CACHEOFF_STATE_DIR", wrong.c_str(), 1);
    const auto checked = check_state_folder();
    ASSERT_FALSE(checked) << wrong;
    EXPECT_THAT(checked.error().text, HasSubstr("CACHEOFF_STATE_DIR='" + wrong + "': must be"));
    EXPECT_FALSE(ScratchFolder::make(folder_.path())) << wrong;
  }
  unsetenv("CACHEOFF_STATE_DIR");
  EXPECT_TRUE(check_state_folder()) << "whatever there is will do";
}

TEST_F(ScratchFolderTest, WhatADeadOwnerLeftIsRemoved) {
  const auto path = leave_one_behind(
      [](ScratchFolder& scratch) { std::filesystem::create_directories(scratch.path() / "a/b"); });
  ASSERT_TRUE(std::filesystem::exists(path));
  const auto done = clean_up_leftovers({folder_.path()});
  EXPECT_THAT(done.removed, ElementsAre(path.string()));
  EXPECT_THAT(done.failures, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ScratchFolderTest, ItIsFoundByWhatItsOwnerNoted) {
  const auto path = leave_one_behind();
  EXPECT_THAT(clean_up_leftovers({}).removed, testing::Contains(path.string()));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ScratchFolderTest, ADamagedJournalDoesNotKeepIt) {
  const auto path = leave_one_behind();
  std::ofstream(path / RunJournal::kFileName) << "nonsense";
  clean_up_leftovers({folder_.path()});
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ScratchFolderTest, WhatOthersCouldHaveWrittenIsLeftAlone) {
  const auto path = leave_one_behind();
  chmod(path.c_str(), 0777);
  clean_up_leftovers({folder_.path()});
  EXPECT_TRUE(std::filesystem::exists(path));
  const auto link = folder_ / "cacheoff-scratch-2147483646";
  const auto target = folder_ / "precious";
  std::filesystem::create_directory(target);
  std::filesystem::create_directory_symlink(target, link);
  clean_up_leftovers({folder_.path()});
  EXPECT_TRUE(std::filesystem::exists(target));
  chmod(path.c_str(), 0700);
  clean_up_leftovers({folder_.path()});
}

TEST_F(ScratchFolderTest, AProcessThatWasLeftIsEnded) {
  const auto path = leave_one_behind();
  setenv(kRunVariable, path.c_str(), 1);
  auto child = ChildProcess::start(
      {{"/bin/sleep", "1000"}, (folder_ / "log").string(), (folder_ / "log").string()});
  unsetenv(kRunVariable);
  auto other = ChildProcess::start(
      {{"/bin/sleep", "1000"}, (folder_ / "log").string(), (folder_ / "log").string()});
  ASSERT_TRUE(child && other);
  const auto done = clean_up_leftovers({folder_.path()});
  EXPECT_THAT(done.removed, ElementsAre(HasSubstr("1 process")));
  EXPECT_TRUE(child->poll_end());
  EXPECT_FALSE(other->poll_end());
}

TEST_F(ScratchFolderTest, ALoopDeviceAndItsImageGo) {
  if (geteuid() != 0) GTEST_SKIP() << "loop devices need root";
  auto scratch = ScratchFolder::make(folder_.path());
  ASSERT_TRUE(scratch);
  const auto folder = scratch->path();
  {
    const auto device = make_image_device(*scratch, "a.img", 16 << 20);
    if (!device) GTEST_SKIP() << device.error().text;
    EXPECT_THAT(loop_devices_over(folder), ElementsAre((*device)->path()));
    EXPECT_EQ(block_device_size_bytes((*device)->path()), 16U << 20);
    const auto about = describe_cache_device(**device);
    EXPECT_EQ(text_at(about, "queue.read_ahead_kb"), "128");
  }
  EXPECT_THAT(loop_devices_over(folder), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder / "a.img"));
}

TEST_F(ScratchFolderTest, ALoopDeviceOfADeadOwnerIsDetached) {
  if (geteuid() != 0) GTEST_SKIP() << "loop devices need root";
  const auto path =
      leave_one_behind([](ScratchFolder& scratch) { std::ofstream(scratch.path() / "a.img"); });
  std::filesystem::resize_file(path / "a.img", 16 << 20);
  // Unlike one of ours this stays although nobody has it open.
  const auto made =
      testing_support::run_command({"losetup", "-f", "--show", (path / "a.img").string()});
  if (made.exit_status != 0) GTEST_SKIP() << made.err;
  const auto done = clean_up_leftovers({folder_.path()});
  EXPECT_THAT(done.removed, ElementsAre(HasSubstr("1 loop device")));
  EXPECT_THAT(done.failures, IsEmpty());
  EXPECT_THAT(loop_devices_over(path), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace workload
