#include "workload/experiment/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "workload/experiment/machine_stats.h"
#include "workload/filesystem/filesystem_mount.h"

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

std::vector<std::string> differences(std::string_view asked, const MountEntry& got,
                                     const std::vector<std::string>& in_full = {}) {
  return option_differences(option_outcomes(asked, got, in_full));
}

TEST(MountOptions, GivenOnesMakeNoDifference) {
  EXPECT_THAT(differences("noatime,size=512M,mode=0755",
                          with_options({"rw", "noatime", "size=524288k", "mode=755"})),
              IsEmpty());
  EXPECT_THAT(differences("rw,exec,strictatime", with_options({"rw"})), IsEmpty());
  EXPECT_THAT(differences("", with_options({"rw"})), IsEmpty());
}

TEST(MountOptions, IgnoredAndChangedOnesAreNamed) {
  EXPECT_THAT(differences("noatime", with_options({"rw", "relatime"})),
              ElementsAre("mount option 'noatime' was ignored by the kernel"));
  EXPECT_THAT(differences("size=1000", with_options({"rw", "size=4k"})),
              ElementsAre("mount option 'size=1000' became 'size=4k'"));
  EXPECT_THAT(differences("exec", with_options({"rw", "noexec"})),
              ElementsAre(HasSubstr("'exec'")));
}

/// The options of a line as the kernels of ext4, xfs and btrfs write it.
MountEntry entry_of(const std::string& tail) {
  return parse_mount_table("62 42 7:0 / /m " + tail + "\n").at(0);
}

TEST(MountOptions, DefaultsThatExtShowsOnlyInFullAreEffective) {
  const auto entry = entry_of("rw,noatime - ext4 /dev/loop0 rw,nobarrier,data=writeback");
  EXPECT_THAT(differences("noatime,nobarrier,data=writeback", entry), IsEmpty());
  EXPECT_THAT(differences("barrier=0", entry), IsEmpty());
  EXPECT_THAT(differences("data=ordered,barrier", entry),
              ElementsAre("mount option 'data=ordered' became 'data=writeback'",
                          "mount option 'barrier' became 'nobarrier'"));
  const auto plain = entry_of("rw,relatime - ext4 /dev/loop0 rw");
  EXPECT_THAT(differences("data=ordered", plain),
              ElementsAre("mount option 'data=ordered' is not shown by the kernel: ignored, or its "
                          "default"));
  EXPECT_THAT(differences("data=ordered,barrier,delalloc", plain,
                          {"rw", "delalloc", "barrier", "data=ordered"}),
              IsEmpty());
}

TEST(MountOptions, ADetailThatTheKernelAddsIsNoChange) {
  const auto entry =
      entry_of("rw,relatime - btrfs /dev/loop0 rw,compress=zstd:3,discard=async,space_cache=v2");
  EXPECT_THAT(differences("compress=zstd", entry), IsEmpty());
  EXPECT_THAT(differences("compress=lzo,nodatacow", entry),
              ElementsAre("mount option 'compress=lzo' became 'compress=zstd:3'",
                          HasSubstr("'nodatacow' is not shown")));
}

TEST(MountOptions, OfTwoThatDenyEachOtherTheLastIsLookedFor) {
  const auto entry = entry_of("rw,noatime - xfs /dev/loop0 rw,attr2,inode64,logbufs=8,noquota");
  EXPECT_THAT(differences("relatime,noatime,logbufs=4,logbufs=8", entry), IsEmpty());
  EXPECT_THAT(differences("noatime,atime", entry),
              ElementsAre("mount option 'atime' was ignored by the kernel"));
}

TEST(MountOptions, EachHasAnOutcome) {
  const auto outcomes = option_outcomes("noatime,commit=5,nodev,quota",
                                        entry_of("rw,noatime - ext4 /dev/loop0 rw,commit=30"));
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_EQ(outcomes[0].kind_name(), "effective");
  EXPECT_EQ(outcomes[1].kind_name(), "changed");
  EXPECT_EQ(outcomes[1].became, "commit=30");
  EXPECT_EQ(outcomes[2].kind_name(), "ignored");
  EXPECT_EQ(outcomes[3].kind_name(), "not_shown");
}

class FilesystemMountTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "mounting needs root";
    const auto entered = enter_private_mounts();
    if (!entered) GTEST_SKIP() << entered.error().text;
  }
  MountRequest tmpfs(const std::string& options) {
    return {"tmpfs", "cacheoff", folder_.path(), options};
  }
  bool is_mounted() {
    const auto table = parse_mount_table(read_kernel_file("/proc/self/mountinfo"));
    return mount_of(table, std::filesystem::canonical(folder_.path()))->filesystem == "tmpfs";
  }
  testing_support::TempDir folder_;
};

TEST_F(FilesystemMountTest, MountsWithOptionsAndLeavesNothing) {
  {
    const auto mounted = FilesystemMount::mount(tmpfs("size=8M,noatime"));
    ASSERT_TRUE(mounted) << mounted.error().text;
    EXPECT_TRUE(is_mounted());
    EXPECT_THAT(option_differences(mounted->outcomes()), IsEmpty());
    EXPECT_THAT(mounted->options_in_force(), HasSubstr("noatime"));
    EXPECT_THAT(mounted->options_in_force(), HasSubstr("size=8192k"));
  }
  EXPECT_FALSE(is_mounted());
}

TEST_F(FilesystemMountTest, TellsWhatTheKernelChanged) {
  const auto mounted = FilesystemMount::mount(tmpfs("size=1000"));
  ASSERT_TRUE(mounted) << mounted.error().text;
  EXPECT_THAT(option_differences(mounted->outcomes()),
              ElementsAre("mount option 'size=1000' became 'size=4k'"));
}

TEST_F(FilesystemMountTest, NamesTheOptionsThatTheKernelRefuses) {
  const auto mounted = FilesystemMount::mount(tmpfs("colour=blue"));
  ASSERT_FALSE(mounted);
  EXPECT_THAT(mounted.error().text, HasSubstr("colour=blue"));
  EXPECT_FALSE(is_mounted());
  EXPECT_FALSE(try_mount(tmpfs("colour=blue")));
}

TEST_F(FilesystemMountTest, ATrialMountsNowhere) {
  EXPECT_TRUE(try_mount(tmpfs("size=8M,noatime")));
  EXPECT_FALSE(is_mounted());
  MountRequest unknown = tmpfs("");
  unknown.filesystem = "fs-of-no-kernel";
  EXPECT_THAT(try_mount(unknown).error().text, HasSubstr("no fs-of-no-kernel"));
}

}  // namespace
}  // namespace workload
