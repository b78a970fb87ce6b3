// How far the hit ratio of one PolyMix-4 plateau is from 55 % by chance alone.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/effort.h"
#include "workload/model/request_stream.h"

namespace workload {
namespace {

constexpr uint64_t kSeeds = testing_support::effort(40, 8);
constexpr uint64_t kFillRequests = 60'000;
constexpr uint64_t kPlateauRequests = 40'000;

struct Ratios {
  double offered_percent = 0;
  double attainable_percent = 0;
};

/// The fill phase of PolyMix-4, then its plateau.
Ratios ratios_of_plateau(uint64_t seed) {
  Workload workload = polymix4_workload();
  workload.popularity.working_set_objects_max = kFillRequests / 4;
  RequestStream stream(workload, seed);
  for (uint64_t index = 0; index < kFillRequests; ++index) stream.next({5.0 / 55, 0.1});
  double basic = 0;
  Ratios hits;
  for (uint64_t index = 0; index < kPlateauRequests; ++index) {
    const auto request = stream.next();
    if (!request.basic()) continue;
    basic += 1;
    hits.offered_percent += request.offered_hit_reference ? 1 : 0;
    hits.attainable_percent += request.offered_hit ? 1 : 0;
  }
  return {100 * hits.offered_percent / basic, 100 * hits.attainable_percent / basic};
}

TEST(PlateauHitRatio, IsFiftyFivePercentGiveOrTakeTwoThirdsOfAPointOverSeeds) {
  std::vector<Ratios> plateaus;
  Ratios mean;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    plateaus.push_back(ratios_of_plateau(seed));
    mean.offered_percent += plateaus.back().offered_percent / kSeeds;
    mean.attainable_percent += plateaus.back().attainable_percent / kSeeds;
  }
  double squares = 0;
  for (const Ratios& each : plateaus) {
    squares += std::pow(each.offered_percent - mean.offered_percent, 2);
  }
  const double deviation = std::sqrt(squares / (kSeeds - 1));
  // Three standard errors of a mean and of a standard deviation.
  const double seeds = kSeeds;
  EXPECT_NEAR(mean.offered_percent, 55, 3 * 0.66 / std::sqrt(seeds));
  EXPECT_NEAR(deviation, 0.66, 3 * 0.66 / std::sqrt(2 * (seeds - 1)));
  // What only a 304 or a HEAD has touched is offered, but cannot be had.
  EXPECT_NEAR(mean.offered_percent - mean.attainable_percent, 0.6, 0.2);
}

}  // namespace
}  // namespace workload
