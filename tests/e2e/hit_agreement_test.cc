// A hit that the robots count is a hit in the cache's own access log, to the request: for our
// proxy with every scheme, and for a real Squid in its place.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
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
using testing_support::expect_no_errors;
using testing_support::HitCounts;
using testing_support::LogWriter;
using testing_support::Squid;
using testing_support::Stack;
using testing_support::StackOptions;
namespace fs = std::filesystem;
namespace json = boost::json;

/// PolyMix-4, or a workload made from it, through the proxy at `proxy`.
json::object drive(const Stack& stack, const std::string& proxy, const fs::path& out,
                   const std::string& requests, const std::string& workload = "polymix4") {
  return testing_support::run_robots(
      stack, proxy, out,
      {"--workload", workload, "--load", "best-effort=16", "--until", "requests=" + requests,
       "--seed", "11", "--time-scale", "1000"});
}

/// Every request of the access log, and every hit, is one of the robots', and the other way round.
void expect_agreement(const json::object& run, const fs::path& out, const HitCounts& logged) {
  EXPECT_EQ(logged.total.requests, count_in(run.at("requests")));
  EXPECT_EQ(logged.total.hits, count_in(run.at("hits")));
  EXPECT_EQ(difference(count_request_log(out / "requests.log"), logged), "");
}

/// PolyMix-4 with every other kind of request, and with aborts on both sides: many, and of objects
/// large enough that an abort comes before the end.
std::string every_kind(const Stack& stack) {
  const fs::path file = stack.folder() / "every_kind.toml";
  std::ofstream(file) << "base = \"polymix4\"\nname = \"every kind\"\n"
                         "[content.video]\nshare_percent = 5\nsize = \"lognormal:500KB,300KB\"\n"
                         "life_cycle = \"constant:365d\"\n"
                         "[requests]\netag_200_percent = 5\netag_304_percent = 10\n"
                         "range_percent = 10\nrange_size = \"exponential:20KB\"\n"
                         "[robot]\nabort_percent = 1\n[server]\nabort_percent = 2\n";
  return file.string();
}

/// What must hold of a run with every kind, whatever the proxy.
void expect_every_kind(const json::object& run) {
  expect_no_errors(run);
  EXPECT_GT(count_in(run.at("ranges")), 100U);
  EXPECT_GT(count_in(run.at("aborted")), 20U);
  EXPECT_GT(count_in(run.at("cut")), 20U);
  EXPECT_EQ(count_in(run.at("completed")),
            count_in(run.at("good")) + count_in(run.at("aborted")) + count_in(run.at("cut")));
}

/// PolyMix-4 with objects that live for a second, at a pace at which the run takes several: many
/// repeats need the origin's word.
json::object drive_short_lived(const Stack& stack, const std::string& proxy, const fs::path& out) {
  const fs::path file = stack.folder() / "short_lived.toml";
  {
    std::ofstream text(file);
    text << "base = \"polymix4\"\nname = \"short lives\"\n";
    for (const char* const type : {"image", "html", "download", "other"}) {
      text << "[content." << type << "]\nlife_cycle = \"constant:1s\"\n"
           << "life_cycle_variance_percent = 0\n";
    }
  }
  const auto requests = testing_support::effort(2500, 1500);
  return testing_support::run_robots(
      stack, proxy, out,
      {"--workload", file.string(), "--load", "robots=16", "--until",
       "requests=" + std::to_string(requests), "--seed", "11", "--time-scale", "100"});
}

class HitAgreement : public testing::TestWithParam<const char*> {};

TEST_P(HitAgreement, RobotsAndAccessLogCountTheSameHits) {
  Stack stack(StackOptions{{}, {"--cache-dir", GetParam()}});
  const auto run = drive(stack, stack.proxy_address(), stack.folder() / "out", "6000");
  ASSERT_EQ(stack.stop_proxy().exit_status, 0);
  expect_no_errors(run);
  const auto logged = count_access_log(stack.access_log(), LogWriter::kOurProxy);
  expect_agreement(run, stack.folder() / "out", logged);
  if (std::string(GetParam()) == "scheme=none") {
    EXPECT_EQ(count_in(run.at("hits")), logged.tagged("TCP_CF_HIT"));
  } else {
    EXPECT_GT(count_in(run.at("hits")), 1500U);
  }
}

TEST_P(HitAgreement, NothingBrokenOffIsStored) {
  Stack stack(StackOptions{{}, {"--cache-dir", GetParam()}});
  const auto run =
      drive(stack, stack.proxy_address(), stack.folder() / "out", "6000", every_kind(stack));
  ASSERT_EQ(stack.stop_proxy().exit_status, 0);
  expect_every_kind(run);
  EXPECT_EQ(count_access_log(stack.access_log(), LogWriter::kOurProxy).total.requests,
            count_in(run.at("requests")));
}

TEST(HitAgreementOfMemory, AValidatedHitIsAHit) {
  Stack stack(StackOptions{{}, {"--cache-dir", "scheme=memory,size=512M"}});
  const fs::path out = stack.folder() / "out";
  const auto run = drive_short_lived(stack, stack.proxy_address(), out);
  ASSERT_EQ(stack.stop_proxy().exit_status, 0);
  expect_no_errors(run);
  expect_agreement(run, out, count_access_log(stack.access_log(), LogWriter::kOurProxy));
  EXPECT_GT(count_in(run.at("validated_hits")), 50U);
}

INSTANTIATE_TEST_SUITE_P(Schemes, HitAgreement,
                         testing::Values("scheme=none", "scheme=memory,size=512M",
                                         "scheme=ufs,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=aufs,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=diskd,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=coss,path={folder}/cache,size=512M",
                                         "scheme=rock,path={folder}/cache,size=512M"),
                         [](const auto& row) {
                           const std::string text = row.param;
                           return text.substr(7, std::min(text.find(','), text.size()) - 7);
                         });

TEST(HitAgreementWithSquid, RobotsAndSquidsAccessLogCountTheSameHits) {
  if (!Squid::installed()) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const auto run = drive(stack, squid.address(), stack.folder() / "out", "6000");
  squid.stop();
  expect_no_errors(run);
  expect_agreement(run, stack.folder() / "out",
                   count_access_log(squid.access_log(), LogWriter::kSquid));
  EXPECT_GT(count_in(run.at("hits")), 1500U);
}

TEST(HitAgreementWithSquid, AValidatedHitIsAHit) {
  if (!Squid::installed()) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const fs::path out = stack.folder() / "out";
  const auto run = drive_short_lived(stack, squid.address(), out);
  squid.stop();
  expect_no_errors(run);
  const auto logged = count_access_log(squid.access_log(), LogWriter::kSquid);
  expect_agreement(run, out, logged);
  EXPECT_GT(count_in(run.at("validated_hits")), 50U);
  EXPECT_GT(logged.tagged("TCP_REFRESH_UNMODIFIED"), count_in(run.at("validated_hits")));
}

TEST(HitAgreementWithSquid, NothingBrokenOffIsStored) {
  if (!Squid::installed()) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const auto run = drive(stack, squid.address(), stack.folder() / "out", "6000", every_kind(stack));
  squid.stop();
  expect_every_kind(run);
}

}  // namespace
