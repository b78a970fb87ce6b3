#include "workload/client/load_run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/support/scripted_server.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/workload/object_replies.h"
#include "workload/cli/command.h"
#include "workload/measure/interval_log.h"

namespace workload {
namespace {

using testing_support::ObjectReply;
using testing_support::right_reply;
using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
using testing_support::TempDir;

/// Small bodies, so that thousands of requests take no time.
Workload small_workload() {
  Workload workload = simple_workload();
  workload.content.front().size = Distribution::constant(500);
  return workload;
}

/// PolyMix-4 with small bodies and without pauses: all kinds of requests and embedded objects.
Workload small_polymix() {
  Workload workload = polymix4_workload();
  for (ContentModel& content : workload.content) content.size = Distribution::constant(400);
  return workload;
}

LoadOptions options_for(uint16_t port, uint64_t robots, uint64_t requests) {
  LoadOptions options;
  options.workload = small_workload();
  options.seed = 11;
  options.peer = {boost::asio::ip::address_v4::loopback(), port};
  options.target = {"origin.test:80", true};
  options.load.robots = robots;
  options.until.kind = Goal::Kind::kRequests;
  options.until.requests = requests;
  options.sample_interval = std::chrono::milliseconds(50);
  options.transaction_base = 0x1000;
  return options;
}

LoadOutcome run(const LoadOptions& options) {
  const std::atomic<bool> interrupted{false};
  return run_load(options, storage::SystemClock(), interrupted, nullptr);
}

ScriptedReply whole(const ObjectReply& reply, const ScriptedRequest& request) {
  return {reply.text(request.method == "HEAD"), ScriptedReply::Then::kKeep};
}

ScriptedReply origin_script(const ScriptedRequest& request) {
  return whole(right_reply(request), request);
}

/// What must hold of every run.
void expect_sums(const LoadOutcome& outcome) {
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
  options.warm_up = Goal{Goal::Kind::kRequests, std::chrono::nanoseconds(0), 200, 0};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(server.requests(), 500U);
  EXPECT_EQ(outcome.result.total.sent, 300U);
  EXPECT_EQ(outcome.result.total.good, 300U);
  expect_sums(outcome);
}

TEST(LoadRun, AFillEndsTheRun) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 2, 0);
  options.until = Goal{Goal::Kind::kFill, std::chrono::nanoseconds(0), 0, 2.0};
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

TEST(LoadRun, RequestsUnderWayAtTheEndAreUnfinishedNotErrors) {
  // The second response waits until the run is over.
  std::atomic<bool> over{false};
  ScriptedServer server([&over](const ScriptedRequest& request) {
    while (request.sequence == 1 && !over)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 1, 0);
  options.until = Goal{Goal::Kind::kDuration, std::chrono::milliseconds(300), 0, 0};
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
  options.until = Goal{Goal::Kind::kDuration, std::chrono::milliseconds(300), 0, 0};
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

TEST(OpenLoopRun, RefusedConnectionsEndWithTheRun) {
  LoadOptions options = open_loop_for(testing_support::unused_port(), 500, 0);
  options.until = Goal{Goal::Kind::kDuration, std::chrono::milliseconds(200), 0, 0};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.result.total.good, 0U);
  EXPECT_GT(outcome.result.total.errors_of(ErrorKind::kRefused), 0U);
  EXPECT_NE(outcome.failure, "");
  expect_sums(outcome);
}

/// The requests of a log in the order of intent: what was asked for, without when and by whom.
std::vector<std::string> intent_of(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::map<uint64_t, std::string> requests;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    EXPECT_EQ(fields.size(), 14U) << line;
    if (fields.size() != 14) continue;
    requests[std::stoull(fields[11])] = fields[2] + ' ' + fields[3] + ' ' + fields[10];
  }
  std::vector<std::string> ordered;
  for (const auto& [sequence, request] : requests) {
    EXPECT_EQ(sequence, ordered.size());
    ordered.push_back(request);
  }
  return ordered;
}

TEST(LoadRun, OneSeedAsksForTheSameUnderEveryLoadAndNumberOfThreads) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  const auto intent = [&](LoadShape::Kind kind, uint64_t robots, int threads, uint64_t seed) {
    LoadOptions options = options_for(server.port(), robots, 400);
    options.workload = small_polymix();
    options.load.kind = kind;
    options.load.rate_rps = 4000;
    options.time_scale = 1000;
    options.threads = threads;
    options.seed = seed;
    options.request_log = folder / "log";
    EXPECT_EQ(run(options).failure, "");
    return intent_of(options.request_log);
  };
  const auto first = intent(LoadShape::Kind::kBestEffort, 1, 1, 5);
  EXPECT_EQ(first.size(), 400U);
  EXPECT_EQ(first, intent(LoadShape::Kind::kBestEffort, 7, 3, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRobots, 8, 2, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRate, 1, 1, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRate, 1, 3, 5));
  EXPECT_NE(first, intent(LoadShape::Kind::kRate, 1, 1, 6));
}

