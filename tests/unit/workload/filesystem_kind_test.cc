#include "workload/filesystem/filesystem_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/units.h"
#include "tests/support/temp_dir.h"
#include "workload/filesystem/cache_device.h"

namespace workload {
namespace {

using storage::kMiB;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(FilesystemKind, EachHasAProgramAndAPackage) {
  EXPECT_EQ(filesystem_kinds().size(), 5U);
  for (const auto& kind : filesystem_kinds()) {
    EXPECT_EQ(find_filesystem_kind(kind.name), &kind);
    EXPECT_EQ(kind.program, "mkfs." + std::string(kind.name));
    EXPECT_FALSE(kind.package.empty());
  }
  EXPECT_EQ(find_filesystem_kind("tmpfs"), nullptr);
}

TEST(FilesystemKind, DevicesAreLargeEnoughForProgramAndCache) {
  for (const auto& kind : filesystem_kinds()) {
    EXPECT_GE(device_size_bytes(kind, kMiB), kind.size_bytes_min);
    EXPECT_GE(device_size_bytes(kind, 1000 * kMiB), 1500 * kMiB);
    EXPECT_EQ(device_size_bytes(kind, 12345678) % kMiB, 0U);
  }
}

TEST(FilesystemKind, OwnIdentitiesAreRecognisedAndDiffer) {
  const std::string id = new_filesystem_id();
  EXPECT_TRUE(is_own_filesystem_id(id));
  EXPECT_NE(id, new_filesystem_id());
  EXPECT_FALSE(is_own_filesystem_id("1b4e0f3a-1234-4123-a123-0123456789ab"));
  EXPECT_FALSE(is_own_filesystem_id("cac4e0ff"));
  EXPECT_FALSE(is_own_filesystem_id(""));
}

TEST(FilesystemKind, TheUsersOptionsComeBehindOurs) {
  const auto* kind = find_filesystem_kind("xfs");
  const auto command = mkfs_command(*kind, "/dev/x", " -b  size=1024 ", "ID");
  if (!command) {
    EXPECT_THAT(command.error().text, HasSubstr("xfsprogs"));
    return;
  }
  EXPECT_THAT(command->front(), HasSubstr("/mkfs.xfs"));
  const std::vector<std::string> tail(command->end() - 5, command->end());
  EXPECT_THAT(tail, testing::ElementsAre("-m", "uuid=ID", "-b", "size=1024", "/dev/x"));
}

TEST(FilesystemKind, AMissingProgramIsNamedWithItsPackage) {
  FilesystemKind kind = *find_filesystem_kind("btrfs");
  kind.program = "mkfs.nothing-of-this-name";
  const auto command = mkfs_command(kind, "/dev/x", "", "ID");
  ASSERT_FALSE(command);
  EXPECT_THAT(command.error().text, HasSubstr("mkfs.nothing-of-this-name is not installed"));
  EXPECT_THAT(command.error().text, HasSubstr("btrfs-progs"));
}

TEST(FilesystemKind, WhatMkfsComplainsOfIsKept) {
  const testing_support::TempDir folder;
  const auto made = run_mkfs({"/bin/sh", "-c", "echo 'bad option -z'; echo usage: x; exit 1"},
                             folder / "log", nullptr);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, HasSubstr("bad option -z"));
}

TEST(DeviceSignature, OnlyWhatCacheoffMadeMayBeLost) {
  const std::string own = new_filesystem_id();
  EXPECT_TRUE(judge_signature("/dev/x", "DEVNAME=/dev/x\nUUID=" + own + "\nTYPE=ext4\n"));
  const auto other = judge_signature("/dev/x",
                                     "UUID=1b4e0f3a-1234-4123-a123-0123456789ab\n"
                                     "TYPE=ext4\nUSAGE=filesystem\n");
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().usage);
  EXPECT_THAT(other.error().text, HasSubstr("/dev/x"));
  EXPECT_THAT(other.error().text, HasSubstr("ext4"));
  // A kind that cacheoff never makes, whatever its identity.
  EXPECT_FALSE(judge_signature("/dev/x", "UUID=" + own + "\nTYPE=swap\n"));
  EXPECT_FALSE(judge_signature("/dev/x", "PTTYPE=gpt\n"));
  EXPECT_FALSE(judge_signature("/dev/x", "PTTYPE=dos\nUUID=" + own + "\nTYPE=ext4\n"));
  EXPECT_FALSE(judge_signature("/dev/x", "nonsense"));
}

TEST(DeviceCheck, OnlyABlockDeviceIsOne) {
  const testing_support::TempDir folder;
  EXPECT_THAT(check_real_device(folder.path()).error().text, HasSubstr("no block device"));
  EXPECT_THAT(check_real_device((folder / "none").string()).error().text, HasSubstr("No such"));
}

}  // namespace
}  // namespace workload
