#include "workload/client/run_control.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/support/fake_clock.h"
#include "workload/client/generator_limits.h"
#include "workload/client/release_timing.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Goal goal_of(std::string_view text) {
  std::string error;
  const auto goal = parse_goal(text, error);
  EXPECT_TRUE(goal) << error;
  return goal.value_or(Goal());
}

TransactionRecord filling(uint64_t bytes) {
  TransactionRecord record;
  record.outcome = Outcome::kMiss;
  record.fill = true;
  record.received_bytes = bytes;
  return record;
}

TEST(Goal, ReadsThreeKindsAndRefusesTheRest) {
  EXPECT_EQ(goal_of("duration=1.5s").duration, milliseconds(1500));
  EXPECT_EQ(goal_of("requests=10").requests, 10U);
  EXPECT_EQ(goal_of("fill=2.5").fill, 2.5);
  for (const char* wrong : {"", "duration", "duration=", "duration=0", "duration=-1s", "requests=0",
                            "requests=1x", "fill=0", "fill=nan", "fill=inf", "fill=-1", "time=3"}) {
    std::string error;
    EXPECT_FALSE(parse_goal(wrong, error)) << wrong;
    EXPECT_NE(error.find("duration=60s"), std::string::npos);
  }
}

TEST(Goal, TakesSeveralAndEachOnce) {
  const Goal goal = goal_of("fill=2.0,duration=120s,requests=5");
  EXPECT_EQ(goal.duration, seconds(120));
  EXPECT_EQ(goal.requests, 5U);
  EXPECT_EQ(goal.fill, 2.0);
  EXPECT_FALSE(goal.only_requests());
  EXPECT_TRUE(goal_of("requests=5").only_requests());
  const auto error_of = [](const char* text) {
    std::string error;
    EXPECT_FALSE(parse_goal(text, error)) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos);
    return error;
  };
  EXPECT_EQ(error_of("duration=1s,fill=1,duration=2s"),
            "'duration=1s,fill=1,duration=2s': duration stands there twice");
  for (const char* wrong : {"fill=2.0,", ",fill=2.0", "fill=2.0,,duration=1s"}) {
    EXPECT_NE(error_of(wrong).find("a goal is missing beside a comma"), std::string::npos);
  }
  EXPECT_NE(error_of("fill=2.0,duration").find("'duration' is no goal"), std::string::npos);
}

TEST(LoadShape, ReadsFourKindsAndRefusesTheRest) {
  std::string error;
  EXPECT_EQ(parse_load_shape("robots=100", error)->kind, LoadShape::Kind::kRobots);
  EXPECT_EQ(parse_load_shape("best-effort=8", error)->robots, 8U);
  const auto rate = parse_load_shape("rate=2.5,constant,connections=10,queue=0", error);
  ASSERT_TRUE(rate) << error;
  EXPECT_EQ(rate->kind, LoadShape::Kind::kRate);
  EXPECT_EQ(rate->rate_rps, 2.5);
  EXPECT_TRUE(rate->constant);
  EXPECT_EQ(rate->connections_max, 10U);
  EXPECT_EQ(rate->queue_max, 0U);
  const auto peak = parse_load_shape("peak,window=10ms..12ms,sample=1s,max=500,step=4%", error);
  ASSERT_TRUE(peak) << error;
  EXPECT_EQ(peak->kind, LoadShape::Kind::kPeak);
  const PeakFinderOptions options = peak->peak.resolve(20);
  EXPECT_EQ(options.window_min_ms, 10);  // What is given is not scaled.
  EXPECT_EQ(options.window_max_ms, 12);
  EXPECT_EQ(options.sample_s, 1);
  EXPECT_EQ(options.max_rps, 500);
  EXPECT_EQ(options.step, 0.04);
  EXPECT_EQ(options.start_rps, 200);
  const PeakFinderOptions scaled = parse_load_shape("peak", error)->peak.resolve(20);
  EXPECT_EQ(scaled.window_min_ms, 75);
  EXPECT_EQ(scaled.window_max_ms, 87.5);
  EXPECT_EQ(scaled.sample_s, 3);
  for (const char* wrong : {"",
                            "robots",
                            "robots=0",
                            "robots=100001",
                            "robots=5,constant",
                            "rate",
                            "rate=0",
                            "rate=nan",
                            "rate=1e9",
                            "rate=5,fast",
                            "rate=5,constant=1",
                            "rate=5,connections=0",
                            "rate=5,window=1s..2s",
                            "peak=5",
                            "peak,window=2s..1s",
                            "peak,window=1s",
                            "peak,step=0",
                            "peak,start=9,max=8",
                            "best-effort=x",
                            "rate=5,"}) {
    EXPECT_FALSE(parse_load_shape(wrong, error)) << wrong;
    EXPECT_NE(error.find("peak[,window="), std::string::npos);
  }
}

