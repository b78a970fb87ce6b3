// PolyMix-4's plateau: 55 % of the basic requests can hit, and a cache that holds the working set
// answers nearly all of these, whether it is Squid or our proxy, to the request as its own log
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <fstream>

#include "tests/support/effort.h"
#include "tests/support/hit_counts.h"
#include "tests/support/robots.h"
#include "tests/support/squid.h"
#include "tests/support/stack.h"

namespace {

using testing_support::count_access_log;
using testing_support::count_in;
using testing_support::count_request_log;
using testing_support::difference;
using testing_support::effort;
using testing_support::HitCounts;
using testing_support::LogWriter;
using testing_support::Squid;
using testing_support::Stack;
using testing_support::StackOptions;
namespace fs = std::filesystem;
namespace json = boost::json;

constexpr uint64_t kFillRequests = effort(6'000, 1'500);
constexpr uint64_t kPlateauRequests = effort(10'000, 2'000);

/// Three standard errors of the offered hit ratio in percentage points: over seeds it is 0.68 for a
/// plateau of 40,000 requests and falls with the square root of their number. That is over twice
/// what so many independent requests would have, as the objects of a page hit or miss together.
double offered_tolerance() {
  return 3 * 0.68 * std::sqrt(40'000.0 / static_cast<double>(kPlateauRequests));
}

/// What a real cache may be above or below the infinite one, and two caches apart: half a point, or
/// 25 requests of a short plateau. A cache may fetch an object whole for a conditional request or
/// not, and requests that overlap may share a fetch or not.
double cache_tolerance() {
  return std::max(0.5, 100.0 * 25 / static_cast<double>(kPlateauRequests));
}

/// The phases of PolyMix-4 that matter here, counted in requests, so that every run of a seed asks
/// for the same objects in the same order.
std::string plateau_workload(const Stack& stack) {
  const fs::path file = stack.folder() / "plateau.toml";
  std::ofstream(file) << "base = \"polymix4\"\nname = \"polymix4, plateau\"\n"
                      << "[popularity]\nworking_set_objects_max = " << kFillRequests / 4 << "\n"
                      << "[[phases]]\nname = \"fill\"\nprimary = false\n"
                      << "requests = " << kFillRequests << "\n"
                      << "recurrence = 0.0909\nspecial = 0.1\n"
                      << "[[phases]]\nname = \"plateau\"\nrequests = " << kPlateauRequests << "\n"
                      << "recurrence = 1\nspecial = 1\n";
  return file.string();
}

/// What one cache made of the plateau.
struct Plateau {
  double offered_percent = 0;
  double attainable_percent = 0;  ///< By an infinite cache.
  double measured_percent = 0;
  uint64_t hits = 0;  ///< Of all phases and kinds of request.
};

Plateau drive(const Stack& stack, const std::string& proxy, const fs::path& out) {
  const auto run =
      testing_support::run_robots(stack, proxy, out,
                                  {"--workload", plateau_workload(stack), "--load",
                                   "best-effort=16", "--seed", "4", "--time-scale", "1000"});
  if (run.empty()) return {};
  uint64_t hits = 0;
  for (const auto& phase : run.at("phases").as_array()) {
    testing_support::expect_no_errors(phase.as_object());
    hits += count_in(phase.at("hits"));
  }
  EXPECT_EQ(count_in(run.at("good")), kPlateauRequests);
  return {run.at("offered_hit_ratio_percent").to_number<double>(),
          run.at("attainable_hit_ratio_percent").to_number<double>(),
          run.at("hit_ratio_percent").to_number<double>(), hits};
}

/// The robots' own counts are those of their request log, and both are the proxy's.
void expect_agreement(const Plateau& plateau, const fs::path& out, const HitCounts& logged) {
  const HitCounts robots = count_request_log(out / "requests.log");
  EXPECT_EQ(robots.total.requests, kFillRequests + kPlateauRequests);
  EXPECT_EQ(robots.total.hits, plateau.hits);
  EXPECT_EQ(logged.total, robots.total);
  EXPECT_EQ(difference(robots, logged), "");
}

void expect_ratios(const Plateau& plateau) {
  EXPECT_NEAR(plateau.offered_percent, 55, offered_tolerance());
  EXPECT_NEAR(plateau.measured_percent, plateau.attainable_percent, cache_tolerance());
  EXPECT_LE(plateau.measured_percent, plateau.offered_percent + cache_tolerance());
}

Plateau through_our_proxy(const std::string& cache) {
  Stack stack(StackOptions{{}, {"--cache-dir", cache}});
  const Plateau plateau = drive(stack, stack.proxy_address(), stack.folder() / "out");
  EXPECT_EQ(stack.stop_proxy().exit_status, 0);
  expect_agreement(plateau, stack.folder() / "out",
                   count_access_log(stack.access_log(), LogWriter::kOurProxy));
  return plateau;
}

TEST(PolymixPlateau, ThroughOurProxyFromMemoryAndFromFiles) {
  const Plateau memory = through_our_proxy("scheme=memory,size=1G");
  expect_ratios(memory);
  const Plateau files = through_our_proxy("scheme=ufs,path={folder}/cache,size=1G,l1=4,l2=16");
  expect_ratios(files);
  EXPECT_EQ(files.attainable_percent, memory.attainable_percent);
  EXPECT_NEAR(files.measured_percent, memory.measured_percent, cache_tolerance());
}

TEST(PolymixPlateau, ThroughSquidAsThroughOurProxy) {
  if (!Squid::installed()) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const Plateau other = drive(stack, squid.address(), stack.folder() / "out-squid");
  squid.stop();
  expect_agreement(other, stack.folder() / "out-squid",
                   count_access_log(squid.access_log(), LogWriter::kSquid));
  expect_ratios(other);

  const Plateau ours = through_our_proxy("scheme=memory,size=1G");
  EXPECT_EQ(ours.attainable_percent, other.attainable_percent);
  EXPECT_NEAR(ours.measured_percent, other.measured_percent, cache_tolerance());
}

}  // namespace
