#include "workload/experiment/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/experiment/access_log_count.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunObservation calm_run() {
  RunObservation seen;
  seen.requests = 10000;
  seen.load_cpu_share = 0.3;
  seen.proxy_cpu_share = 0.4;
  seen.origin_cpu_share = 0.2;
  seen.steady = true;
  return seen;
}

TEST(Verdict, ACalmRunIsLimitedByItsLoadAndValid) {
  const RunVerdict verdict = judge_run(calm_run());
  EXPECT_EQ(verdict.limited_by, kLimitedByOffer);
  EXPECT_THAT(verdict.warnings, IsEmpty());
  EXPECT_TRUE(verdict.valid);
}

TEST(Verdict, NamesTheLimit) {
  auto seen = calm_run();
  seen.proxy_loop_share = 0.95;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  // An event loop that waits for its disk is as full as one that computes.
  seen.proxy_loop_share = 0.3;
  seen.proxy_blocked_share = 0.65;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByDisk);
  seen = calm_run();
  seen.helper_cpu_share = 0.92;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByHelper);
  seen.helper_cpu_share = 0.2;
  seen.helper_blocked_share = 0.75;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByDisk);
  seen = calm_run();
  seen.disk_busy_share = 0.97;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByDisk);
  seen = calm_run();
  seen.origin_cpu_share = 0.99;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByOrigin);
  seen = calm_run();
  seen.machine_busy_share = 0.99;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByMachine);
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("all CPUs")));
  EXPECT_TRUE(judge_run(seen).valid);
}

TEST(Verdict, ThreadsThatDoTheIoAreNoEventLoop) {
  auto seen = calm_run();
  seen.proxy_cpu_share = 1.4;
  seen.proxy_loop_share = 0.5;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByOffer);
}

TEST(Verdict, AMemoryLimitThatDidNotHoldIsNotValid) {
  auto seen = calm_run();
  seen.memory_excess_share = 0.04;
  EXPECT_TRUE(judge_run(seen).valid);
  seen.memory_excess_share = 0.5;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("exceeded by 50 %")));
  EXPECT_FALSE(judge_run(seen).valid);
}

TEST(Verdict, ASaturatedGeneratorMakesALowerBound) {
  auto seen = calm_run();
  seen.load_cpu_share = 0.96;
  seen.proxy_cpu_share = 0.99;
  const RunVerdict verdict = judge_run(seen);
  EXPECT_EQ(verdict.limited_by, kLimitedByLoad);
  EXPECT_THAT(verdict.warnings, ElementsAre(HasSubstr("lower bound")));
  EXPECT_FALSE(verdict.valid);
}

TEST(Verdict, EveryFlagHasItsLine) {
  auto seen = calm_run();
  seen.errors = 11;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("11 of 10000 requests failed")));
  seen.errors = 10;
  EXPECT_THAT(judge_run(seen).warnings, IsEmpty());
  seen = calm_run();
  seen.steady = false;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("not steady")));
  seen = calm_run();
  seen.steal_share = 0.05;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("5.0 % of the CPU")));
  seen = calm_run();
  seen.others_busy_share = 0.3;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("other programs used 30 %")));
  seen = calm_run();
  seen.clock_step_s = -1.5;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("-1.500 s")));
  seen = calm_run();
  seen.wrong_bodies = 1;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("wrong bytes")));
  seen = calm_run();
  seen.requests = 0;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("no request")));
}

TEST(Verdict, TwoAccountsOfHitsMustAgree) {
  auto seen = calm_run();
  seen.robot_hits = 5;
  EXPECT_THAT(judge_run(seen).warnings, IsEmpty());
  seen.proxy_hits = 5;
  EXPECT_THAT(judge_run(seen).warnings, IsEmpty());
  seen.proxy_hits = 6;
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("robots saw 5 hits")));
}

