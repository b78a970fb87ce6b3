// What is made of the counters of modelled disks.
#include "workload/experiment/disk_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

boost::json::object status(int reads, double elapsed_s, double busy_s) {
  return boost::json::object{{"ok", true},
                             {"realtime", true},
                             {"fast_operations", 100},
                             {"image_errors", 0},
                             {"answers", reads},
                             {"late_mean_us", 50.0},
                             {"counters", boost::json::object{{"reads", reads},
                                                              {"writes", 3},
                                                              {"flushes", 0},
                                                              {"read_bytes", reads * 4096},
                                                              {"written_bytes", 3 * 4096},
                                                              {"seek_s", busy_s / 2},
                                                              {"elapsed_s", elapsed_s},
                                                              {"busy_s", busy_s},
                                                              {"queue_depth_mean", 2.0}}}};
}

TEST(DiskAccount, CountersAreThoseBetweenTwoMoments) {
  const auto growth =
      disk_growth(disk_figures(status(10, 100, 20)), disk_figures(status(30, 110, 28)));
  const auto json = disk_counters_to_json(growth);
  EXPECT_EQ(count_at(json, "reads"), 20U);
  EXPECT_EQ(count_at(json, "writes"), 0U);
  EXPECT_EQ(count_at(json, "read_bytes"), 20U * 4096);
  EXPECT_DOUBLE_EQ(*number_at(json, "elapsed_s"), 10);
  EXPECT_DOUBLE_EQ(*number_at(json, "seek_s"), 4);
  EXPECT_DOUBLE_EQ(*number_at(json, "busy_percent"), 80);
  EXPECT_DOUBLE_EQ(*number_at(json, "queue_depth_mean"), 2);
  EXPECT_NEAR(*number_at(json, "late_mean_us"), 50, 1e-6);
}

TEST(DiskAccount, NothingIsDividedByNothing) {
  const auto json = disk_counters_to_json(disk_growth(disk_figures({}), disk_figures({})));
  EXPECT_TRUE(json.at("busy_percent").is_null());
  EXPECT_TRUE(json.at("queue_depth_mean").is_null());
  EXPECT_TRUE(json.at("late_mean_us").is_null());
}

TEST(DiskAccount, WhatMakesTheDiskAnotherOneIsSaid) {
  DiskFigures growth;
  growth.answers = 100;
  growth.busy_s = 10;
  growth.late_s = 0.01;
  growth.realtime = true;
  EXPECT_THAT(disk_warnings(growth, 1), IsEmpty());
  // The same lateness is more of a faster disk's time.
  EXPECT_THAT(disk_warnings(growth, 100), ElementsAre(HasSubstr("late by 10 %")));
  growth.fast_operations = 7;
  EXPECT_THAT(disk_warnings(growth, 1), ElementsAre(HasSubstr("7 operations")));
  growth.fast_operations = 0;
  growth.image_errors = 2;
  EXPECT_THAT(disk_warnings(growth, 1), ElementsAre(HasSubstr("its image 2 times")));
}

TEST(DiskAccount, OperationsAreSharedOutOverRequests) {
  const boost::json::object record{{"disk", {{"reads", 30}, {"writes", 70}}}};
  EXPECT_DOUBLE_EQ(disk_operations_per(record, 50).value_or(0), 2);
  EXPECT_FALSE(disk_operations_per(record, 0));
  EXPECT_FALSE(disk_operations_per({{"disk", {{"reads", nullptr}, {"writes", nullptr}}}}, 50));
}

TEST(DiskAccount, WithoutModelledDisksARecordIsLeftAsItIs) {
  DiskAccount account({});
  ASSERT_TRUE(account.begin());
  ASSERT_TRUE(account.end());
  boost::json::object record{{"disk", {{"reads", 1}}}};
  account.account(record);
  EXPECT_EQ(count_at(record, "disk.reads"), 1U);
  RunObservation seen;
  account.observe(seen);
  EXPECT_FALSE(seen.disk_busy_share);
  EXPECT_THAT(account.warnings(), IsEmpty());
}

}  // namespace
}  // namespace workload
