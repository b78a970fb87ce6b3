#include "workload/measure/peak_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/support/effort.h"
#include "tests/support/simulated_peak_run.h"
#include "workload/client/peak_sampler.h"

namespace workload {
namespace {

using testing_support::SimulatedPeakRun;
using testing_support::SimulatedSystem;

/// Requests that the system can serve within a sample: what decides how far chance scatters.
constexpr double kRequestsPerSample = 3000;

enum class Answers { kAlike, kHitsAndMisses, kColdAtFirst };

SimulatedSystem peak_system_of(size_t servers, double capacity_rps, Answers answers) {
  const double sample_s = kRequestsPerSample / capacity_rps;
  SimulatedSystem system;
  system.servers = servers;
  system.capacity_rps = capacity_rps;
  system.delay_s = 0.02 * sample_s;
  if (answers == Answers::kHitsAndMisses) {
    // The capacity grows by a quarter while the cache fills.
    system.delay_s = 0;
    system.think_s = 0.04 * sample_s;
    system.miss_cost = 2;
    system.fill_requests = 6 * kRequestsPerSample;
  } else if (answers == Answers::kColdAtFirst) {
    system.cold_requests = 100;
    system.cold_s = 0.3 * sample_s;
  }
  return system;
}

/// A window that begins at `low` times the response time at no load, once the cache is full.
PeakFinderOptions window_for(const SimulatedSystem& system, double low, double start_rps) {
  const double base_ms = (system.base_delay_s(INFINITY) + system.service_s(INFINITY)) * 1e3;
  PeakFinderOptions options;
  options.sample_s = kRequestsPerSample / system.capacity_rps;
  options.window_min_ms = low * base_ms;
  options.window_max_ms = low * 1.12 * base_ms;
  options.start_rps = start_rps;
  options.max_rps = 1e6;
  return options;
}

double mean_load(const PeakFinder& finder, size_t from, size_t to) {
  double sum = 0;
  for (size_t index = from; index < to; ++index) sum += finder.points()[index].sample.offered_rps;
  return sum / static_cast<double>(to - from);
}

struct Start {
  double capacity_rps;
  double part;  ///< Of the capacity that the load starts at.
};

class PeakFinderOnServers : public testing::TestWithParam<std::tuple<size_t, double, Answers>> {};

TEST_P(PeakFinderOnServers, SettlesAtTheCapacityAndStaysThere) {
  const auto& [servers, low, answers] = GetParam();
  uint64_t seed = 0;
  for (const Start& start : {Start{30, 3e-5}, Start{30'000, 3e-8}, Start{300, 0.3},
                             Start{30'000, 0.3}, Start{30, 2}, Start{3000, 2}}) {
    // A response time that lies above the window while the cache is empty holds a low load.
    if (answers == Answers::kHitsAndMisses && start.part < 0.1 && low < 1.5) continue;
    ++seed;
    if (seed % testing_support::effort(1, 3) != 0) continue;
    SCOPED_TRACE(std::to_string(start.capacity_rps) + " started at " + std::to_string(start.part));
    const SimulatedSystem system = peak_system_of(servers, start.capacity_rps, answers);
    SimulatedPeakRun run(system, window_for(system, low, start.part * start.capacity_rps), seed);
    run.run(100, 60);
    const double truth = run.true_rate();
    const PeakSummary summary = run.finder().summary();
    EXPECT_EQ(summary.limit, PeakLimit::kSystem);
    EXPECT_NEAR(mean_load(run.finder(), 50, 60), truth, 0.05 * truth);
    EXPECT_NEAR(*summary.load_mean_rps, truth, 0.05 * truth);
    EXPECT_GE(*summary.load_low_rps, 0.92 * truth);
    EXPECT_LE(*summary.load_high_rps, 1.08 * truth);
    ASSERT_TRUE(summary.rate_at_target_rps);
    EXPECT_NEAR(*summary.rate_at_target_rps, truth, 0.05 * truth);
    EXPECT_FALSE(summary.base_response_time_ms);
  }
}

INSTANTIATE_TEST_SUITE_P(ServersAndWindows, PeakFinderOnServers,
                         testing::Combine(testing::Values(1, 4, 16, 64), testing::Values(1.1, 2.5),
                                          testing::Values(Answers::kAlike, Answers::kHitsAndMisses,
                                                          Answers::kColdAtFirst)));

SimulatedSystem peak_system() {
  return peak_system_of(4, 800, Answers::kAlike);
}

TEST(PeakFinder, FallsOutOfAnAbruptOverloadAtOnceAndSettles) {
  // Four times the capacity from the start.
  SimulatedPeakRun run(peak_system(), window_for(peak_system(), 2, 3200), 7);
  run.run(60, 30);
  const auto& points = run.finder().points();
  EXPECT_TRUE(points.front().overload);
  EXPECT_LT(points.front().sample.length_s, 0.7 * run.finder().options().sample_s);
  EXPECT_LT(points[1].sample.offered_rps, run.true_rate());
  EXPECT_TRUE(run.finder().summary().settled);
  EXPECT_NEAR(*run.finder().summary().load_mean_rps, run.true_rate(), 0.05 * run.true_rate());
}

TEST(PeakFinder, SaysWhereTheOfferedLoadWasTheLimit) {
  PeakFinderOptions options = window_for(peak_system(), 2, 5);
  options.max_rps = 100;
  SimulatedPeakRun run(peak_system(), options, 3);
  run.run(30, 15);
  const PeakSummary summary = run.finder().summary();
  EXPECT_EQ(summary.limit, PeakLimit::kOffered);
  EXPECT_TRUE(summary.settled);
  EXPECT_EQ(summary.load_mean_rps, 100.0);
  EXPECT_FALSE(summary.rate_at_target_rps);
  EXPECT_EQ(summary.overloads, 0U);
}

TEST(PeakFinder, ErrorsCountAgainstTheLoad) {
  // A server that answers at once or not at all: its response time never says that it is full.
  SimulatedSystem system = peak_system_of(10, 100, Answers::kAlike);
  system.in_system_max = 90;
  SimulatedPeakRun run(system, window_for(system, 20, 2), 5);
  run.run(80, 40);
  const PeakSummary summary = run.finder().summary();
  EXPECT_EQ(summary.limit, PeakLimit::kSystem);
  EXPECT_TRUE(summary.failing);
  EXPECT_FALSE(summary.rate_at_target_rps);
  EXPECT_GT(*summary.load_mean_rps, 80);
  EXPECT_LT(*summary.load_high_rps, 130);
}

TEST(PeakFinder, SaysThatNoLoadBringsTheResponseTimeIntoTheWindow) {
  for (const double start : {20.0, 700.0, 3000.0}) {
    SCOPED_TRACE(start);
    SimulatedPeakRun run(peak_system(), window_for(peak_system(), 0.5, start), 5);
    run.run(30, 15);
    const PeakSummary summary = run.finder().summary();
    EXPECT_EQ(summary.limit, PeakLimit::kNone);
    EXPECT_FALSE(summary.settled);
    EXPECT_FALSE(summary.rate_at_target_rps);
    ASSERT_TRUE(summary.base_response_time_ms);
    const double base_ms = (peak_system().delay_s + peak_system().service_s(0)) * 1e3;
    EXPECT_NEAR(*summary.base_response_time_ms, base_ms, 0.5 * base_ms);
    // It does not crawl down to nothing.
    EXPECT_GE(*summary.load_low_rps, std::min(0.1 * start, 80.0));
  }
}

TEST(PeakFinder, AStallAtALowLoadDoesNotHoldIt) {
  SimulatedPeakRun run(peak_system(), window_for(peak_system(), 2, 20), 11);
  run.run(2, 60);
  run.stall(3 * run.finder().options().sample_s);
  run.run(60, 40);
  EXPECT_NEAR(*run.finder().summary().load_mean_rps, run.true_rate(), 0.05 * run.true_rate());
}

TEST(PeakFinder, ARunThatEndsWhileItClimbsHasNoLimit) {
  SimulatedPeakRun run(peak_system(), window_for(peak_system(), 2, 1), 3);
  run.run(5, 3);
  EXPECT_EQ(run.finder().summary().limit, PeakLimit::kNone);
  EXPECT_FALSE(run.finder().summary().settled);
}

/// A sample of so many responses, no error, and no backlog.
PeakSample peak_sample_of(double offered_rps, double response_ms, uint64_t good, double error_ms) {
  PeakSample sample;
  sample.offered_rps = offered_rps;
  sample.length_s = static_cast<double>(good) / offered_rps;
  sample.response_time_ms = response_ms;
  sample.error_ms = error_ms;
  sample.good = good;
  sample.unfinished = static_cast<uint64_t>(offered_rps * response_ms / 1e3);
  return sample;
}

TEST(PeakFinder, OneSampleOrAFewResponsesDoNotEndTheClimb) {
  PeakFinder finder{PeakFinderOptions()};
  finder.add(peak_sample_of(10, 1700, 10, 300));  // Ten responses that lie in the window by chance.
  EXPECT_EQ(finder.rate_rps(), 20);
  finder.add(peak_sample_of(20, 5000, 1200, 200));  // Clearly above, but alone.
  EXPECT_EQ(finder.rate_rps(), 20);
  finder.add(peak_sample_of(20, 500, 1200, 20));
  EXPECT_EQ(finder.rate_rps(), 40);
  finder.add(peak_sample_of(40, 1640, 2400, 20));  // Above the target by less than its noise.
  EXPECT_EQ(finder.rate_rps(), 80);
  finder.add(peak_sample_of(80, 3000, 2400, 20));
  finder.add(peak_sample_of(80, 3000, 2400, 20));
  EXPECT_LT(finder.rate_rps(), 80);
}

TEST(PeakFinder, FindsBackWhereASystemShedsItsLoadAsMisses) {
  // Over 1000/s it stops to keep what it is asked for, and has hardly a hit; it keeps again, and in
  // a few samples has its hits back, only below 700/s.
  PeakFinderOptions options;
  options.start_rps = 100;
  PeakFinder finder{options};
  double hits = 1;
  for (int turn = 0; turn < 60; ++turn) {
    const double rate = finder.rate_rps();
    if (rate > 1000) hits = 0.1;
    if (rate < 700) hits = std::min(1.0, hits + 0.2);
    finder.add(peak_sample_of(rate, 2500 - 1200 * hits + 0.4 * rate * hits, 3000, 15));
  }
  EXPECT_EQ(hits, 1);
  EXPECT_NEAR(finder.rate_rps(), 812, 40);
}

TEST(PeakFinder, WhatWasUnderWayBeforeIsNoOverload) {
  PeakFinderOptions options;
  options.start_rps = 300;
  PeakSample sample = peak_sample_of(300, 1500, 300, 20);
  sample.length_s = 0.2;
  sample.unfinished = 1200;
  EXPECT_TRUE(PeakFinder{options}.urgent(sample));
  EXPECT_FALSE(PeakFinder(options, 1190).urgent(sample));
}

TEST(PeakFinder, TheClimbGoesOnWhereTheResponseTimeStaysBelow) {
  PeakFinder finder{PeakFinderOptions()};
  for (int turn = 0; turn < 2; ++turn) finder.add(peak_sample_of(10, 3000, 1000, 20));
  EXPECT_LT(finder.rate_rps(), 10);
  for (int turn = 0; turn < 30; ++turn) {
    const double rate = finder.rate_rps();
    finder.add(peak_sample_of(rate, 300, 1000, 20));
    EXPECT_GT(finder.rate_rps(), std::min(rate, finder.options().max_rps * 0.999));
  }
  EXPECT_GT(finder.rate_rps(), 10'000);
}

TEST(PeakFinder, ASampleGoesOnUntilItSaysEnough) {
  const PeakFinder finder{PeakFinderOptions()};
  EXPECT_TRUE(finder.enough(peak_sample_of(10, 1600, 1000, 300)));
  EXPECT_FALSE(finder.enough(peak_sample_of(10, 1600, 999, 10)));   // In the window.
  EXPECT_FALSE(finder.enough(peak_sample_of(10, 1000, 200, 300)));  // It may lie there.
  EXPECT_TRUE(finder.enough(peak_sample_of(10, 1000, 200, 50)));
  EXPECT_FALSE(finder.enough(peak_sample_of(10, 1000, 50, 5)));
}

TEST(PeakSampler, ExtendsASampleAndTellsItsNoise) {
  PeakFinderOptions options;
  options.sample_s = 16;
  const storage::SteadyTime start{};
  PeakSampler sampler(options, start);
  LiveCounts counts;
  // Ten responses a second, of 1 s and 2 s in turn: batches of a second scatter by half a second.
  for (int second = 1; second <= 64; ++second) {
    EXPECT_EQ(sampler.finder().points().size(), 0U) << second;
    counts.offered += 10;
    counts.ended += 10;
    counts.good += 10;
    counts.response_time_ns += (second % 2 == 0 ? 10 : 20) * 1'000'000'000ULL;
    sampler.look(counts, start + std::chrono::seconds(second), true);
  }
  ASSERT_EQ(sampler.finder().points().size(), 1U);
  const PeakSample& sample = sampler.finder().points().front().sample;
  EXPECT_EQ(sample.length_s, 64);  // Too few for a sample of 16 s.
  EXPECT_EQ(sample.good, 640U);
  EXPECT_NEAR(*sample.response_time_ms, 1500, 1e-9);
  EXPECT_NEAR(*sample.error_ms, 500 / std::sqrt(63), 1e-6);
  EXPECT_FALSE(sample.measured);  // It began before it was told what counts.
}

PeakPoint point_at(double rate_rps, double response_ms) {
  PeakPoint point;
  point.sample.offered_rps = rate_rps;
  point.sample.good = 1000;
  point.sample.length_s = 1000 / rate_rps;
  point.judged_ms = response_ms;
  return point;
}

TEST(PeakFinder, InterpolatesOnTheMeasuredCurve) {
  // Noise that falls with the load is averaged out; overload and draining say nothing.
  std::vector<PeakPoint> points{point_at(100, 1000), point_at(120, 1400), point_at(110, 1600),
                                point_at(130, 2000)};
  const auto rate_between = [&points](double low_ms, double high_ms) {
    PeakFinderOptions options;
    options.window_min_ms = low_ms;
    options.window_max_ms = high_ms;
    return interpolate_rate(points, options);
  };
  EXPECT_NEAR(*rate_between(1450, 1550), 115, 1e-9);
  EXPECT_NEAR(*rate_between(1700, 1800), 122.5, 1e-9);
  points.push_back(point_at(10, 9000));
  points.back().overload = true;
  points.push_back(point_at(500, 10));
  points.back().draining = true;
  EXPECT_NEAR(*rate_between(1450, 1550), 115, 1e-9);
  EXPECT_FALSE(rate_between(800, 900));
  EXPECT_FALSE(rate_between(2100, 2200));
  // The end of the curve lies in the window.
  EXPECT_EQ(rate_between(900, 1050), 100.0);
  EXPECT_EQ(rate_between(1950, 2150), 130.0);
  // All of a full system's points are of one load.
  points = {point_at(100, 1900), point_at(100.2, 1000), point_at(100.4, 1100)};
  EXPECT_NEAR(*rate_between(1450, 1550), 100.2, 0.1);
  EXPECT_FALSE(rate_between(1900, 2000));
  points.clear();
  EXPECT_FALSE(rate_between(1450, 1550));
}

}  // namespace
}  // namespace workload
