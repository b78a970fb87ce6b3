// The pace at which a cache is filled before a peak is looked for.
#include "workload/client/fill_pace.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

using std::chrono::milliseconds;

/// A server that answers what it can in the order of arrival, so long after a request came at the
/// least.
struct Server {
  double capacity_rps;
  double latency_s;

  /// The most that were ever under way, and the last rate, after so many seconds.
  std::pair<double, double> fill(FillPace& pace, double length_s) const {
    const double step_s = 0.01;
    storage::SteadyTime now{};
    std::vector<double> sent;
    double done = 0;
    double sum = 0;
    double most = 0;
    for (size_t step = 0; static_cast<double>(step) * step_s < length_s; ++step) {
      sum += pace.rate_rps() * step_s;
      sent.push_back(sum);
      const auto lag = static_cast<size_t>(latency_s / step_s);
      const double ripe = step >= lag ? sent[step - lag] : 0;
      done = std::min(ripe, done + capacity_rps * step_s);
      most = std::max(most, sum - done);
      now += milliseconds(10);
      LiveCounts counts;
      counts.offered = static_cast<uint64_t>(sum);
      counts.ended = static_cast<uint64_t>(done);
      pace.look(counts, now);
    }
    return {most, pace.rate_rps()};
  }
};

TEST(FillPace, ReachesWhatTheSystemCanDoAndFloodsNobody) {
  for (const double capacity_rps : {500.0, 3000.0, 20'000.0}) {
    FillPace pace(300, storage::SteadyTime{});
    const auto [most, rate_rps] = Server{capacity_rps, 0.3}.fill(pace, 20);
    EXPECT_LT(most, 2500) << capacity_rps;
    EXPECT_GT(rate_rps, std::min(0.7 * capacity_rps, 2500.0)) << capacity_rps;
    EXPECT_LT(rate_rps, 1.3 * std::min(capacity_rps, 4000.0)) << capacity_rps;
  }
}

TEST(FillPace, NeverFallsBelowItsStart) {
  FillPace pace(300, storage::SteadyTime{});
  EXPECT_EQ((Server{10, 0.3}.fill(pace, 20).second), 300);
}

}  // namespace
}  // namespace workload
