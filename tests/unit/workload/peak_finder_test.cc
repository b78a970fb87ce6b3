#include "workload/measure/peak_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <queue>

#include "tests/support/queueing_server.h"
#include "tests/support/seed.h"
#include "workload/client/arrival_schedule.h"
#include "workload/client/peak_sampler.h"

namespace workload {
namespace {

using testing_support::QueueingServer;

/// A server of known capacity under an open loop that a PeakSampler steers, in simulated time.
class SimulatedRun {
 public:
  SimulatedRun(size_t servers, double service_mean_s, double delay_s, PeakFinderOptions options,
               uint64_t seed)
      : servers_(servers),
        service_mean_s_(service_mean_s),
        delay_s_(delay_s),
        options_(options),
        server_(servers, service_mean_s, delay_s, storage::Random(seed).fork(1)),
        schedule_(true, storage::Random(seed).fork(2), kStart),
        sampler_(options, kStart) {
    schedule_.set_rate(sampler_.rate_rps(), kStart);
    place_ = schedule_.take(1);
  }

  /// From a part of the load on, requests fail at once instead of waiting.
  void fail_above(uint64_t in_system) { in_system_max_ = in_system; }

  /// Runs `samples` samples; those from `measured_from` on count.
  void run(int samples, int measured_from) {
    const double look_s = options_.sample_s / 50;
    for (double now_s = look_s; now_s <= samples * options_.sample_s; now_s += look_s) {
      arrive_until(now_s);
      end_until(now_s);
      sampler_.look(counts_, time_at(now_s), now_s >= measured_from * options_.sample_s);
      schedule_.set_rate(sampler_.rate_rps(), time_at(now_s));
    }
  }

  const PeakFinder& finder() const { return sampler_.finder(); }
  double true_rate() const {
    return testing_support::rate_at_s(servers_, service_mean_s_, delay_s_,
                                      options_.target_ms() / 1e3);
  }

 private:
  static constexpr storage::SteadyTime kStart{};
  static storage::SteadyTime time_at(double time_s) {
    return kStart + storage::Nanoseconds(std::llround(time_s * 1e9));
  }

  void arrive_until(double now_s) {
    for (;;) {
      const auto due = schedule_.due(place_);
      if (!due || *due > time_at(now_s)) return;
      place_ = schedule_.take(1);
      ++counts_.offered;
      if (counts_.unfinished() > in_system_max_) {
        ++counts_.ended;
        ++counts_.errors;
        continue;
      }
      const double due_s = std::chrono::duration<double>(due->time_since_epoch()).count();
      ends_.push({server_.serve(due_s), due_s});
      end_until(due_s);
    }
  }

  void end_until(double now_s) {
    for (; !ends_.empty() && ends_.top().first <= now_s; ends_.pop()) {
      ++counts_.ended;
      ++counts_.good;
      counts_.response_time_ns +=
          static_cast<uint64_t>((ends_.top().first - ends_.top().second) * 1e9);
    }
  }

  size_t servers_;
  double service_mean_s_;
  double delay_s_;
  PeakFinderOptions options_;
  QueueingServer server_;
  ArrivalSchedule schedule_;
  PeakSampler sampler_;
  double place_ = 0;
  uint64_t in_system_max_ = UINT64_MAX;
  LiveCounts counts_;
  /// End and due time of what is in the system, the next to end on top.
  std::priority_queue<std::pair<double, double>, std::vector<std::pair<double, double>>,
                      std::greater<>>
      ends_;
};

PeakFinderOptions reference_options(double start_rps) {
  PeakFinderOptions options;
  options.window_min_ms = 1500;
  options.window_max_ms = 1750;
  options.sample_s = 10;
  options.start_rps = start_rps;
  options.max_rps = 5000;
  return options;
}

struct Server {
  size_t servers;
  double service_mean_s;
  double delay_s;
};

class PeakFinderOnServers : public testing::TestWithParam<std::tuple<Server, double>> {};

TEST_P(PeakFinderOnServers, SettlesAtTheCapacityAndStaysThere) {
  const auto& [server, start_rps] = GetParam();
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimulatedRun run(server.servers, server.service_mean_s, server.delay_s,
                     reference_options(start_rps), seed);
    run.run(90, 50);
    const double truth = run.true_rate();
    const PeakSummary summary = run.finder().summary();
    EXPECT_EQ(summary.limit, PeakLimit::kSystem);
    EXPECT_NEAR(*summary.load_mean_rps, truth, 0.02 * truth);
    EXPECT_GE(*summary.load_low_rps, 0.93 * truth);
    EXPECT_LE(*summary.load_high_rps, 1.07 * truth);
    ASSERT_TRUE(summary.rate_at_target_rps);
    EXPECT_NEAR(*summary.rate_at_target_rps, truth, 0.03 * truth);
  }
}

INSTANTIATE_TEST_SUITE_P(
    ServersAndStarts, PeakFinderOnServers,
    testing::Combine(testing::Values(Server{1, 0.001, 1.2}, Server{4, 0.005, 1.2},
                                     Server{16, 0.02, 1.2}, Server{400, 0.4, 1.0}),
                     testing::Values(30.0, 700.0, 4000.0)));

TEST(PeakFinder, FallsOutOfAnAbruptOverloadAtOnceAndSettles) {
  // Four times the capacity from the start.
  SimulatedRun run(4, 0.005, 1.2, reference_options(3200), 7);
  run.run(60, 30);
  const auto& points = run.finder().points();
  EXPECT_TRUE(points.front().overload);
  EXPECT_LT(points.front().sample.length_s, 7);  // It was not waited for the sample's end.
  EXPECT_LT(points[1].sample.offered_rps, run.true_rate());
  EXPECT_TRUE(run.finder().summary().settled);
  EXPECT_NEAR(*run.finder().summary().load_mean_rps, run.true_rate(), 0.05 * run.true_rate());
}

TEST(PeakFinder, SaysWhereTheOfferedLoadWasTheLimit) {
  PeakFinderOptions options = reference_options(50);
  options.max_rps = 100;
  SimulatedRun run(1000, 0.01, 1.2, options, 3);
  run.run(30, 15);
  const PeakSummary summary = run.finder().summary();
  EXPECT_EQ(summary.limit, PeakLimit::kOffered);
  EXPECT_EQ(summary.load_mean_rps, 100.0);
  EXPECT_FALSE(summary.rate_at_target_rps);
  EXPECT_EQ(summary.overloads, 0U);
}

TEST(PeakFinder, ErrorsCountAgainstTheLoad) {
  // A server that answers at once or not at all: its response time never says that it is full.
  SimulatedRun run(10, 0.1, 0.2, reference_options(20), 5);
  run.fail_above(40);
  run.run(80, 40);
  const PeakSummary summary = run.finder().summary();
  EXPECT_EQ(summary.limit, PeakLimit::kSystem);
  EXPECT_GT(summary.overloads, 0U);
  EXPECT_LT(*summary.load_high_rps, 150);
}

TEST(PeakFinder, ARunThatEndsWhileItClimbsHasNoLimit) {
  SimulatedRun run(1000, 0.01, 1.2, reference_options(1), 3);
  run.run(5, 3);
  EXPECT_EQ(run.finder().summary().limit, PeakLimit::kNone);
  EXPECT_FALSE(run.finder().summary().settled);
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
  points.clear();
  EXPECT_FALSE(rate_between(1450, 1550));
}

}  // namespace
}  // namespace workload
