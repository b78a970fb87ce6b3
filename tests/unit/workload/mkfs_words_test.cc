// Options of mkfs that may and may not stand in an experiment.
#include "workload/filesystem/mkfs_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace workload {
namespace {

using testing::HasSubstr;

TEST(MkfsWords, WhatShapesTheFilesystemMayStandThere) {
  for (const auto& [filesystem, words] :
       {std::pair{"ext4", "-O ^has_journal -b 1024"}, std::pair{"ext2", "-g 2048 -I 128 -m 0"},
        std::pair{"ext3", "-J size=16 -j -I128"}, std::pair{"ext4", "-E stride=4,stripe_width=8"},
        std::pair{"xfs", "-b size=1024 -K -i size=512"},
        std::pair{"xfs", "-d agcount=4 -l size=16m"}, std::pair{"xfs", "-m crc=1,reflink=0"},
        std::pair{"btrfs", "-d single -m dup -M -n 4096"}}) {
    EXPECT_EQ(why_not_mkfs_words(filesystem, words), "") << filesystem << ' ' << words;
  }
}

TEST(MkfsWords, NothingNamesAnotherDeviceOrFile) {
  for (const auto& [filesystem, words] :
       {std::pair{"btrfs", "/dev/sda"}, std::pair{"btrfs", "-d single /dev/sda"},
        std::pair{"btrfs", "sda"}, std::pair{"btrfs", "-r /home"},
        std::pair{"btrfs", "--rootdir=/home"}, std::pair{"xfs", "-l logdev=/dev/sda"},
        std::pair{"xfs", "-l size=16m,logdev=sda"}, std::pair{"xfs", "-r rtdev=/dev/sda"},
        std::pair{"xfs", "-d file,name=x"}, std::pair{"xfs", "-d name=x"},
        std::pair{"xfs", "-p proto"}, std::pair{"ext4", "-J device=/dev/sda"},
        std::pair{"ext4", "-Jsize=4,device=LABEL"}, std::pair{"ext4", "-d /home"},
        std::pair{"ext4", "-l badblocks"}, std::pair{"ext4", "-E offset=4096"},
        std::pair{"ext4", "-z undo"}, std::pair{"ext4", "1024"}, std::pair{"ext4", "--"}}) {
    EXPECT_NE(why_not_mkfs_words(filesystem, words), "") << filesystem << ' ' << words;
  }
}

TEST(MkfsWords, IdentityAndBeingMadeAreNotForOptions) {
  for (const auto& [filesystem, words] :
       {std::pair{"ext4", "-U random"}, std::pair{"xfs", "-m uuid=x"}, std::pair{"btrfs", "-U x"},
        std::pair{"ext4", "-n"}, std::pair{"xfs", "-N"}, std::pair{"ext4", "-S"},
        std::pair{"ext4", "-b"}, std::pair{"ext4", "-b -g"}, std::pair{"tmpfs", "-b 4"}}) {
    EXPECT_NE(why_not_mkfs_words(filesystem, words), "") << filesystem << ' ' << words;
  }
  EXPECT_THAT(why_not_mkfs_words("xfs", "-z"), HasSubstr("-b -d -i -l -m -n -s -K"));
}

}  // namespace
}  // namespace workload
