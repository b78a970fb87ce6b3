// Whole load runs against a scripted server: what their tests share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <string>
#include <variant>

#include "tests/support/scripted_server.h"
#include "tests/unit/workload/object_replies.h"
#include "workload/client/load_run.h"
#include "workload/measure/interval_log.h"

namespace workload {

using testing_support::ObjectReply;
using testing_support::right_reply;
using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;

/// Small bodies, so that thousands of requests take no time.
inline Workload small_workload() {
  Workload workload = simple_workload();
  workload.content.front().size = Distribution::constant(500);
  return workload;
}

/// PolyMix-4 with small bodies and without pauses: all kinds of requests and embedded objects.
inline Workload small_polymix() {
  Workload workload = polymix4_workload();
  for (ContentModel& content : workload.content) content.size = Distribution::constant(400);
  return workload;
}

/// A short closed loop of seed 11 against `port`, ended by its number of requests.
inline LoadOptions options_for(uint16_t port, uint64_t robots, uint64_t requests) {
  LoadOptions options;
  options.workload = small_workload();
  options.seed = 11;
  options.peer = {boost::asio::ip::address_v4::loopback(), port};
  options.target = {"origin.test:80", true};
  options.load.robots = robots;
  options.until.requests = requests;
  options.sample_interval = std::chrono::milliseconds(50);
  options.transaction_base = 0x1000;
  return options;
}

/// Runs it to its end on the calling thread.
inline LoadOutcome run(const LoadOptions& options) {
  const std::atomic<bool> interrupted{false};
  return run_load(options, storage::SystemClock(), interrupted, nullptr);
}

/// The reply with all its bytes, the connection kept.
inline ScriptedReply whole(const ObjectReply& reply, const ScriptedRequest& request) {
  return {reply.text(request.method == "HEAD"), ScriptedReply::Then::kKeep};
}

/// What a faultless origin answers.
inline ScriptedReply origin_script(const ScriptedRequest& request) {
  return whole(right_reply(request), request);
}

/// What must hold of every run.
inline void expect_sums(const LoadOutcome& outcome) {
  const Tally& total = outcome.result.total;
  EXPECT_EQ(outcome.recorder.series.total(), total);
  EXPECT_EQ(total.completed, total.good + total.aborted + total.cut + total.error_count());
  EXPECT_EQ(total.good, total.hits + total.misses);
  EXPECT_GE(total.offered, total.sent);
  EXPECT_GE(total.sent, total.completed);
  EXPECT_EQ(outcome.result.response_time.count(), total.good);
  EXPECT_EQ(outcome.result.hit_response_time.count(), total.hits);
  EXPECT_EQ(outcome.result.miss_response_time.count(), total.misses);
  std::stringstream log;
  outcome.recorder.latency.write(log, outcome.start, outcome.result.duration);
  auto read = read_interval_log(log);
  ASSERT_TRUE(std::holds_alternative<IntervalLog>(read)) << std::get<std::string>(read);
  uint64_t logged = 0;
  for (const LogInterval& interval : std::get<IntervalLog>(read).intervals) {
    if (interval.tag.empty()) logged += interval.histogram.count();
  }
  EXPECT_EQ(logged, total.good);
}

}  // namespace workload
