#include "workload/experiment/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "workload/experiment/tmpfs_mount.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kTable =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "27 1 254:0 / / rw,noatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
    "damaged\n"
    "40 27 0:50 / /mnt/with\\040blank rw,relatime - tmpfs cacheoff rw,size=524288k,mode=755\n"
    "41 27 0:51 / /mnt rw - tmpfs a rw\n"
    "42 27 0:52 / /mnt rw,nosuid - tmpfs b rw\n";

MountEntry with_options(std::vector<std::string> options) {
  MountEntry entry;
  entry.options = std::move(options);
  return entry;
}

TEST(MountTable, ReadsLinesAndLeavesDamagedOnesOut) {
  const auto table = parse_mount_table(kTable);
  ASSERT_EQ(table.size(), 5U);
  EXPECT_EQ(table[1].mount_point, "/");
  EXPECT_EQ(table[1].filesystem, "ext4");
  EXPECT_EQ(table[1].source, "/dev/vda");
  EXPECT_EQ(table[1].options_text(), "rw,noatime,discard");
  EXPECT_EQ(table[2].mount_point, "/mnt/with blank");
}

TEST(MountTable, FindsTheNearestAndLatestMount) {
  const auto table = parse_mount_table(kTable);
  EXPECT_EQ(mount_of(table, "/home/x")->mount_point, "/");
  EXPECT_EQ(mount_of(table, "/mnt/with blank/x")->mount_point, "/mnt/with blank");
  EXPECT_EQ(mount_of(table, "/mnt/x")->source, "b");
  EXPECT_EQ(mount_of(table, "/mntx")->mount_point, "/");
}

TEST(MountOptions, GivenOnesMakeNoDifference) {
  EXPECT_THAT(option_differences("noatime,size=512M,mode=0755",
                                 with_options({"rw", "noatime", "size=524288k", "mode=755"})),
              IsEmpty());
  EXPECT_THAT(option_differences("rw,exec,strictatime", with_options({"rw"})), IsEmpty());
  EXPECT_THAT(option_differences("", with_options({"rw"})), IsEmpty());
}

TEST(MountOptions, IgnoredAndChangedOnesAreNamed) {
  EXPECT_THAT(option_differences("noatime", with_options({"rw", "relatime"})),
              ElementsAre("mount option 'noatime' was ignored by the kernel"));
  EXPECT_THAT(option_differences("size=1000", with_options({"rw", "size=4k"})),
              ElementsAre("mount option 'size=1000' became 'size=4k'"));
  EXPECT_THAT(option_differences("exec", with_options({"rw", "noexec"})),
              ElementsAre(HasSubstr("'exec'")));
}

class TmpfsMountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    const auto entered = enter_private_mounts();
    if (!entered) GTEST_SKIP() << entered.error().text;
  }
  testing_support::TempDir folder_;
};

TEST_F(TmpfsMountTest, MountsWithOptionsAndLeavesNothing) {
  const auto place = folder_ / "m";
  {
    const auto mounted = TmpfsMount::mount(place, "size=8M,noatime");
    ASSERT_TRUE(mounted) << mounted.error().text;
    EXPECT_THAT(mounted->differences(), IsEmpty());
    EXPECT_THAT(mounted->options_in_force(), HasSubstr("noatime"));
    EXPECT_THAT(mounted->options_in_force(), HasSubstr("size=8192k"));
  }
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST_F(TmpfsMountTest, TellsWhatTheKernelChanged) {
  const auto mounted = TmpfsMount::mount(folder_ / "m", "size=1000");
  ASSERT_TRUE(mounted) << mounted.error().text;
  EXPECT_THAT(mounted->differences(), ElementsAre("mount option 'size=1000' became 'size=4k'"));
}

TEST_F(TmpfsMountTest, NamesTheOptionsThatTheKernelRefuses) {
  const auto place = folder_ / "m";
  const auto mounted = TmpfsMount::mount(place, "colour=blue");
  ASSERT_FALSE(mounted);
  EXPECT_THAT(mounted.error().text, HasSubstr("colour=blue"));
  EXPECT_FALSE(std::filesystem::exists(place));
}

TEST_F(TmpfsMountTest, DoesNotMountOverWhatIsThere) {
  EXPECT_FALSE(TmpfsMount::mount(folder_.path(), ""));
}

}  // namespace
}  // namespace workload
