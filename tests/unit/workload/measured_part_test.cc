// Where a run's measured part begins, by its load's log.
#include "workload/experiment/measured_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace workload {
namespace {

using testing::HasSubstr;

TEST(MeasuredPart, ThePhaseIsThatOfTheLastWholeLine) {
  EXPECT_EQ(last_phase(""), "");
  EXPECT_EQ(last_phase("warning: something\n"), "");
  EXPECT_EQ(last_phase("load: 1 s, fast_fill 20 %, 5 good/s\nload: 2 s, settle 1 %, 5 good/s\n"),
            "settle");
  EXPECT_EQ(last_phase("load: 1 s, fast_fill 20 %, 5 good/s\nwarning: settle\nload: 2 s, set"),
            "fast_fill");
  EXPECT_EQ(last_phase("load: 1 s, 20 %, 5 good/s\n"), "");
}

class MeasuredPartSteps : public testing::Test {
 protected:
  void say(const std::string& phase) {
    std::ofstream(folder_ / "load.log", std::ios::app)
        << "load: 1 s, " << phase << " 20 %, 5 good/s, 0 errors\n";
  }
  testing_support::TempDir folder_;
  MeasuredPart part_{folder_ / "load.log", true};
};

TEST_F(MeasuredPartSteps, EachStepComesOnceInItsPhase) {
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kNothing);
  say("fast_fill");
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kNothing);
  say("settle");
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kBeginTiming);
  EXPECT_TRUE(part_.timing_began());
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kNothing);
  EXPECT_FALSE(part_.began());
  say("measured");
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kBeginMeasured);
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kNothing);
  EXPECT_TRUE(part_.began());
}

TEST_F(MeasuredPartSteps, AMeasuredPartWithFastDisksIsNone) {
  say("fast_fill");
  say("measured");
  const auto step = part_.look();
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().text, HasSubstr("before the disks took their time"));
}

TEST_F(MeasuredPartSteps, ASwitchThatTookTooLongIsNone) {
  say("settle");
  EXPECT_EQ(*part_.look(), MeasuredPart::Step::kBeginTiming);
  say("measured");
  EXPECT_FALSE(part_.timing_began());
}

TEST_F(MeasuredPartSteps, AClimbWithFastDisksIsNone) {
  say("climb");
  EXPECT_FALSE(part_.look());
}

TEST_F(MeasuredPartSteps, APeakIsMeasuredBehindItsClimb) {
  MeasuredPart part(folder_ / "load.log", false);
  say("climb");
  EXPECT_EQ(*part.look(), MeasuredPart::Step::kNothing);
  EXPECT_FALSE(part.began());
  say("peak");
  EXPECT_EQ(*part.look(), MeasuredPart::Step::kBeginMeasured);
  EXPECT_TRUE(part.began());
}

}  // namespace
}  // namespace workload
