#include "workload/filesystem/mount_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

namespace workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MountArguments, FlagsOfTheMountAndOptionsOfTheFilesystemPart) {
  const auto arguments = mount_arguments("noatime,data=writeback,nodev,nobarrier,commit=60");
  EXPECT_EQ(arguments.attributes, unsigned{MOUNT_ATTR_NOATIME | MOUNT_ATTR_NODEV});
  EXPECT_THAT(arguments.parameters, ElementsAre("data=writeback", "nobarrier", "commit=60"));
}

TEST(MountArguments, NothingIsTheKernelsOwnChoice) {
  for (const char* text : {"", ",", "defaults", "relatime", "exec,suid,dev"}) {
    const auto arguments = mount_arguments(text);
    EXPECT_EQ(arguments.attributes, 0U) << text;
    EXPECT_THAT(arguments.parameters, IsEmpty()) << text;
  }
}

TEST(MountArguments, TheLastOfOpposedOptionsCounts) {
  EXPECT_EQ(mount_arguments("noatime,atime").attributes, 0U);
  EXPECT_EQ(mount_arguments("atime,noatime").attributes, unsigned{MOUNT_ATTR_NOATIME});
  // Both at once would be refused by the kernel.
  EXPECT_EQ(mount_arguments("noatime,strictatime").attributes, unsigned{MOUNT_ATTR_STRICTATIME});
  EXPECT_EQ(mount_arguments("strictatime,noatime").attributes, unsigned{MOUNT_ATTR_NOATIME});
  EXPECT_EQ(mount_arguments("strictatime,relatime").attributes, unsigned{MOUNT_ATTR_RELATIME});
  EXPECT_EQ(mount_arguments("nodiratime,noatime").attributes,
            unsigned{MOUNT_ATTR_NOATIME | MOUNT_ATTR_NODIRATIME});
}

TEST(MountArguments, ReadOnlyIsBoth) {
  const auto arguments = mount_arguments("ro");
  EXPECT_EQ(arguments.attributes, unsigned{MOUNT_ATTR_RDONLY});
  EXPECT_THAT(arguments.parameters, ElementsAre("ro"));
}

TEST(MountArguments, WhatOnlyTheSuperblockKnowsGoesToIt) {
  const auto arguments = mount_arguments("lazytime,sync,dirsync,colour=blue");
  EXPECT_EQ(arguments.attributes, 0U);
  EXPECT_THAT(arguments.parameters, ElementsAre("lazytime", "sync", "dirsync", "colour=blue"));
}

}  // namespace
}  // namespace workload
