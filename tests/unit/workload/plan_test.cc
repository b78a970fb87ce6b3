#include "workload/experiment/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "storage/base/event_method.h"
#include "workload/report/results.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<SchemeRow> kSchemes{{"none", false, false, false, "keeps nothing"},
                                      {"memory", false, false, false, "keeps objects in memory"},
                                      {"ufs", true, true, false, "a file an object"},
                                      {"rock", true, true, true, "slots in a file or device"}};

std::string anything_goes(const CellPlan&) {
  return {};
}

/// What an ordinary user can run.
std::string needs_no_mount(const CellPlan& cell) {
  return cell.filesystem.empty() || cell.filesystem == "here" ? "" : "this needs root";
}

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const auto& cell : plan.cells) names.push_back(cell.name);
  return names;
}

ExperimentOptions three_schemes() {
  ExperimentOptions options;
  options.schemes = {"none", "memory", "ufs"};
  return options;
}

TEST(MakePlan, EachEventMethodIsACellAndTheOrdinaryOneHasTheOrdinaryName) {
  ExperimentOptions options;
  options.schemes = {"memory", "ufs"};
  const std::string own(storage::own_event_method());
  const std::string other = own == "select" ? "epoll" : "select";
  options.event_methods = {own, other};
  const auto check = [&](const CellPlan& cell) {
    return cell.scheme == "ufs" && is_of_variant(cell) ? "is not built" : "";
  };
  const auto plan = make_plan(options, kSchemes, check);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("memory", "memory-" + other, "ufs-here"));
  EXPECT_EQ(plan->cells[0].event_method, own);
  EXPECT_EQ(plan->cells[1].event_method, other);
  ASSERT_EQ(plan->skipped.size(), 1U);
  EXPECT_EQ(plan->skipped[0].name, "ufs-here-" + other);
  EXPECT_EQ(plan->skipped[0].reason, "is not built");
}

TEST(SchemeList, ReadsRowsAndRefusesOthers) {
  const auto rows = parse_scheme_list("none\t0\t0\tkeeps nothing\nufs\t1\t1\tone file, each\n");
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[1].name, "ufs");
  EXPECT_TRUE((*rows)[1].persistent);
  EXPECT_TRUE((*rows)[1].needs_path);
  EXPECT_EQ((*rows)[1].summary, "one file, each");
  EXPECT_FALSE(parse_scheme_list(""));
  EXPECT_FALSE((*rows)[1].takes_device);
  const auto newer = parse_scheme_list("rock\t1\t1\tslots\t1\n");
  ASSERT_TRUE(newer);
  EXPECT_TRUE((*newer)[0].takes_device);
  EXPECT_EQ((*newer)[0].summary, "slots");
  EXPECT_FALSE(parse_scheme_list("rock\t1\t1\tslots\tyes\n"));
  const auto wrong = parse_scheme_list("none\tyes\t0\tx\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text, HasSubstr("none\tyes"));
}

TEST(Plan, ASchemeWithoutPathIsOneCell) {
  ExperimentOptions options = three_schemes();
  options.filesystems = {"here", "tmpfs"};
  options.mounts = {"", "noatime"};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan),
              ElementsAre("none", "memory", "ufs-here", "ufs-tmpfs", "ufs-tmpfs-noatime"));
  EXPECT_EQ(plan->cells[0].filesystem, "");
  EXPECT_EQ(plan->cells[4].mount_options, "noatime");
  EXPECT_TRUE(plan->skipped.empty());
}

TEST(Plan, CellsThatNeedRootAreSkippedWithTheReason) {
  ExperimentOptions options = three_schemes();
  options.filesystems = {"tmpfs"};
  const auto plan = make_plan(options, kSchemes, needs_no_mount);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("none", "memory"));
  ASSERT_EQ(plan->skipped.size(), 1U);
  EXPECT_EQ(plan->skipped[0].name, "ufs-tmpfs");
  EXPECT_THAT(plan->skipped[0].reason, HasSubstr("root"));
}

TEST(Plan, DisksAreAnAxisOfWhatIsOnAFilesystem) {
  ExperimentOptions options;
  options.schemes = {"memory", "ufs"};
  options.filesystems = {"ext4"};
  options.disks = {0, 1, 2};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  // No disk at all is no cache at all.
  EXPECT_THAT(names_of(*plan), ElementsAre("none", "memory", "ufs-ext4", "ufs-ext4-2disks"));
  EXPECT_EQ(plan->cells[1].disks, 0U);
  EXPECT_EQ(plan->cells[3].disks, 2U);
}

TEST(Plan, ADeviceAsItIsNeedsASchemeThatCan) {
  ExperimentOptions options;
  options.schemes = {"ufs", "rock"};
  options.filesystems = {"raw", "xfs"};
  options.mounts = {"noatime"};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("ufs-xfs-noatime", "rock-raw", "rock-xfs-noatime"));
  ASSERT_EQ(plan->skipped.size(), 1U);
  EXPECT_EQ(plan->skipped[0].name, "ufs-raw");
  EXPECT_THAT(plan->skipped[0].reason, HasSubstr("block device"));
}

