// Phases and the peak finder in whole runs.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/workload/load_run_under_test.h"

namespace workload {
namespace {

TEST(PhasedRun, PhasesAreMeasuredApartAndThePrimaryOnesTogether) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 4, 0);
  const auto phase = [](const char* name, uint64_t requests, bool primary) {
    Phase each;
    each.name = name;
    each.goal.requests = requests;
    each.primary = primary;
    return each;
  };
  options.phases = {phase("first", 100, true), phase("between", 50, false),
                    phase("last", 150, true)};
  options.phases[1].robots = {0.25, 0.25};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(server.requests(), 300U);
  ASSERT_EQ(outcome.result.phases.size(), 3U);
  EXPECT_EQ(outcome.result.phases[0].total.good, 100U);
  EXPECT_EQ(outcome.result.phases[1].total.good, 50U);
  EXPECT_EQ(outcome.result.phases[2].total.good, 150U);
  for (const PhaseResult& each : outcome.result.phases) EXPECT_TRUE(each.goal_met) << each.name;
  EXPECT_EQ(outcome.result.total.good, 250U);
  EXPECT_EQ(outcome.recorder.series.total(), outcome.recorder.total);
  EXPECT_EQ(outcome.recorder.total.good, 300U);
}

TEST(PhasedRun, TheIdealIsThatOfThePrimaryPhases) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 4, 0);
  options.workload = polymix4_workload();
  Phase fill;
  fill.name = "fill";
  fill.goal.requests = 500;
  fill.recurrence = {0, 0};
  fill.primary = false;
  Phase plateau;
  plateau.name = "plateau";
  plateau.goal.requests = 500;
  options.phases = {fill, plateau};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_TRUE(outcome.result.ideal_hit_ratio_percent);
  EXPECT_GT(*outcome.result.ideal_hit_ratio_percent, 35);
  EXPECT_EQ(outcome.result.ideal_hit_ratio_percent,
            outcome.result.total.attainable_hit_ratio_percent());
  EXPECT_EQ(outcome.result.ideal_byte_hit_ratio_percent,
            outcome.result.total.attainable_byte_hit_ratio_percent());
}

TEST(PhasedRun, RobotsThatTheLastPhaseDoesNotWantEndWithTheRun) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 4, 0);
  Phase only;
  only.name = "only";
  only.goal.requests = 40;
  only.robots = {0.25, 0.25};
  options.phases = {only};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.result.total.good, 40U);
  EXPECT_LE(server.requests_under_way_max(), 1U);
}

TEST(PhasedRun, ThePeakFinderRunsAndReports) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 1, 0);
  std::string error;
  const auto shape =
      parse_load_shape("peak,window=50ms..60ms,sample=20ms,start=100,max=200", error);
  ASSERT_TRUE(shape) << error;
  options.load = *shape;
  options.until = Goal{std::chrono::milliseconds(800), {}, {}};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_TRUE(outcome.result.peak);
  EXPECT_GT(outcome.result.peak->points().size(), 3U);
  ASSERT_EQ(outcome.result.phases.size(), 2U);
  EXPECT_EQ(outcome.result.phases[1].duration, std::chrono::milliseconds(200));
  EXPECT_EQ(outcome.result.total.good, outcome.result.phases[1].total.good);
  EXPECT_EQ(outcome.recorder.series.total(), outcome.recorder.total);
  const auto json = run_to_json(outcome.result);
  EXPECT_EQ(json.at("peak").at("max_rps").to_number<double>(), 200);
}

}  // namespace
}  // namespace workload