RunControl control_of(std::string_view until, std::string_view warm_up = "", uint64_t size = 0) {
  std::optional<Goal> first;
  if (!warm_up.empty()) first = goal_of(warm_up);
  return RunControl(phases_of_goals(goal_of(until), first), size);
}

TEST(RunControl, ADurationEndsTheRun) {
  testing_support::FakeClock clock;
  RunControl control = control_of("duration=10s");
  control.start(clock.steady_now());
  const Grant grant = control.grant(5, clock.steady_now());
  EXPECT_EQ(grant.requests, 5U);
  EXPECT_EQ(grant.phase, 0U);
  clock.advance(seconds(10) - storage::Nanoseconds(1));
  EXPECT_FALSE(control.over(clock.steady_now()));
  clock.advance(storage::Nanoseconds(1));
  EXPECT_TRUE(control.over(clock.steady_now()));
  EXPECT_EQ(control.grant(1, clock.steady_now()).requests, 0U);
  EXPECT_EQ(*control.run_end() - *control.recorded_from(), seconds(10));
}

TEST(RunControl, RequestsAreGrantedExactlyAcrossThreads) {
  testing_support::FakeClock clock;
  RunControl control = control_of("requests=10000", "requests=1000");
  control.start(clock.steady_now());
  std::array<std::atomic<uint64_t>, 2> granted{};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        const Grant grant = control.grant(7, clock.steady_now());
        if (grant.requests == 0) return;
        granted[grant.phase] += grant.requests;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted[0], 1000U);
  EXPECT_EQ(granted[1], 10'000U);
}

TEST(RunControl, WhatIsGivenBackIsGrantedAgain) {
  testing_support::FakeClock clock;
  RunControl control = control_of("requests=10");
  control.start(clock.steady_now());
  const Grant grant = control.grant(10, clock.steady_now());
  EXPECT_EQ(control.grant(1, clock.steady_now()).requests, 0U);
  control.give_back(4, grant);
  EXPECT_EQ(control.grant(10, clock.steady_now()).requests, 4U);
}