TEST(Plan, SeveralDisksNeedSeveralDevices) {
  ExperimentOptions options;
  options.schemes = {"ufs"};
  options.filesystems = {"here", "ext4"};
  options.disks = {1, 3};
  options.device_paths = {"/dev/one", "/dev/two"};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("ufs-here", "ufs-ext4"));
  ASSERT_EQ(plan->skipped.size(), 2U);
  EXPECT_THAT(plan->skipped[0].reason, HasSubstr("one device"));
  EXPECT_THAT(plan->skipped[1].reason, HasSubstr("only 2 devices"));
}

TEST(Plan, UnknownSchemesAreNamedWithThoseThatExist) {
  ExperimentOptions options;
  options.schemes = {"coss"};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_FALSE(plan);
  EXPECT_TRUE(plan.error().usage);
  EXPECT_THAT(plan.error().text, HasSubstr("'coss'"));
  EXPECT_THAT(plan.error().text, HasSubstr("none, memory, ufs, rock"));
}

TEST(Plan, MountOptionsNeedAFilesystemThatTakesThem) {
  ExperimentOptions options = three_schemes();
  options.mounts = {"noatime"};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text, HasSubstr("--filesystem tmpfs"));
}

TEST(Plan, ExclusionsLeaveCellsOut) {
  ExperimentOptions options = three_schemes();
  options.filesystems = {"here", "tmpfs"};
  options.mounts = {"", "noatime"};
  options.exclusions = {{"ufs", "tmpfs", "default"}, {"memory", "", ""}};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  EXPECT_THAT(names_of(*plan), ElementsAre("none", "ufs-here", "ufs-tmpfs-noatime"));
  options.exclusions = {{"", "", ""}};
  options.exclusions[0].scheme = "none";
  options.exclusions.push_back({"memory", "", ""});
  options.exclusions.push_back({"ufs", "", ""});
  EXPECT_FALSE(make_plan(options, kSchemes, anything_goes));
}

TEST(Plan, NamesAreUniqueAndHarmless) {
  ExperimentOptions options;
  options.schemes = {"ufs"};
  options.filesystems = {"tmpfs"};
  options.mounts = {"mode=700", "mode:700", "mode/700", std::string(200, 'x')};
  const auto plan = make_plan(options, kSchemes, anything_goes);
  ASSERT_TRUE(plan);
  std::set<std::string> names;
  for (const auto& cell : plan->cells) {
    EXPECT_TRUE(is_cell_name(cell.name)) << cell.name;
    EXPECT_TRUE(names.insert(cell.name).second) << cell.name;
  }
}

TEST(RunOrder, EachRoundHoldsEveryCellOnce) {
  const auto order = run_order(5, 4, 7, true);
  ASSERT_EQ(order.size(), 20U);
  bool shuffled = false;
  for (unsigned round = 1; round <= 4; ++round) {
    std::set<size_t> cells;
    for (size_t i = 0; i < 5; ++i) {
      const auto& run = order[(round - 1) * 5 + i];
      EXPECT_EQ(run.round, round);
      cells.insert(run.cell);
      shuffled = shuffled || run.cell != i;
    }
    EXPECT_EQ(cells.size(), 5U);
  }
  EXPECT_TRUE(shuffled);
}

TEST(RunOrder, IsAFunctionOfTheSeed) {
  const auto cells_of = [](uint64_t seed, bool random) {
    std::vector<size_t> cells;
    for (const auto& run : run_order(6, 3, seed, random)) cells.push_back(run.cell);
    return cells;
  };
  EXPECT_EQ(cells_of(1, true), cells_of(1, true));
  EXPECT_NE(cells_of(1, true), cells_of(2, true));
  EXPECT_THAT(cells_of(1, false),
              ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5));
}

TEST(Plan, MoreRoundsKeepTheOrderOfTheFirst) {
  const auto few = run_order(4, 2, 9, true);
  const auto many = run_order(4, 5, 9, true);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].cell, many[i].cell);
}

TEST(CacheDir, SaysWhatTheSchemeNeeds) {
  CellPlan cell;
  cell.scheme = "none";
  EXPECT_EQ(cache_dir_argument(cell, "", 1024), "scheme=none");
  cell.scheme = "memory";
  EXPECT_EQ(cache_dir_argument(cell, "", 1024), "scheme=memory,size=1024");
  cell.scheme = "ufs";
  cell.needs_path = true;
  cell.scheme_options = "l1=4,l2=8";
  EXPECT_EQ(cache_dir_argument(cell, "/c", 1024), "scheme=ufs,path=/c,size=1024,l1=4,l2=8");
}

}  // namespace
}  // namespace workload
