#include "workload/client/load_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/unit/workload/load_run_under_test.h"

namespace workload {
namespace {

using testing_support::TempDir;

TEST(LoadRun, SendsExactlyTheRequestsOfTheGoal) {
  ScriptedServer server(origin_script);
  const LoadOutcome outcome = run(options_for(server.port(), 4, 1000));
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(server.requests(), 1000U);
  EXPECT_EQ(outcome.result.total.sent, 1000U);
  EXPECT_EQ(outcome.result.total.good, 1000U);
  EXPECT_EQ(outcome.result.responses_by_status.at(200), 1000U);
  EXPECT_LE(server.requests_under_way_max(), 4U);
  // Connections serve zipf(64) requests: 14.9 on average.
  EXPECT_GE(server.connections(), 30U);
  EXPECT_LE(server.connections(), 200U);
  EXPECT_EQ(outcome.result.generator.connections, server.connections());
  expect_sums(outcome);
}

TEST(LoadRun, ThreadsShareTheGoalAndHaveObjectsOfTheirOwn) {
  std::set<std::string> transactions;
  ScriptedServer server([&transactions](const ScriptedRequest& request) {
    transactions.insert(request.field("X-Cacheoff-Transaction"));
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 5, 1000);
  options.threads = 3;
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(server.requests(), 1000U);
  EXPECT_EQ(transactions.size(), 1000U);
  EXPECT_EQ(outcome.result.total.good, 1000U);
  EXPECT_EQ(outcome.result.threads, 3);
  expect_sums(outcome);
}

TEST(LoadRun, TheSeedDecidesWhatIsAskedFor) {
  const auto targets = [](uint64_t seed) {
    std::vector<std::string> seen;
    ScriptedServer server([&seen](const ScriptedRequest& request) {
      seen.push_back(request.method + request.target + request.field("If-Modified-Since"));
      return origin_script(request);
    });
    LoadOptions options = options_for(server.port(), 1, 300);
    options.workload = small_workload();
    options.seed = seed;
    EXPECT_EQ(run(options).failure, "");
    return seen;
  };
  const auto first = targets(1);
  EXPECT_EQ(first.size(), 300U);
  EXPECT_EQ(first, targets(1));
  EXPECT_NE(first, targets(2));
}

/// A cache in front of right replies: remembers who first asked for what may be stored.
class ScriptedCache {
 public:
  ScriptedReply answer(const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    const auto object = testing_support::object_of(request);
    const bool plain = request.method == "GET" && request.field("Cache-Control").empty();
    if (!object || !object->cachable || !plain) return whole(reply, request);
    const auto known = stamps_.find(request.target);
    if (reply.status == 304) {
      if (known == stamps_.end()) return whole(reply, request);
      reply.validation_stamp.clear();
      reply.body_stamp = known->second;
      ++hits_;
    } else if (known != stamps_.end()) {
      reply.body_stamp = known->second;
      ++hits_;
      basic_hits_ += request.field("If-Modified-Since").empty();
    } else {
      stamps_[request.target] = reply.body_stamp;
    }
    return whole(reply, request);
  }

  uint64_t hits() const { return hits_; }
  uint64_t basic_hits() const { return basic_hits_; }

 private:
  std::map<std::string, std::string> stamps_;
  uint64_t hits_ = 0;
  uint64_t basic_hits_ = 0;
};

TEST(LoadRun, CountsHitsAsTheCacheDoesToTheRequest) {
  const TempDir folder;
  ScriptedCache cache;
  ScriptedServer server([&cache](const ScriptedRequest& request) { return cache.answer(request); });
  LoadOptions options = options_for(server.port(), 4, 3000);
  options.workload = small_polymix();
  options.request_log = folder / "requests";
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(cache.basic_hits(), 1000U);
  EXPECT_EQ(outcome.result.total.hits, cache.hits());
  EXPECT_EQ(outcome.result.total.basic_hits, cache.basic_hits());
  expect_sums(outcome);
  // A cache that stores all that it may comes within a few requests of the ideal (a POST or a
  // request under way beside its like makes the difference).
  EXPECT_NEAR(*outcome.result.total.hit_ratio_percent(), *outcome.result.ideal_hit_ratio_percent,
              1);
  EXPECT_NEAR(*outcome.result.total.offered_hit_ratio_percent(),
              *outcome.result.ideal_hit_ratio_percent, 3);

  std::ifstream log(folder / "requests");
  std::string line;
  uint64_t lines = 0;
  uint64_t hits = 0;
  while (std::getline(log, line)) {
    if (line.starts_with('#')) continue;
    ++lines;
    hits += line.find(" hit ") != std::string::npos;
  }
  EXPECT_EQ(lines, 3000U);
  EXPECT_EQ(hits, cache.hits());
}

TEST(LoadRun, ARobotFetchesEmbeddedObjectsOverItsConnectionsAtOnce) {
  // Answers take a moment, so that requests sent at once are under way at once.
  ScriptedServer server([](const ScriptedRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 1, 1000);
  options.workload = small_polymix();
  EXPECT_EQ(run(options).failure, "");
  EXPECT_EQ(server.requests(), 1000U);
  EXPECT_GE(server.requests_under_way_max(), 2U);
  EXPECT_LE(server.requests_under_way_max(), options.workload.robot.connections_max);
}

TEST(LoadRun, ErrorsAreNeverGoodNorInResponseTimes) {
  ScriptedServer server([](const ScriptedRequest& request) {
    if (request.sequence % 20 == 19)
      return ScriptedReply{"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n"};
    return origin_script(request);
  });
  const LoadOutcome outcome = run(options_for(server.port(), 8, 400));
  const Tally& total = outcome.result.total;
  EXPECT_EQ(total.completed, 400U);
  EXPECT_EQ(total.errors_of(ErrorKind::kWrongStatus), 20U);
  EXPECT_EQ(total.good, 380U);
  EXPECT_EQ(outcome.result.responses_by_status.at(503), 20U);
  EXPECT_NE(outcome.failure.find("20 errors"), std::string::npos) << outcome.failure;
  EXPECT_NE(outcome.result.first_error.find("status 503"), std::string::npos);
  expect_sums(outcome);
}

ScriptedReply wrong_every_hundredth(const ScriptedRequest& request) {
  ObjectReply reply = right_reply(request);
  if (request.sequence % 100 == 99) reply.body[123] = static_cast<char>(reply.body[123] ^ 4);
  return whole(reply, request);
}

TEST(LoadRun, AWrongBodyStopsTheRun) {
  ScriptedServer server(wrong_every_hundredth);
  const LoadOutcome outcome = run(options_for(server.port(), 1, 1000));
  EXPECT_EQ(server.requests(), 100U);
  EXPECT_EQ(outcome.result.total.errors_of(ErrorKind::kWrongBody), 1U);
  EXPECT_TRUE(outcome.failure.starts_with("wrong body: GET http://origin.test:80/object/"))
      << outcome.failure;
  EXPECT_NE(outcome.failure.find("byte 123 of 500"), std::string::npos) << outcome.failure;
  expect_sums(outcome);
}

TEST(LoadRun, KeepGoingGoesOnAndStillFails) {
  ScriptedServer server(wrong_every_hundredth);
  LoadOptions options = options_for(server.port(), 1, 500);
  options.keep_going = true;
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.result.total.errors_of(ErrorKind::kWrongBody), 5U);
  EXPECT_EQ(outcome.result.total.completed, 500U);
  EXPECT_NE(outcome.failure, "");
}

TEST(LoadRun, TheWarmUpIsNotMeasured) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 2, 300);
  options.warm_up = Goal{{}, 200, {}};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(server.requests(), 500U);
  EXPECT_EQ(outcome.result.total.sent, 300U);
  EXPECT_EQ(outcome.result.total.good, 300U);
  expect_sums(outcome);
}

TEST(LoadRun, AFillEndsTheRun) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 2, 0);
  options.until = Goal{{}, {}, 2.0};
  options.cache_size_bytes = 50'000;
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GE(outcome.result.total.fill_bytes, 100'000U);
  EXPECT_LT(outcome.result.total.fill_bytes, 110'000U);
  std::stringstream trace;
  write_trace_csv(trace, outcome.recorder.series, options.cache_size_bytes);
  const auto rows = std::get<std::vector<TraceRow>>(read_trace_csv(trace));
  EXPECT_GE(*rows.back().fill_ratio, 2.0);
  expect_sums(outcome);
}

TEST(LoadRun, TheFirstOfSeveralGoalsEndsTheRun) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 2, 0);
  options.cache_size_bytes = 50'000;
  options.until = Goal{std::chrono::hours(1), 200, 1e6};
  const LoadOutcome by_requests = run(options);
  EXPECT_EQ(by_requests.failure, "");
  EXPECT_EQ(by_requests.result.total.sent, 200U);
  EXPECT_EQ(by_requests.result.phases.back().ended_by, "requests");
  EXPECT_LT(by_requests.result.duration, std::chrono::minutes(30));
  EXPECT_EQ(run_to_json(by_requests.result).at("ended_by"), "requests");
  options.until = Goal{std::chrono::hours(1), {}, 2.0};
  EXPECT_EQ(run(options).result.phases.back().ended_by, "fill");
  options.until = Goal{std::chrono::milliseconds(200), {}, 1e6};
  const LoadOutcome by_time = run(options);
  EXPECT_EQ(by_time.result.phases.back().ended_by, "duration");
  EXPECT_EQ(by_time.result.duration, std::chrono::milliseconds(200));
}

