#include "workload/client/run_control.h"

#include <gtest/gtest.h>

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

TEST(LoadShape, ReadsTwoKindsAndRefusesTheRest) {
  std::string error;
  EXPECT_EQ(parse_load_shape("robots=100", error)->kind, LoadShape::Kind::kRobots);
  EXPECT_EQ(parse_load_shape("best-effort=8", error)->robots, 8U);
  for (const char* wrong : {"", "robots", "robots=0", "robots=100001", "rate=5", "best-effort=x"}) {
    EXPECT_FALSE(parse_load_shape(wrong, error)) << wrong;
  }
}

TEST(RunControl, ADurationEndsTheRun) {
  testing_support::FakeClock clock;
  RunControl control(goal_of("duration=10s"), std::nullopt, 0);
  control.start(clock.steady_now());
  Grant grant = control.grant(5, clock.steady_now());
  EXPECT_EQ(grant.requests, 5U);
  EXPECT_TRUE(grant.measured);
  clock.advance(seconds(10) - storage::Nanoseconds(1));
  EXPECT_FALSE(control.over(clock.steady_now()));
  clock.advance(storage::Nanoseconds(1));
  EXPECT_TRUE(control.over(clock.steady_now()));
  EXPECT_EQ(control.grant(1, clock.steady_now()).requests, 0U);
  EXPECT_EQ(*control.measured_until() - *control.measured_from(), seconds(10));
}

TEST(RunControl, RequestsAreGrantedExactlyAcrossThreads) {
  testing_support::FakeClock clock;
  RunControl control(goal_of("requests=10000"), goal_of("requests=1000"), 0);
  control.start(clock.steady_now());
  std::atomic<uint64_t> measured{0};
  std::atomic<uint64_t> warm_up{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        const Grant grant = control.grant(7, clock.steady_now());
        if (grant.requests == 0) return;
        (grant.measured ? measured : warm_up) += grant.requests;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(measured, 10'000U);
  EXPECT_EQ(warm_up, 1000U);
}

TEST(RunControl, WhatIsGivenBackIsGrantedAgain) {
  testing_support::FakeClock clock;
  RunControl control(goal_of("requests=10"), std::nullopt, 0);
  control.start(clock.steady_now());
  const Grant grant = control.grant(10, clock.steady_now());
  EXPECT_EQ(control.grant(1, clock.steady_now()).requests, 0U);
  control.give_back(4, grant);
  EXPECT_EQ(control.grant(10, clock.steady_now()).requests, 4U);
}

TEST(RunControl, AFillCountsGoodFillTrafficOfTheMeasuredPart) {
  testing_support::FakeClock clock;
  RunControl control(goal_of("fill=2"), goal_of("fill=1"), 1000);
  control.start(clock.steady_now());
  EXPECT_FALSE(control.grant(1, clock.steady_now()).measured);
  control.completed(filling(999), false, clock.steady_now());
  EXPECT_FALSE(control.measured_from());
  control.completed(filling(1), false, clock.steady_now());
  EXPECT_EQ(control.measured_from(), clock.steady_now());
  EXPECT_TRUE(control.grant(1, clock.steady_now()).measured);
  TransactionRecord bad = filling(10'000);
  bad.error = ErrorKind::kTruncated;
  control.completed(bad, true, clock.steady_now());
  control.completed(filling(1999), true, clock.steady_now());
  EXPECT_FALSE(control.over(clock.steady_now()));
  control.completed(filling(1), true, clock.steady_now());
  EXPECT_TRUE(control.over(clock.steady_now()));
  EXPECT_EQ(control.good(), 2U);
  EXPECT_EQ(control.errors(), 1U);
}

TEST(RunControl, TheFirstReasonOfAnAbortStays) {
  testing_support::FakeClock clock;
  RunControl control(goal_of("duration=10s"), std::nullopt, 0);
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
  options.load = {LoadShape::Kind::kRobots, robots};
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

TEST(GeneratorLimits, DescriptorsCoverEveryConnection) {
  EXPECT_GE(descriptors_needed(robots_of(1000)), 4000U);
  EXPECT_FALSE(raise_descriptor_limit(1));
  const auto missing = raise_descriptor_limit(1ULL << 40);
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace workload