TEST(LoadRun, PhasesAreMeasuredApartAndThePrimaryOnesTogether) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 4, 0);
  const auto phase = [](const char* name, uint64_t requests, bool primary) {
    Phase each;
    each.name = name;
    each.goal.requests = requests;
    each.primary = primary;
    return each;
  };
  options.phases = {phase("first", 100, true), phase("between", 50, false),
                    phase("last", 150, true)};
  options.phases[1].robots = {0.25, 0.25};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(server.requests(), 300U);
  ASSERT_EQ(outcome.result.phases.size(), 3U);
  EXPECT_EQ(outcome.result.phases[0].total.good, 100U);
  EXPECT_EQ(outcome.result.phases[1].total.good, 50U);
  EXPECT_EQ(outcome.result.phases[2].total.good, 150U);
  for (const PhaseResult& each : outcome.result.phases) EXPECT_TRUE(each.goal_met) << each.name;
  EXPECT_EQ(outcome.result.total.good, 250U);
  EXPECT_EQ(outcome.recorder.series.total(), outcome.recorder.total);
  EXPECT_EQ(outcome.recorder.total.good, 300U);
}

TEST(LoadRun, RobotsThatTheLastPhaseDoesNotWantEndWithTheRun) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 4, 0);
  Phase only;
  only.name = "only";
  only.goal.requests = 40;
  only.robots = {0.25, 0.25};
  options.phases = {only};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  EXPECT_EQ(outcome.result.total.good, 40U);
  EXPECT_LE(server.requests_under_way_max(), 1U);
}

TEST(LoadRun, ThePeakFinderRunsAndReports) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 1, 0);
  std::string error;
  const auto shape =
      parse_load_shape("peak,window=50ms..60ms,sample=20ms,start=100,max=200", error);
  ASSERT_TRUE(shape) << error;
  options.load = *shape;
  options.until = Goal{Goal::Kind::kDuration, std::chrono::milliseconds(800), 0, 0};
  const LoadOutcome outcome = run(options);
  EXPECT_EQ(outcome.failure, "");
  ASSERT_TRUE(outcome.result.peak);
  EXPECT_GT(outcome.result.peak->points().size(), 3U);
  ASSERT_EQ(outcome.result.phases.size(), 2U);
  EXPECT_EQ(outcome.result.phases[1].duration, std::chrono::milliseconds(200));
  EXPECT_EQ(outcome.result.total.good, outcome.result.phases[1].total.good);
  EXPECT_EQ(outcome.recorder.series.total(), outcome.recorder.total);
  const auto json = run_to_json(outcome.result);
  EXPECT_EQ(json.at("peak").at("max_rps").to_number<double>(), 200);
}

TEST(LoadCommand, SaysWhatIsWrongWithItsArguments) {
  const std::vector<std::string> right{"--origin", "127.0.0.1:1"};
  const auto with = [&right](std::vector<std::string> more) {
    more.insert(more.begin(), right.begin(), right.end());
    return run_load_command(more);
  };
  EXPECT_EQ(run_load_command({}), kExitUsage);
  EXPECT_EQ(run_load_command({"--help"}), kExitSuccess);
  EXPECT_EQ(run_load_command({"--origin", "nowhere"}), kExitUsage);
  EXPECT_EQ(with({"--until", "fill=2"}), kExitUsage);  // Needs a cache size.
  EXPECT_EQ(with({"--until", "soon"}), kExitUsage);
  EXPECT_EQ(with({"--load", "rate=x"}), kExitUsage);
  EXPECT_EQ(with({"--load", "peak", "--warm-up", "requests=5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "polymix4", "--until", "requests=5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "polymix5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "file"}), kExitUsage);
  EXPECT_EQ(with({"--workload", "/nonexistent.toml"}), kExitUsage);
  EXPECT_EQ(with({"--threads", "0"}), kExitUsage);
  EXPECT_EQ(with({"--threads", "9"}), kExitUsage);  // More than robots.
  EXPECT_EQ(with({"--proxy-kind", "socks"}), kExitUsage);
  EXPECT_EQ(with({"--time-scale", "0"}), kExitUsage);
  EXPECT_EQ(with({"--time-scale", "nan"}), kExitUsage);
  EXPECT_EQ(with({"--cache-size", "big"}), kExitUsage);
  EXPECT_EQ(with({"--timeout", "0"}), kExitUsage);
  EXPECT_EQ(with({"--verify", "md5"}), kExitUsage);
  EXPECT_EQ(with({"--source-addresses", "0"}), kExitUsage);
  EXPECT_EQ(with({"--unknown"}), kExitUsage);
  EXPECT_EQ(with({"stray"}), kExitUsage);
}

TEST(LoadCommand, WritesItsFilesAndTellsSuccessFromFailure) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(run_load_command({"--origin", address, "--until", "requests=50", "--load",
                              "best-effort=2", "--out", (folder / "good").string()}),
            kExitSuccess);
  for (const char* name : {"run.json", "trace.csv", "latency.hlog"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "good" / name)) << name;
  }
  ScriptedServer broken([](const ScriptedRequest&) {
    return ScriptedReply{"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"};
  });
  EXPECT_EQ(run_load_command({"--origin", "127.0.0.1:" + std::to_string(broken.port()), "--until",
                              "requests=5", "--out", (folder / "bad").string()}),
            kExitFailed);
  EXPECT_TRUE(std::filesystem::exists(folder / "bad" / "run.json"));
}

}  // namespace
}  // namespace workload
