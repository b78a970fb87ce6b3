// The first fill that takes no time.
#include "workload/experiment/fast_fill.h"

#include <gtest/gtest.h>

#include "workload/client/run_control.h"
#include "workload/client/run_phases.h"
#include "workload/model/workload_file.h"

namespace workload {
namespace {

TEST(FastFill, OnlyTheLastPhaseIsMeasured) {
  ExperimentOptions options;
  options.time_scale = 8;
  options.fast_fill = 1.5;
  ASSERT_TRUE(set_option(options, "until", {"duration=30s"}));
  std::string error;
  const auto model = load_workload("polymix4", error);
  ASSERT_TRUE(model) << error;
  const auto text = workload_to_toml(fast_fill_workload(*model, options));
  const auto read = parse_workload(text, "w.toml", error);
  ASSERT_TRUE(read) << error;
  LoadOptions load;
  load.workload = *read;
  load.time_scale = options.time_scale;
  load.cache_size_bytes = 1 << 20;
  ASSERT_EQ(set_phases(load, "file"), "");
  ASSERT_EQ(load.phases.size(), 3U);
  EXPECT_EQ(load.phases[0].goal.fill, 1.5);
  EXPECT_FALSE(load.phases[0].primary);
  EXPECT_EQ(load.phases[1].goal.duration, std::chrono::seconds(5));
  EXPECT_FALSE(load.phases[1].primary);
  EXPECT_EQ(load.phases[2].goal.duration, std::chrono::seconds(30));
  EXPECT_TRUE(load.phases[2].primary);
  ASSERT_TRUE(set_option(options, "until", {"requests=77"}));
  EXPECT_EQ(fast_fill_workload(*model, options).phases[2].goal.requests, 77U);
}

TEST(FastFill, ThePeakFinderClimbsBehindIt) {
  ExperimentOptions options;
  options.time_scale = 8;
  options.fast_fill = 1.5;
  ASSERT_TRUE(set_option(options, "load", {"peak"}));
  ASSERT_TRUE(set_option(options, "until", {"duration=40s"}));
  std::string error;
  const auto model = load_workload("polymix4", error);
  ASSERT_TRUE(model) << error;
  LoadOptions load;
  load.workload = fast_fill_workload(*model, options);
  load.load = *parse_load_shape("peak", error);
  load.time_scale = options.time_scale;
  load.cache_size_bytes = 1 << 20;
  ASSERT_EQ(set_phases(load, "file"), "");
  ASSERT_EQ(load.phases.size(), 4U);
  EXPECT_EQ(load.phases[2].name, kClimbPhase);
  EXPECT_EQ(load.phases[2].goal.duration, std::chrono::seconds(30));
  EXPECT_FALSE(load.phases[2].primary);
  EXPECT_EQ(load.phases[3].name, kPeakPhase);
  EXPECT_EQ(own_goal(load.phases, 3).duration, std::chrono::seconds(10));
  EXPECT_TRUE(load.phases[3].primary);
}

TEST(FastFill, ItCountsForTheFillThatEndsTheRun) {
  ExperimentOptions options;
  options.time_scale = 8;
  options.fast_fill = 1.0;
  ASSERT_TRUE(set_option(options, "until", {"fill=2.0,duration=120s"}));
  std::string error;
  const auto model = load_workload("polymix4", error);
  ASSERT_TRUE(model) << error;
  LoadOptions load;
  load.time_scale = options.time_scale;
  load.cache_size_bytes = 1 << 20;
  load.workload = fast_fill_workload(*model, options);
  ASSERT_EQ(set_phases(load, "file"), "");
  EXPECT_EQ(own_goal(load.phases, 2).fill, 1.0);
  ASSERT_TRUE(set_option(options, "load", {"peak"}));
  load.workload = fast_fill_workload(*model, options);
  load.load = *parse_load_shape("peak", error);
  ASSERT_EQ(set_phases(load, "file"), "");
  ASSERT_EQ(check_phases(load.phases), "");
  // From fill 1.0 to 1.5, and to 2.0; or 90 and 30 s.
  for (const size_t phase : {2, 3}) EXPECT_EQ(own_goal(load.phases, phase).fill, 0.5);
  EXPECT_EQ(own_goal(load.phases, 2).duration, std::chrono::seconds(90));
  EXPECT_EQ(own_goal(load.phases, 3).duration, std::chrono::seconds(30));
  EXPECT_TRUE(check_fast_fill_goal(options));
  options.fast_fill = 1.5;
  const auto late = check_fast_fill_goal(options);
  ASSERT_FALSE(late);
  EXPECT_TRUE(late.error().usage);
  EXPECT_NE(late.error().text.find("three quarters"), std::string::npos);
}

}  // namespace
}  // namespace workload
