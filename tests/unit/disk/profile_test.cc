// Profiles: the built-in ones, files, and what is wrong with one.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"
#include "workload/disk/profile_file.h"
#include "workload/disk/timeline.h"

namespace workload::disk {
namespace {

std::string problem_of(const std::string& toml) {
  std::string error;
  EXPECT_FALSE(parse_profile(toml, "disk.toml", error).has_value()) << toml;
  return error;
}

TEST(Profiles, TheBuiltInOnesAreSoundAndComeBackFromTheirText) {
  for (const char* name : {"scsi-2003", "sata-7200", "sata-ssd"}) {
    const auto profile = built_in_profile(name);
    ASSERT_TRUE(profile.has_value()) << name;
    EXPECT_EQ(check_profile(*profile), "");
    EXPECT_EQ(profile->name, name);
    EXPECT_NE(built_in_profile_names().find(name), std::string_view::npos);
    std::string error;
    const auto again = parse_profile(profile_to_toml(*profile), "text", error);
    ASSERT_TRUE(again.has_value()) << error;
    EXPECT_TRUE(*again == *profile) << profile_to_toml(*again);
  }
  EXPECT_FALSE(built_in_profile("floppy").has_value());
}

TEST(Profiles, AFileThatSetsNothingIsRefused) {
  for (const char* nothing : {"", "\n", "# scsi-2003\n"}) {
    EXPECT_NE(problem_of(nothing).find("disk.toml: sets nothing; right would be"),
              std::string::npos);
  }
}

TEST(Profiles, AFileSaysWhatDiffersFromItsBase) {
  std::string error;
  const auto profile = parse_profile(
      "base = \"sata-7200\"\nname = \"mine\"\nwrite_cache = \"0\"\npower_cut = \"tear\"\n"
      "[rotating]\nrpm = 5400\nseek_settle = \"1.5ms\"\n",
      "disk.toml", error);
  ASSERT_TRUE(profile.has_value()) << error;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->write_cache_bytes, 0u);
  EXPECT_EQ(profile->power_cut, CutManner::kTear);
  EXPECT_EQ(profile->queue_depth, 32u);
  ASSERT_NE(profile->rotating(), nullptr);
  EXPECT_EQ(profile->rotating()->rpm, 5400u);
  EXPECT_EQ(profile->rotating()->seek_settle, std::chrono::microseconds(1500));
  EXPECT_EQ(profile->rotating()->track_bytes, 500'000u);
}

TEST(Profiles, AnotherKindOfMediumBeginsWithItsOwnDefaults) {
  std::string error;
  const auto profile = parse_profile("[flash]\nchannels = 4\n", "disk.toml", error);
  ASSERT_TRUE(profile.has_value()) << error;
  ASSERT_NE(profile->flash(), nullptr);
  EXPECT_EQ(profile->flash()->channels, 4u);
  EXPECT_EQ(profile->flash()->page_bytes, 4096u);
}

TEST(Profiles, WhatIsWrongIsSaidWithLineKeyAndWhatWouldBeRight) {
  EXPECT_EQ(problem_of("queue_depth = 0\n"), "disk.toml:1: queue_depth: must lie from 1 to 1024");
  EXPECT_EQ(problem_of("\n[rotating]\nrpm = 7\n"),
            "disk.toml:3: rotating.rpm: must lie from 60 to 100000");
  EXPECT_EQ(problem_of("size = 5\n"), "disk.toml:1: size: must be a size such as \"64K\"");
  EXPECT_EQ(problem_of("turnaround = \"soon\"\n"),
            "disk.toml:1: turnaround: must be a time such as \"600us\"");
  EXPECT_EQ(problem_of("scheduling = \"best\"\n"),
            "disk.toml:1: scheduling: must be \"elevator\" or \"fifo\"");
  EXPECT_NE(problem_of("rpm = 7200\n").find("disk.toml:1: rpm: unknown key"), std::string::npos);
  EXPECT_NE(problem_of("base = \"x\"\n").find("must be one of scsi-2003"), std::string::npos);
  EXPECT_NE(problem_of("[rotating]\n[flash]\n").find("either [rotating] or [flash]"),
            std::string::npos);
  EXPECT_NE(problem_of("[flash]\npage = \"1000\"\n").find("flash.page"), std::string::npos);
  EXPECT_NE(problem_of("write_cache = \"2G\"\n").find("write_cache: must be at most 1G"),
            std::string::npos);
  EXPECT_NE(problem_of("sector = \"1K\"\n").find("sector: must be 512 or 4096 bytes"),
            std::string::npos);
  EXPECT_NE(problem_of("size = \n").find("disk.toml:1: "), std::string::npos);
  EXPECT_NE(problem_of("queue_depth = -1\n").find("whole number"), std::string::npos);
}

TEST(Profiles, ANameIsBuiltInOrAFile) {
  const testing_support::TempDir folder;
  std::ofstream(folder / "disk.toml") << "name = \"from a file\"\n";
  std::string error;
  EXPECT_EQ(load_profile("sata-ssd", error)->name, "sata-ssd");
  EXPECT_EQ(load_profile(folder / "disk.toml", error)->name, "from a file");
  EXPECT_FALSE(load_profile(folder / "none.toml", error).has_value());
  std::ofstream(folder / "slow.toml") << "base = \"scsi-2003\"\nwrite_cache = \"8M\"\n";
  EXPECT_EQ(load_profile(folder / "slow.toml", error)->name, "slow");
  std::ofstream(folder / "scsi-2003.toml") << "base = \"scsi-2003\"\nwrite_cache = \"8M\"\n";
  EXPECT_EQ(load_profile(folder / "scsi-2003.toml", error)->name, "scsi-2003-changed");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(load_profile(folder / "pipe", error).has_value());
  EXPECT_NE(error.find("neither a built-in profile (scsi-2003, sata-7200, sata-ssd) nor a file"),
            std::string::npos);
  std::ofstream(folder / "large.toml") << std::string((1 << 20) + 1, '#');
  EXPECT_FALSE(load_profile(folder / "large.toml", error).has_value());
}

TEST(TimelineTest, TheDiskRunsSoManyTimesAsFast) {
  testing_support::FakeClock clock;
  const storage::SteadyTime origin = clock.steady_now();
  const Timeline timeline(origin, 4);
  clock.advance(std::chrono::milliseconds(10));
  EXPECT_EQ(timeline.disk_time(clock.steady_now()), std::chrono::milliseconds(40));
  EXPECT_EQ(timeline.machine_time(std::chrono::milliseconds(40)), clock.steady_now());
  // Never before its time.
  EXPECT_EQ(timeline.machine_time(DiskTime(1)), origin + storage::Nanoseconds(1));
  const Timeline slow(origin, 0.1);
  EXPECT_EQ(slow.machine_time(std::chrono::milliseconds(1)), clock.steady_now());
}

}  // namespace
}  // namespace workload::disk
