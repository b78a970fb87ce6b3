// --device, --dirty-limit and what follows from them for cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/experiment/options.h"
#include "workload/experiment/options_file.h"
#include "workload/experiment/place_options.h"
#include "workload/filesystem/cache_places.h"

namespace workload {
namespace {

using testing::HasSubstr;

ExperimentOptions with(const std::vector<std::pair<std::string, std::string>>& given) {
  ExperimentOptions options;
  for (const auto& [name, value] : given) {
    const auto done = set_option(options, name, {value});
    EXPECT_TRUE(done) << done.error().text;
  }
  return options;
}

std::string misfit(const std::vector<std::pair<std::string, std::string>>& given) {
  const auto fit = check_options(with(given));
  if (fit) return "";
  EXPECT_TRUE(fit.error().usage);
  return fit.error().text;
}

TEST(DeviceOptions, ADeviceIsNativeOrAProfile) {
  EXPECT_FALSE(with({{"device", "native"}}).device_profile);
  const auto options = with({{"device", "sata-ssd"}});
  ASSERT_TRUE(options.device_profile);
  EXPECT_EQ(options.device_profile->name, "sata-ssd");
  ExperimentOptions none;
  const auto unknown = set_option(none, "device", {"floppy"});
  ASSERT_FALSE(unknown);
  EXPECT_TRUE(unknown.error().usage);
  EXPECT_THAT(unknown.error().text, HasSubstr("--device 'floppy'"));
  EXPECT_THAT(unknown.error().text, HasSubstr("scsi-2003"));
  EXPECT_FALSE(set_option(none, "device", {"scsi-2003", "sata-ssd"}));
}

TEST(DeviceOptions, AProfileFileIsReadOnceAndFoundAgain) {
  const testing_support::TempDir folder;
  const auto file = (folder / "mine.toml").string();
  std::ofstream(file) << "base = \"sata-7200\"\nname = \"mine\"\n";
  const auto options = with({{"device", file}, {"filesystem", "ext2"}});
  ASSERT_TRUE(options.device_profile);
  EXPECT_EQ(options.device_profile->name, "mine");
  const auto again = options_from_json(options_to_json(options));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->device_profile, options.device_profile);
  EXPECT_EQ(first_difference(options, *again), "");
  std::ofstream(file) << "rpm = 1\n";
  ExperimentOptions none;
  const auto wrong = set_option(none, "device", {file});
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().usage);
}

TEST(DeviceOptions, TheyStandInAFileAndInTheResult) {
  ExperimentOptions options;
  ASSERT_TRUE(apply_options_text(
      options, "device = \"scsi-2003\"\ndirty-limit = \"10M\"\nfilesystem = \"ext2\"\n", "e.toml"));
  EXPECT_EQ(options.dirty_limit_bytes, uint64_t{10} << 20);
  const auto json = options_to_json(options);
  EXPECT_EQ(json.at("device"), "scsi-2003");
  EXPECT_EQ(json.at("dirty-limit"), "10485760");
  const auto plain = options_to_json(ExperimentOptions{});
  EXPECT_FALSE(plain.contains("device"));
  EXPECT_FALSE(plain.contains("dirty-limit"));
  EXPECT_EQ(first_difference(options, with({{"filesystem", "ext2"}, {"dirty-limit", "10M"}})),
            "device");
}

TEST(DeviceOptions, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(misfit({{"device", "scsi-2003"}, {"filesystem", "here,ext2"}}), "");
  EXPECT_THAT(misfit({{"device", "scsi-2003"}}), HasSubstr("--filesystem ext2"));
  EXPECT_THAT(misfit({{"device", "scsi-2003"}, {"filesystem", "tmpfs"}}), HasSubstr("--device"));
  EXPECT_THAT(
      misfit({{"device", "scsi-2003"}, {"filesystem", "ext2"}, {"device-path", "/dev/sdb"}}),
      HasSubstr("--device-path"));
  EXPECT_THAT(misfit({{"dirty-limit", "1M"}, {"filesystem", "ext2"}, {"device-path", "/dev/sdb"}}),
              HasSubstr("--dirty-limit"));
  EXPECT_THAT(misfit({{"device", "scsi-2003"}, {"filesystem", "ext2"}, {"time-scale", "2000"}}),
              HasSubstr("--time-scale"));
  ExperimentOptions none;
  EXPECT_FALSE(set_option(none, "dirty-limit", {"1K"}));
  EXPECT_FALSE(set_option(none, "dirty-limit", {"much"}));
}

TEST(DeviceOptions, AFastFillNeedsModelledDisksAndAPlainGoal) {
  using Given = std::vector<std::pair<std::string, std::string>>;
  const Given given{{"fast-fill", "1.5"}, {"filesystem", "ext2"}, {"device", "scsi-2003"}};
  EXPECT_EQ(misfit(given), "");
  EXPECT_EQ(options_to_json(with(given)).at("fast-fill"), "1.5");
  EXPECT_FALSE(with(given).run_length_s());
  EXPECT_THAT(misfit({{"fast-fill", "1.5"}}), HasSubstr("--device"));
  for (const auto& [option, value] : Given{{"trace", "a.log"}, {"phases", "polymix4"}}) {
    Given more = given;
    more.emplace_back(option, value);
    EXPECT_THAT(misfit(more), HasSubstr("--fast-fill")) << option;
  }
  ExperimentOptions none;
  for (const char* wrong : {"0", "-1", "nan", "much", ""}) {
    EXPECT_FALSE(set_option(none, "fast-fill", {wrong})) << wrong;
  }
}

TEST(DeviceOptions, TheDiskIsScaledAsTheRestOfTheRun) {
  EXPECT_EQ(device_time_scale(with({{"time-scale", "8"}})), 8);
  EXPECT_EQ(device_time_scale(with({{"trace", "a.log"}})), 1);
  EXPECT_EQ(device_time_scale(with({{"trace", "a.log"}, {"time-scale", "8"}})), 8);
}

TEST(DeviceOptions, OnlyCellsWithDevicesOfTheirOwnLieOnModelledDisks) {
  const auto options = with({{"device", "scsi-2003"}});
  CellPlan cell;
  cell.scheme = "ufs";
  for (const auto& [filesystem, disks, modelled] :
       {std::tuple<const char*, unsigned, bool>{"", 0, false},
        {"here", 1, false},
        {"tmpfs", 1, false},
        {"ext2", 1, true},
        {"raw", 2, true}}) {
    cell.filesystem = filesystem;
    cell.disks = disks;
    EXPECT_EQ(is_on_modelled_disks(cell, options), modelled) << filesystem;
    EXPECT_FALSE(is_on_modelled_disks(cell, ExperimentOptions{}));
  }
}

}  // namespace
}  // namespace workload