TEST(LoadRun, RequestsUnderWayAtTheEndAreUnfinishedNotErrors) {
  // The second response waits until the run is over.
  std::atomic<bool> over{false};
  ScriptedServer server([&over](const ScriptedRequest& request) {
    while (request.sequence == 1 && !over)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 1, 0);
  options.until = Goal{std::chrono::milliseconds(300), {}, {}};
  const std::atomic<bool> interrupted{false};
  const LoadOutcome outcome =
      run_load(options, storage::SystemClock(), interrupted, [&over](const LoadProgress& progress) {
        if (progress.elapsed_s > 0.35) over = true;
      });
  EXPECT_EQ(outcome.result.total.sent, 2U);
  EXPECT_EQ(outcome.result.total.completed, 1U);
  EXPECT_EQ(outcome.result.total.error_count(), 0U);
  EXPECT_EQ(outcome.result.duration, std::chrono::milliseconds(300));
  EXPECT_EQ(outcome.failure, "");
  expect_sums(outcome);
}

TEST(LoadRun, RefusedConnectionsDoNotSpin) {
  LoadOptions options = options_for(testing_support::unused_port(), 4, 0);
  options.until = Goal{std::chrono::milliseconds(300), {}, {}};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.result.total.good, 0U);
  EXPECT_GE(outcome.result.total.errors_of(ErrorKind::kRefused), 4U);
  // 10, 20, 40, 80, 160 ms: at most six attempts of each robot fit.
  EXPECT_LE(outcome.result.total.sent, 4U * 6U);
  EXPECT_NE(outcome.failure, "");
  expect_sums(outcome);
}

TEST(LoadRun, GivesUpWhereNothingButErrorsComes) {
  LoadOptions options = options_for(testing_support::unused_port(), 2, 1'000'000);
  options.give_up_after = std::chrono::milliseconds(300);
  const LoadOutcome outcome = run(options);
  EXPECT_TRUE(outcome.failure.starts_with("nothing but errors")) << outcome.failure;
}

TEST(LoadRun, AnInterruptedRunFailsWithTheFiguresSoFar) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 2, 1'000'000'000);
  std::atomic<bool> interrupted{false};
  const LoadOutcome outcome =
      run_load(options, storage::SystemClock(), interrupted,
               [&](const LoadProgress& progress) { interrupted = progress.counts.good > 0; });
  EXPECT_EQ(outcome.failure, "interrupted");
  EXPECT_GT(outcome.result.total.good, 0U);
  expect_sums(outcome);
}

}  // namespace
}  // namespace workload
