// The first fill that takes no time, and where it ends.
#include "workload/experiment/fast_fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/client/run_phases.h"
#include "workload/model/workload_file.h"

namespace workload {
namespace {

using testing::HasSubstr;

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

TEST(FastFill, ThePhaseIsThatOfTheLastWholeLine) {
  EXPECT_EQ(last_phase(""), "");
  EXPECT_EQ(last_phase("warning: something\n"), "");
  EXPECT_EQ(last_phase("load: 1 s, fast_fill 20 %, 5 good/s\nload: 2 s, settle 1 %, 5 good/s\n"),
            "settle");
  EXPECT_EQ(last_phase("load: 1 s, fast_fill 20 %, 5 good/s\nwarning: settle\nload: 2 s, set"),
            "fast_fill");
  EXPECT_EQ(last_phase("load: 1 s, 20 %, 5 good/s\n"), "");
}

class FastFillSteps : public testing::Test {
 protected:
  void say(const std::string& phase) {
    std::ofstream(folder_ / "load.log", std::ios::app)
        << "load: 1 s, " << phase << " 20 %, 5 good/s, 0 errors\n";
  }
  testing_support::TempDir folder_;
  FastFill fill_{folder_ / "load.log"};
};

TEST_F(FastFillSteps, EachStepComesOnceInItsPhase) {
  EXPECT_EQ(*fill_.look(), FastFill::Step::kNothing);
  say("fast_fill");
  EXPECT_EQ(*fill_.look(), FastFill::Step::kNothing);
  say("settle");
  EXPECT_EQ(*fill_.look(), FastFill::Step::kBeginTiming);
  EXPECT_TRUE(fill_.timing_began());
  EXPECT_EQ(*fill_.look(), FastFill::Step::kNothing);
  EXPECT_FALSE(fill_.measured());
  say("measured");
  EXPECT_EQ(*fill_.look(), FastFill::Step::kBeginMeasured);
  EXPECT_EQ(*fill_.look(), FastFill::Step::kNothing);
  EXPECT_TRUE(fill_.measured());
}

TEST_F(FastFillSteps, AMeasuredPartWithFastDisksIsNone) {
  say("fast_fill");
  say("measured");
  const auto step = fill_.look();
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().text, HasSubstr("before the disks took their time"));
}

TEST_F(FastFillSteps, ASwitchThatTookTooLongIsNone) {
  say("settle");
  EXPECT_EQ(*fill_.look(), FastFill::Step::kBeginTiming);
  say("measured");
  EXPECT_FALSE(fill_.timing_began());
}

}  // namespace
}  // namespace workload
