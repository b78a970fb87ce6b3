#include "workload/client/arrival_schedule.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/queueing_server.h"
#include "tests/support/seed.h"
#include "workload/client/release_timing.h"
#include "workload/measure/histogram.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr storage::SteadyTime kStart{seconds(100)};

double seconds_after_start(storage::SteadyTime time) {
  return std::chrono::duration<double>(time - kStart).count();
}

TEST(ArrivalSchedule, EqualGapsAreEqual) {
  ArrivalSchedule schedule(false, storage::Random(1), kStart);
  schedule.set_rate(10, kStart);
  EXPECT_EQ(schedule.due(schedule.take(1)), kStart);
  EXPECT_EQ(schedule.due(schedule.take(3)), kStart + milliseconds(100));
  // A page of three requests takes three gaps.
  EXPECT_EQ(schedule.due(schedule.take(1)), kStart + milliseconds(400));
}

TEST(ArrivalSchedule, PoissonGapsHaveTheirMeanAndVariance) {
  ArrivalSchedule schedule(true, storage::Random(testing_support::test_seed(1)), kStart);
  schedule.set_rate(100, kStart);
  constexpr int kCount = 40'000;
  double last_s = 0;
  double sum = 0;
  double squares = 0;
  for (int arrival = 0; arrival < kCount; ++arrival) {
    const double due_s = seconds_after_start(*schedule.due(schedule.take(1)));
    sum += due_s - last_s;
    squares += (due_s - last_s) * (due_s - last_s);
    last_s = due_s;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 0.01, 0.0003);
  EXPECT_NEAR(squares / kCount - mean * mean, 0.0001, 0.000006);
}

TEST(ArrivalSchedule, AChangeOfTheRateMovesWhatIsNotDueYet) {
  ArrivalSchedule schedule(false, storage::Random(1), kStart);
  schedule.set_rate(1, kStart);
  const double first = schedule.take(1);
  const double second = schedule.take(1);
  const double third = schedule.take(1);
  EXPECT_EQ(schedule.due(second), kStart + seconds(1));
  // Half of the gap is over when the rate doubles.
  schedule.set_rate(2, kStart + milliseconds(500));
  EXPECT_EQ(schedule.due(first), kStart);
  EXPECT_EQ(schedule.due(second), kStart + milliseconds(750));
  EXPECT_EQ(schedule.due(third), kStart + milliseconds(1250));
  // What was due stays due when it was, however late it is looked at.
  schedule.set_rate(50, kStart + seconds(1));
  EXPECT_EQ(schedule.due(second), kStart + milliseconds(750));
}

TEST(ArrivalSchedule, NothingIsDueWhileTheRateIsZero) {
  ArrivalSchedule schedule(true, storage::Random(1), kStart);
  const double place = schedule.take(1);
  EXPECT_FALSE(schedule.due(place));
  schedule.set_rate(5, kStart + seconds(10));
  EXPECT_GE(*schedule.due(place), kStart + seconds(10));
}

TEST(ArrivalSchedule, KnowsHowManyAreDueAndWereNotTaken) {
  const storage::SteadyTime start{std::chrono::seconds(5)};
  ArrivalSchedule schedule(false, storage::Random(1), start);
  schedule.set_rate(100, start);
  EXPECT_EQ(schedule.not_taken_until(start + std::chrono::seconds(1)), 101U);
  for (int arrival = 0; arrival < 40; ++arrival) schedule.take(1);
  EXPECT_EQ(schedule.not_taken_until(start + std::chrono::seconds(1)), 61U);
  EXPECT_EQ(schedule.not_taken_until(start + std::chrono::milliseconds(200)), 0U);
  // A change of the rate counts from its instant on.
  schedule.set_rate(10, start + std::chrono::seconds(1));
  EXPECT_EQ(schedule.not_taken_until(start + std::chrono::seconds(2)), 71U);
}

TEST(ArrivalSchedule, TheSeedDecidesTheTimes) {
  const auto times = [](uint64_t seed) {
    ArrivalSchedule schedule(true, storage::Random(seed), kStart);
    schedule.set_rate(7, kStart);
    std::vector<storage::SteadyTime> due;
    for (int arrival = 0; arrival < 100; ++arrival) due.push_back(*schedule.due(schedule.take(2)));
    return due;
  };
  EXPECT_EQ(times(3), times(3));
  EXPECT_NE(times(3), times(4));
}

/// A server that stops for one second in ten, in simulated time, for 100 s.
class StallingServer {
 public:
  /// When the request that starts at `now_s` is answered; starts come in order of time.
  double serve(double now_s) {
    for (; next_stall_s_ <= now_s; next_stall_s_ += 10) server_.stall(next_stall_s_ + 1);
    return server_.serve(now_s, 0.001);
  }

 private:
  testing_support::QueueingServer server_{8, storage::Random(5)};
  double next_stall_s_ = 5;
};

TEST(OpenLoop, ShowsAStallThatAClosedLoopHides) {
  constexpr double kRunS = 100;
  Histogram open;
  {
    StallingServer server;
    ArrivalSchedule schedule(true, storage::Random(1), kStart);
    schedule.set_rate(100, kStart);
    for (;;) {
      const double due_s = seconds_after_start(*schedule.due(schedule.take(1)));
      if (due_s > kRunS) break;
      open.record(static_cast<uint64_t>((server.serve(due_s) - due_s) * 1e9));
    }
  }
  // A robot of the same rate: it waits for its answers, and what it would have asked for meanwhile
  // is never missed.
  Histogram closed;
  {
    StallingServer server;
    RobotModel model;
    model.requests_per_second = 100;
    const auto timing = closed_loop_timing(LoadShape::Kind::kRobots, model, 1, storage::Random(1));
    double now_s = 0;
    while (now_s < kRunS) {
      const double end_s = server.serve(now_s);
      closed.record(static_cast<uint64_t>((end_s - now_s) * 1e9));
      const auto start = kStart + storage::Nanoseconds(static_cast<int64_t>(now_s * 1e9));
      now_s = std::max(end_s, seconds_after_start(*timing->next(start, 1)));
    }
  }
  EXPECT_NEAR(static_cast<double>(*open.percentile_ns(99)) / 1e6, 900, 60);
  EXPECT_LT(static_cast<double>(*closed.percentile_ns(99)) / 1e6, 20);
  // The stall is there in both: only its weight differs.
  EXPECT_GT(static_cast<double>(*closed.max_ns()) / 1e6, 900);
}

}  // namespace
}  // namespace workload