TEST(RunControl, AFillCountsGoodFillTrafficOfItsPhase) {
  testing_support::FakeClock clock;
  RunControl control = control_of("fill=2", "fill=1", 1000);
  control.start(clock.steady_now());
  EXPECT_EQ(control.grant(1, clock.steady_now()).phase, 0U);
  control.completed(filling(999), 0, clock.steady_now());
  EXPECT_FALSE(control.recorded_from());
  control.completed(filling(1), 0, clock.steady_now());
  EXPECT_EQ(control.recorded_from(), clock.steady_now());
  EXPECT_EQ(control.grant(1, clock.steady_now()).phase, 1U);
  TransactionRecord bad = filling(10'000);
  bad.error = ErrorKind::kTruncated;
  control.completed(bad, 1, clock.steady_now());
  control.completed(filling(1999), 1, clock.steady_now());
  EXPECT_FALSE(control.over(clock.steady_now()));
  control.completed(filling(1), 1, clock.steady_now());
  EXPECT_TRUE(control.over(clock.steady_now()));
  EXPECT_EQ(control.live().good, 4U);
  EXPECT_EQ(control.live().errors, 1U);
}

Phase phase_of(const char* name, std::optional<std::chrono::nanoseconds> duration) {
  Phase phase;
  phase.name = name;
  phase.goal.duration = duration;
  return phase;
}

TEST(RunControl, PhasesFollowEachOtherAndTheirFactorsMove) {
  testing_support::FakeClock clock;
  Phase ramp = phase_of("ramp", seconds(10));
  ramp.robots = {0, 1};
  ramp.recurrence = {0.2, 0.6};
  Phase plateau = phase_of("plateau", seconds(20));
  Phase down = phase_of("down", seconds(10));
  down.load = {1, 0};
  RunControl control({ramp, plateau, down}, 0);
  control.start(clock.steady_now());
  clock.advance(seconds(5));
  EXPECT_EQ(control.grant(1, clock.steady_now()).phase, 0U);
  EXPECT_NEAR(control.factors(clock.steady_now()).robots, 0.5, 1e-9);
  EXPECT_NEAR(control.factors(clock.steady_now()).recurrence, 0.4, 1e-9);
  clock.advance(seconds(5));
  control.look(clock.steady_now());
  EXPECT_EQ(control.current(), 1U);
  // A look that comes late begins phases when they should have begun.
  clock.advance(seconds(25));
  control.look(clock.steady_now());
  EXPECT_EQ(control.current(), 2U);
  EXPECT_EQ(*control.ended(1) - *control.began(1), seconds(20));
  EXPECT_NEAR(control.factors(clock.steady_now()).load, 0.5, 1e-9);
  clock.advance(seconds(5));
  EXPECT_TRUE(control.over(clock.steady_now()));
}

TEST(RunControl, APhaseCanWaitForTheWorkingSet) {
  testing_support::FakeClock clock;
  Phase fill = phase_of("fill", std::nullopt);
  fill.goal.fill = 1;
  fill.goal.working_set_frozen = true;
  RunControl control({fill, phase_of("top", seconds(1))}, 1000);
  control.start(clock.steady_now());
  control.completed(filling(2000), 0, clock.steady_now());
  clock.advance(seconds(3));
  EXPECT_EQ(control.grant(1, clock.steady_now()).phase, 0U);
  clock.advance(seconds(1));
  control.working_set_frozen(clock.steady_now());
  EXPECT_EQ(control.grant(1, clock.steady_now()).phase, 1U);
  EXPECT_EQ(*control.ended(0) - *control.began(0), seconds(4));
}

TEST(RunControl, AnyGoalOfAPhaseEndsIt) {
  testing_support::FakeClock clock;
  Phase first = phase_of("first", seconds(10));
  first.goal.requests = 3;
  RunControl control({first, phase_of("second", seconds(10))}, 0);
  control.start(clock.steady_now());
  EXPECT_EQ(control.grant(2, clock.steady_now()).requests, 2U);
  EXPECT_EQ(control.grant(2, clock.steady_now()).requests, 1U);
  EXPECT_EQ(control.grant(2, clock.steady_now()).phase, 1U);
}

TEST(RunControl, ThePeakIsTheLastQuarterOfItsGoal) {
  const auto phases = phases_of_peak(goal_of("fill=2"));
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].goal.fill, 1.5);
  EXPECT_FALSE(phases[0].primary);
  EXPECT_TRUE(phases[0].recorded);
  EXPECT_EQ(own_goal(phases, 1).fill, 0.5);
  EXPECT_TRUE(phases[1].primary);
}

TEST(RunControl, OfSeveralGoalsTheFirstThatIsReachedEndsThePeakRun) {
  testing_support::FakeClock clock;
  RunControl by_fill(phases_of_peak(goal_of("fill=2,duration=100s")), 1000);
  by_fill.start(clock.steady_now());
  clock.advance(seconds(10));
  by_fill.completed(filling(1600), 0, clock.steady_now());
  EXPECT_EQ(by_fill.current(), 1U);
  EXPECT_EQ(by_fill.ended_by(0, *by_fill.ended(0)), "fill");
  // The time of the whole run counts, not a quarter of it.
  clock.advance(seconds(80));
  EXPECT_FALSE(by_fill.over(clock.steady_now()));
  by_fill.completed(filling(399), 1, clock.steady_now());
  EXPECT_FALSE(by_fill.over(clock.steady_now()));
  EXPECT_GT(by_fill.phase_progress(clock.steady_now()), 0.9);
  by_fill.completed(filling(1), 1, clock.steady_now());
  EXPECT_TRUE(by_fill.over(clock.steady_now()));
  EXPECT_EQ(by_fill.ended_by(1, clock.steady_now()), "fill");

  RunControl by_time(phases_of_peak(goal_of("fill=2,duration=100s,requests=9")), 1000);
  by_time.start(clock.steady_now());
  EXPECT_EQ(by_time.grant(5, clock.steady_now()).requests, 5U);
  clock.advance(seconds(75));
  by_time.completed(filling(600), 0, clock.steady_now());
  by_time.look(clock.steady_now());
  EXPECT_EQ(by_time.current(), 1U);
  EXPECT_EQ(by_time.ended_by(0, clock.steady_now()), "duration");
  EXPECT_EQ(by_time.grant(5, clock.steady_now()).requests, 4U);
  by_time.completed(filling(1399), 1, clock.steady_now());
  clock.advance(seconds(25));
  EXPECT_TRUE(by_time.over(clock.steady_now()));
}