TEST(AccessLogCount, CountsResultCodes) {
  AccessLogCounts counts;
  for (const auto* code :
       {"TCP_HIT/200", "TCP_MEM_HIT/200", "TCP_IMS_HIT/304", "TCP_INM_HIT/304", "TCP_CF_HIT/200",
        "TCP_REFRESH_UNMODIFIED/200", "TCP_MISS/200", "TCP_CLIENT_REFRESH_MISS/200",
        "TCP_REFRESH_MODIFIED/200", "TCP_HIT_ABORTED/200", "NONE_NONE/400"}) {
    count_access_log_line("1700000000.123     45 127.0.0.1 " + std::string(code) +
                              " 4321 GET http://h/ - HIER_NONE/- text/html",
                          LogDialect::kOurs, counts);
  }
  count_access_log_line("garbage", LogDialect::kOurs, counts);
  EXPECT_EQ(counts.lines, 12U);
  EXPECT_EQ(counts.hits, 6U);
  EXPECT_EQ(counts.requests, 9U);
  EXPECT_EQ(counts.aborted, 1U);
  EXPECT_EQ(counts.unreadable, 1U);
}

TEST(AccessLogCount, MapsWhatSquidCallsOtherwise) {
  const auto hits = [](const std::string& code, const std::string& server, LogDialect dialect) {
    AccessLogCounts counts;
    count_access_log_line("1700000000.123     45 127.0.0.1 " + code + " 4321 GET http://h/ - " +
                              server + " text/html",
                          dialect, counts);
    return counts.hits;
  };
  EXPECT_EQ(hits("TCP_MISS/200", "HIER_NONE/-", LogDialect::kSquids), 1U);
  EXPECT_EQ(hits("TCP_MISS/200", "HIER_NONE/-", LogDialect::kOurs), 0U);
  EXPECT_EQ(hits("TCP_MISS/200", "HIER_DIRECT/127.0.0.1", LogDialect::kSquids), 0U);
  EXPECT_EQ(hits("TCP_REFRESH_UNMODIFIED/304", "HIER_DIRECT/h", LogDialect::kSquids), 0U);
  EXPECT_EQ(hits("TCP_REFRESH_UNMODIFIED/304", "HIER_DIRECT/h", LogDialect::kOurs), 1U);
  EXPECT_EQ(hits("TCP_REFRESH_UNMODIFIED/200", "HIER_DIRECT/h", LogDialect::kSquids), 1U);
  EXPECT_EQ(hits("TCP_MEM_HIT/200", "HIER_NONE/-", LogDialect::kSquids), 1U);
}

TEST(Verdict, AGeneratorThatWasShortOfAnythingWasTheLimit) {
  auto seen = calm_run();
  seen.generator_limit = "ports";
  const RunVerdict verdict = judge_run(seen);
  EXPECT_EQ(verdict.limited_by, kLimitedByLoad);
  EXPECT_FALSE(verdict.valid);
  EXPECT_THAT(verdict.warnings, ElementsAre(HasSubstr("(ports)")));
}

TEST(Verdict, AnOfferedLoadThatWasNotCarriedIsNoValidRun) {
  auto seen = calm_run();
  seen.offered = 10'000;
  seen.unsent = 100;
  EXPECT_TRUE(judge_run(seen).valid);
  seen.unsent = 101;
  EXPECT_FALSE(judge_run(seen).valid);
}

TEST(Verdict, APeakIsLimitedByWhatWasTheBusiest) {
  RunObservation seen = calm_run();
  seen.peak_limit = "system";
  seen.peak_settled = true;
  seen.steady = false;  // its load follows the response time
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByResponseTime);
  EXPECT_TRUE(judge_run(seen).valid);
  seen.proxy_loop_share = 0.6;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  seen.disk_busy_share = 0.7;
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByDisk);
  seen.peak_limit = "offered";
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByOffer);
}

TEST(Verdict, APeakThatDidNotSettleIsNotValid) {
  RunObservation seen = calm_run();
  seen.peak_limit = "system";
  seen.peak_settled = false;
  seen.peak_note = "none found";
  EXPECT_THAT(judge_run(seen).warnings, ElementsAre(HasSubstr("not settle: none found")));
  EXPECT_FALSE(judge_run(seen).valid);
}

}  // namespace
}  // namespace workload
