// The replay against a server that plays a cache, and against one that misbehaves.
#include "workload/client/replay_run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tests/support/scripted_server.h"
#include "tests/support/text_source.h"

namespace {

using namespace std::chrono_literals;
using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
using workload::ErrorKind;
using workload::make_replay_work;
using workload::parse_replay_timing;
using workload::ReplayMeasurement;
using workload::ReplayRunOptions;
using workload::ReplayWork;

/// Answers for the origin, and as a cache would: the stamp is that of the first GET of a path.
class ToyCache {
 public:
  ScriptedReply answer(const ScriptedRequest& request) {
    const size_t path_at = request.target.find('/', request.target.find("://") + 3);
    const auto object = workload::parse_object_path(request.target.substr(path_at));
    if (!object) return {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"};
    const bool head = request.method == "HEAD";
    std::string stamp = request.field(workload::kTransactionHeader);
    seen_.push_back(request.method + " " + std::to_string(object->id));
    const auto stored = stamps_.find(object->id);
    if (stored != stamps_.end()) {
      stamp = stored->second;
    } else if (!head && object->cachable) {
      stamps_[object->id] = stamp;
    }
    std::string body(head ? 0 : object->size_bytes, '\0');
    workload::fill_body(*object, 0, std::as_writable_bytes(std::span(body)));
    if (!body.empty() && seen_.size() == spoil_at_) body[0] = static_cast<char>(body[0] ^ 1);
    return {"HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(object->size_bytes) + "\r\n" +
            "ETag: " + workload::object_etag(*object) + "\r\n" +
            std::string(workload::kBodyStampHeader) + ": " + stamp + "\r\n\r\n" + body};
  }

  /// Spoils the body of the n-th response, from 1.
  void spoil(size_t n) { spoil_at_ = n; }
  const std::vector<std::string>& seen() const { return seen_; }

 private:
  std::map<uint64_t, std::string> stamps_;
  std::vector<std::string> seen_;
  size_t spoil_at_ = 0;
};

std::string log_of(const std::vector<std::string>& requests, int gap_ms = 1000) {
  std::string text;
  int64_t now_ms = 1700000000000;
  for (const auto& request : requests) {
    const std::string ms = std::to_string(now_ms % 1000 + 1000).substr(1);
    text += std::to_string(now_ms / 1000) + "." + ms + " 0 192.0.2.1 TCP_MISS/200 5000 " +
            request.substr(0, request.find(' ')) + " http://a" +
            request.substr(request.find(' ') + 1) + " - HIER_DIRECT/192.0.2.2 -\n";
    now_ms += gap_ms;
  }
  return text;
}

ReplayWork work_of(const std::vector<std::string>& requests, int gap_ms = 1000) {
  return make_replay_work(testing_support::plan_text(log_of(requests, gap_ms)), 3);
}

/// 300 requests for 40 objects, every seventh a HEAD.
std::vector<std::string> many_requests() {
  std::vector<std::string> requests;
  for (int at = 0; at < 300; ++at) {
    requests.push_back((at % 7 == 0 ? "HEAD /" : "GET /") + std::to_string(at * 37 % 40));
  }
  return requests;
}

ReplayRunOptions options_for(uint16_t port, const std::string& timing = "asap") {
  ReplayRunOptions options;
  options.peer = {boost::asio::ip::make_address("127.0.0.1"), port};
  options.target.authority = "origin.test:80";
  options.timing = *parse_replay_timing(timing);
  options.transaction_base = 1000;
  return options;
}

ReplayMeasurement replay(const ReplayWork& work, const ReplayRunOptions& options) {
  const storage::SystemClock clock;
  return workload::run_replay(work, options, clock);
}

void expect_sound(const ReplayMeasurement& measured, const ReplayWork& work) {
  EXPECT_EQ(measured.ended_early, "");
  EXPECT_EQ(measured.first_error, "");
  EXPECT_EQ(measured.recorder.total.offered, work.steps.size());
  EXPECT_EQ(measured.recorder.total.sent, work.steps.size());
  EXPECT_EQ(measured.recorder.total.good, work.steps.size());
  EXPECT_TRUE(measured.recorder.series.total() == measured.recorder.total);
}

class ReplayConcurrency : public testing::TestWithParam<size_t> {};

TEST_P(ReplayConcurrency, GivesThePlainCountWhateverIsUnderWayAtOnce) {
  ToyCache cache;
  ScriptedServer server([&](const ScriptedRequest& request) { return cache.answer(request); });
  const auto work = work_of(many_requests());
  auto options = options_for(server.port());
  options.concurrency = GetParam();
  const auto measured = replay(work, options);
  expect_sound(measured, work);
  EXPECT_EQ(measured.recorder.total.hit_ratio_percent(), work.ideal_hit_ratio_percent);
  EXPECT_EQ(measured.recorder.total.byte_hit_ratio_percent(), work.ideal_byte_hit_ratio_percent);
  EXPECT_EQ(measured.recorder.total.offered_hit_ratio_percent(), work.ideal_hit_ratio_percent);
  EXPECT_LE(server.connections(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Concurrency, ReplayConcurrency, testing::Values(1, 2, 16, 64));

TEST(ReplayRun, OneAtATimeKeepsTheOrder) {
  ToyCache cache;
  const auto work = work_of(many_requests());
  {
    ScriptedServer server([&](const ScriptedRequest& request) { return cache.answer(request); });
    auto options = options_for(server.port());
    options.concurrency = 1;
    expect_sound(replay(work, options), work);
  }
  ASSERT_EQ(cache.seen().size(), work.steps.size());
  for (size_t at = 0; at < work.steps.size(); ++at) {
    const auto& step = work.steps[at];
    const std::string method = step.method == workload::RequestMethod::kHead ? "HEAD " : "GET ";
    EXPECT_EQ(cache.seen()[at], method + std::to_string(work.objects[step.object].id)) << at;
  }
}

TEST(ReplayRun, AnOpenLoopStartsAtTheRecordedTimesAndNotBefore) {
  ToyCache cache;
  ScriptedServer server([&](const ScriptedRequest& request) { return cache.answer(request); });
  const auto work = work_of({"GET /1", "GET /2", "GET /1", "GET /3", "GET /1"}, 1000);
  const auto measured = replay(work, options_for(server.port(), "scaled=20"));
  expect_sound(measured, work);
  EXPECT_GE(measured.duration, 200ms) << "four gaps of a second, twenty times as fast";
  EXPECT_EQ(measured.lateness.count(), 5U);
  EXPECT_EQ(measured.recorder.total.hits, 2U);
}

TEST(ReplayRun, AnOpenLoopCountsResponseTimesFromTheDueTime) {
  ToyCache cache;
  ScriptedServer server([&](const ScriptedRequest& request) {
    std::this_thread::sleep_for(20ms);
    return cache.answer(request);
  });
  const auto work = work_of({"GET /1", "GET /2", "GET /3", "GET /4", "GET /5"}, 0);
  auto options = options_for(server.port(), "recorded");
  options.concurrency = 1;  // So that all but the first start late.
  const auto measured = replay(work, options);
  expect_sound(measured, work);
  EXPECT_GE(measured.lateness.percentile_ns(100).value_or(0), 79'000'000U);
  EXPECT_GE(measured.recorder.response_time.percentile_ns(100).value_or(0), 99'000'000U);
}

TEST(ReplayRun, AWrongByteIsCountedAndNamed) {
  ToyCache cache;
  cache.spoil(5);
  ScriptedServer server([&](const ScriptedRequest& request) { return cache.answer(request); });
  const auto work = work_of({"GET /1", "GET /2", "GET /3", "GET /4", "GET /5", "GET /6"});
  auto options = options_for(server.port());
  options.concurrency = 1;
  const auto measured = replay(work, options);
  EXPECT_EQ(measured.recorder.total.errors_of(ErrorKind::kWrongBody), 1U);
  EXPECT_EQ(measured.recorder.total.good, 5U);
  EXPECT_NE(measured.first_error.find("byte 0"), std::string::npos) << measured.first_error;
}

TEST(ReplayRun, APeerThatIsNotThereFailsEveryRequest) {
  const auto work = work_of({"GET /1", "GET /2", "GET /3"});
  const auto measured = replay(work, options_for(testing_support::unused_port()));
  EXPECT_EQ(measured.recorder.total.errors_of(ErrorKind::kRefused), 3U);
  EXPECT_EQ(measured.recorder.total.completed, 3U);
  EXPECT_EQ(measured.recorder.total.good, 0U);
  EXPECT_NE(measured.first_error, "");
}

TEST(ReplayRun, ErrorsAloneEndTheRun) {
  // A day of log: only giving up ends it in time.
  const auto work = work_of({"GET /1", "GET /2"}, 86'400'000);
  auto options = options_for(testing_support::unused_port(), "recorded");
  options.give_up_after = 50ms;
  const auto measured = replay(work, options);
  EXPECT_NE(measured.ended_early.find("given up"), std::string::npos) << measured.ended_early;
  EXPECT_EQ(measured.recorder.total.completed, 1U);
}

TEST(ReplayRun, AReadableStopDescriptorEndsIt) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  {
    ScriptedServer server([&](const ScriptedRequest&) {
      EXPECT_EQ(::write(pipe_ends[1], "x", 1), 1);
      return ScriptedReply{"", ScriptedReply::Then::kStall};
    });
    const auto work = work_of({"GET /1", "GET /2", "GET /3"});
    auto options = options_for(server.port());
    options.concurrency = 1;
    options.stop_fd = pipe_ends[0];
    const auto measured = replay(work, options);
    EXPECT_EQ(measured.ended_early, "stopped by a signal");
    EXPECT_EQ(measured.recorder.total.sent, 1U);
    EXPECT_EQ(measured.recorder.total.completed, 0U);
  }
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}

TEST(ReplayRun, NothingToDoEndsAtOnce) {
  const auto measured = replay(ReplayWork(), options_for(testing_support::unused_port()));
  EXPECT_EQ(measured.recorder.total.sent, 0U);
  EXPECT_EQ(measured.ended_early, "");
}

}  // namespace
