#include "workload/client/open_loop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/workload/load_run_under_test.h"

namespace workload {
namespace {

LoadOptions open_loop_for(uint16_t port, double rate_rps, uint64_t requests) {
  LoadOptions options = options_for(port, 1, requests);
  options.load.kind = LoadShape::Kind::kRate;
  options.load.rate_rps = rate_rps;
  return options;
}

TEST(OpenLoopRun, OffersEachRequestAndSendsIt) {
  ScriptedServer server(origin_script);
  LoadOptions options = open_loop_for(server.port(), 2000, 600);
  options.threads = 2;
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(server.requests(), 600U);
  EXPECT_EQ(outcome.result.total.offered, 600U);
  EXPECT_EQ(outcome.result.total.good, 600U);
  EXPECT_EQ(outcome.result.waiting_time.count(), 600U);
  EXPECT_EQ(outcome.result.first_byte_time.count(), 600U);
  EXPECT_GT(outcome.result.generator.start_lateness.count(), 0U);
  // Poisson arrivals of 2000/s: 600 of them take 0.3 s, give or take 0.012 s.
  EXPECT_GE(outcome.result.duration, std::chrono::milliseconds(220));
  expect_sums(outcome);
}

TEST(OpenLoopRun, EmbeddedObjectsTakePlacesOfTheScheduleAndFollowTheirPage) {
  ScriptedServer server(origin_script);
  LoadOptions options = open_loop_for(server.port(), 2000, 500);
  options.workload = small_polymix();
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.result.total.offered, 500U);
  EXPECT_EQ(outcome.result.total.good, 500U);
  // 500 gaps of half a millisecond, embedded objects included.
  EXPECT_GE(outcome.result.duration, std::chrono::milliseconds(150));
  expect_sums(outcome);
}

TEST(OpenLoopRun, WaitingForAConnectionIsInTheResponseTime) {
  // One connection and 5 ms a request, when 1000/s are due: each waits behind those before it.
  ScriptedServer server([](const ScriptedRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return origin_script(request);
  });
  LoadOptions options = open_loop_for(server.port(), 1000, 60);
  options.load.connections_max = 1;
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_LE(server.requests_under_way_max(), 1U);
  EXPECT_EQ(outcome.result.total.good, 60U);
  // The last one waits for over 200 ms, and its own exchange takes 5.
  EXPECT_GT(*outcome.result.response_time.max_ns(), 150'000'000U);
  EXPECT_GT(*outcome.result.waiting_time.max_ns(), 150'000'000U);
  expect_sums(outcome);
}

TEST(OpenLoopRun, WhatIsGivenUpIsCountedAndFailsTheRun) {
  ScriptedServer server([](const ScriptedRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return origin_script(request);
  });
  LoadOptions options = open_loop_for(server.port(), 2000, 200);
  options.load.connections_max = 1;
  options.load.queue_max = 3;
  const LoadOutcome outcome = run(options);
  const Tally& total = outcome.result.total;
  EXPECT_EQ(total.offered, 200U);
  EXPECT_GT(total.not_sent_of(NotSent::kQueueFull), 0U);
  EXPECT_EQ(total.offered, total.sent + total.not_sent_count());
  EXPECT_EQ(server.requests(), total.sent);
  EXPECT_NE(outcome.failure.find("given up"), std::string::npos) << outcome.failure;
  expect_sums(outcome);
}

TEST(OpenLoopRun, TheEmbeddedObjectsOfAPageThatFailedAreNotSent) {
  ScriptedServer server([](const ScriptedRequest&) {
    return ScriptedReply{"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"};
  });
  LoadOptions options = open_loop_for(server.port(), 5000, 300);
  options.workload = small_polymix();
  const LoadOutcome outcome = run(options);
  const Tally& total = outcome.result.total;
  EXPECT_EQ(total.offered, 300U);
  EXPECT_EQ(total.good, 0U);
  EXPECT_GT(total.not_sent_of(NotSent::kPageFailed), 0U);
  EXPECT_EQ(total.offered, total.sent + total.not_sent_count());
  EXPECT_EQ(total.errors_of(ErrorKind::kWrongStatus), total.sent);
  expect_sums(outcome);
}

TEST(OpenLoopRun, WhatTheGeneratorDidNotComeToWasOfferedAllTheSame) {
  // More than one thread can send, whatever the machine.
  constexpr double kTooFastRps = 900'000;
  ScriptedServer server(origin_script);
  LoadOptions options = open_loop_for(server.port(), kTooFastRps, 1);
  options.load.constant = true;
  options.until = Goal();
  options.until.duration = std::chrono::milliseconds(400);
  const LoadOutcome outcome = run(options);
  const Tally& total = outcome.result.total;
  EXPECT_NEAR(static_cast<double>(total.offered), kTooFastRps * 0.4, kTooFastRps * 0.4 / 100);
  EXPECT_LT(total.sent, total.offered / 2);
  expect_sums(outcome);
  EXPECT_NE(outcome.failure.find("due and never sent"), std::string::npos) << outcome.failure;
}

TEST(OpenLoopRun, RefusedConnectionsEndWithTheRun) {
  LoadOptions options = open_loop_for(testing_support::unused_port(), 500, 0);
  options.until = Goal{std::chrono::milliseconds(200), {}, {}};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.result.total.good, 0U);
  EXPECT_GT(outcome.result.total.errors_of(ErrorKind::kRefused), 0U);
  EXPECT_NE(outcome.failure, "");
  expect_sums(outcome);
}

}  // namespace
}  // namespace workload