TEST(RunControl, TheFirstReasonOfAnAbortStays) {
  testing_support::FakeClock clock;
  RunControl control = control_of("duration=10s");
  control.start(clock.steady_now());
  control.abort("first");
  control.abort("second");
  EXPECT_TRUE(control.over(clock.steady_now()));
  EXPECT_EQ(control.abort_reason(), "first");
}

TEST(ReleaseTiming, RobotsKeepTheirRateAndBestEffortNeverWaits) {
  RobotModel robot;
  robot.requests_per_second = 0.4;
  const auto best_effort =
      closed_loop_timing(LoadShape::Kind::kBestEffort, robot, 1, storage::Random(1));
  EXPECT_FALSE(best_effort->next(storage::SteadyTime(), 1));
  const auto paced = closed_loop_timing(LoadShape::Kind::kRobots, robot, 10, storage::Random(1));
  storage::SteadyTime now{};
  constexpr int kPages = 20'000;
  for (int page = 0; page < kPages; ++page) now = *paced->next(now, 2);
  const double rate = 2.0 * kPages / std::chrono::duration<double>(now.time_since_epoch()).count();
  EXPECT_NEAR(rate, 4.0, 0.1);  // 0.4/s ten times as fast; the standard error is 0.02.
}

LoadOptions robots_of(uint64_t robots) {
  LoadOptions options;
  options.workload = polymix4_workload();
  options.load.kind = LoadShape::Kind::kRobots;
  options.load.robots = robots;
  options.until = goal_of("duration=1h");
  options.peer = {boost::asio::ip::make_address("127.0.0.1"), 1};
  return options;
}

TEST(GeneratorLimits, WarnsBeforeTheRunWherePortsAreTooFew) {
  PortLimits limits;
  EXPECT_EQ(port_warning(robots_of(1000), limits), "");
  // 50,000 robots open 1343 connections a second; 80,574 within a minute of TIME_WAIT.
  LoadOptions many = robots_of(50'000);
  many.workload.robot.connections_max = 0;
  limits.time_wait_reuse = 0;
  EXPECT_NE(port_warning(many, limits).find("--source-addresses"), std::string::npos);
  limits.time_wait_reuse = 1;
  many.load.robots = 1000;
  EXPECT_EQ(port_warning(many, limits), "");
  // Open connections count too.
  EXPECT_NE(port_warning(robots_of(20'000), limits), "");
  LoadOptions spread = robots_of(20'000);
  spread.sources.resize(4);
  EXPECT_EQ(port_warning(spread, limits), "");
}

TEST(GeneratorLimits, ReuseOnLoopbackHelpsOnLoopbackOnly) {
  PortLimits limits;
  limits.time_wait_reuse = 2;
  LoadOptions options = robots_of(1000);
  options.time_scale = 30;  // 806 connections a second, 48,000 a minute.
  EXPECT_EQ(port_warning(options, limits), "");
  options.peer = {boost::asio::ip::make_address("192.0.2.1"), 1};
  EXPECT_NE(port_warning(options, limits), "");
  options.until = goal_of("requests=1000");
  EXPECT_EQ(port_warning(options, limits), "");
}

TEST(GeneratorLimits, AddressesAreSpreadWhereOneWouldRunOutOfPorts) {
  const PortLimits limits;
  EXPECT_EQ(source_addresses_needed(robots_of(1000), limits), 1U);
  LoadOptions options = robots_of(1);
  options.workload.robot.requests_per_connection = Distribution::constant(1);
  options.load.kind = LoadShape::Kind::kRate;
  options.load.rate_rps = 20'000;
  options.load.connections_max = 1000;
  EXPECT_EQ(source_addresses_needed(options, limits), 2U);
  PortLimits slow = limits;
  slow.time_wait_reuse = 0;  // A minute instead of a second.
  EXPECT_EQ(source_addresses_needed(options, slow), 86U);
  options.sources = loopback_sources(86);
  EXPECT_EQ(options.sources.back().to_string(), "127.0.0.86");
  EXPECT_EQ(port_warning(options, slow), "");
}

TEST(GeneratorLimits, DescriptorsCoverEveryConnection) {
  EXPECT_GE(descriptors_needed(robots_of(1000)), 4000U);
  EXPECT_FALSE(raise_descriptor_limit(1));
  const auto missing = raise_descriptor_limit(1ULL << 40);
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace workload
