// Whole runs against servers that say exactly what they shall, right or wrong.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/support/scripted_server.h"
#include "workload/ab/request.h"
#include "workload/ab/run.h"

namespace workload::ab {
namespace {

using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
using Then = ScriptedReply::Then;

std::string kept_response(const std::string& body, const std::string& status = "200 OK") {
  return "HTTP/1.1 " + status +
         "\r\nConnection: keep-alive\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string closed_response(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class AbRun : public testing::Test {
 protected:
  AbRun() {
    options.requests = 20;
    options.concurrency = 3;
    options.keep_alive = true;
    options.go_on = true;
  }

  Measurement run_against(uint16_t port) {
    options.url = *parse_url("http://127.0.0.1:" + std::to_string(port) + "/x");
    RunInputs inputs;
    inputs.request = make_request(options);
    inputs.peer = *resolve("peer", options.url.server);
    return run_once(options, inputs);
  }

  Measurement run(ScriptedServer::Script script) {
    const ScriptedServer server(std::move(script));
    auto result = run_against(server.port());
    requests = server.requests();
    return result;
  }

  static uint64_t failed(const Measurement& result, Failure failure) {
    return result.tally.failures[static_cast<size_t>(failure)];
  }

  Options options;
  uint64_t requests = 0;  ///< That the last server saw.
};

TEST_F(AbRun, KeepsItsConnectionsAndCountsAll) {
  const auto result = run([](const auto&) { return ScriptedReply{kept_response("hello")}; });
  EXPECT_EQ(requests, 20U);
  EXPECT_EQ(result.tally.complete, 20U);
  EXPECT_EQ(result.tally.good, 20U);
  EXPECT_EQ(result.tally.failed(), 0U);
  EXPECT_EQ(result.tally.kept_alive, 20U);
  EXPECT_EQ(result.tally.connections, 3U);
  EXPECT_EQ(result.tally.body_bytes, 100U);
  EXPECT_EQ(result.tally.received_bytes, 20 * kept_response("hello").size());
  EXPECT_EQ(result.tally.total.count(), 20U);
  EXPECT_GT(result.duration_s, 0);
}

TEST_F(AbRun, ThreadsShareTheRequests) {
  options.threads = 3;
  options.requests = 101;
  const auto result = run([](const auto&) { return ScriptedReply{kept_response("hello")}; });
  EXPECT_EQ(requests, 101U);
  EXPECT_EQ(result.tally.good, 101U);
  EXPECT_EQ(result.threads.size(), 3U);
}

TEST_F(AbRun, OpensAConnectionForEachRequestWithoutKeepAlive) {
  options.keep_alive = false;
  const auto result = run([](const auto&) {
    return ScriptedReply{closed_response("hello"), Then::kClose};
  });
  EXPECT_EQ(result.tally.good, 20U);
  EXPECT_EQ(result.tally.connections, 20U);
  EXPECT_EQ(result.tally.kept_alive, 0U);
}

TEST_F(AbRun, ReadsChunksAndBodiesThatEndWithTheConnection) {
  const auto result = run([](const ScriptedRequest& request) {
    if (request.sequence % 2 == 0) {
      return ScriptedReply{
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"};
    }
    return ScriptedReply{"HTTP/1.0 200 OK\r\n\r\nhello", Then::kClose};
  });
  EXPECT_EQ(result.tally.good, 20U);
  EXPECT_EQ(result.tally.body_bytes, 100U);
  EXPECT_EQ(result.tally.other_length + result.tally.other_content, 0U);
}

TEST_F(AbRun, CountsOtherBodies) {
  options.concurrency = 1;
  const auto script = [](const ScriptedRequest& request) {
    if (request.sequence % 4 == 1) return ScriptedReply{kept_response("longer body")};
    return ScriptedReply{kept_response(request.sequence % 4 == 2 ? "HELLO" : "hello")};
  };
  auto result = run(script);
  EXPECT_EQ(result.tally.other_length, 5U);
  EXPECT_EQ(result.tally.other_content, 5U);
  EXPECT_EQ(failed(result, Failure::kLength), 5U);
  EXPECT_EQ(result.tally.good, 15U);
  EXPECT_EQ(result.tally.connections, 1U);
  options.any_length = true;
  result = run(script);
  EXPECT_EQ(result.tally.other_length, 5U);
  EXPECT_EQ(result.tally.failed(), 0U);
  EXPECT_EQ(result.tally.good, 20U);
}

TEST_F(AbRun, AnErrorPageIsNoSuccess) {
  const auto result =
      run([](const auto&) { return ScriptedReply{kept_response("no", "404 Not Found")}; });
  EXPECT_EQ(result.tally.complete, 20U);
  EXPECT_EQ(result.tally.not_2xx, 20U);
  EXPECT_EQ(result.tally.good, 0U);
  EXPECT_TRUE(result.tally.good_times.empty());
  EXPECT_EQ(result.tally.failed(), 0U);
}

TEST_F(AbRun, ACutBodyIsAFailureEvenWithoutLengths) {
  options.any_length = true;
  const auto result = run([](const auto&) {
    return ScriptedReply{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", Then::kClose};
  });
  EXPECT_EQ(result.tally.truncated, 20U);
  EXPECT_EQ(failed(result, Failure::kLength), 20U);
  EXPECT_EQ(result.tally.good, 0U);
}

TEST_F(AbRun, MoreThanAnnouncedIsAFailure) {
  const auto result =
      run([](const auto&) { return ScriptedReply{kept_response("hello") + "more"}; });
  EXPECT_EQ(result.tally.complete, 20U);
  EXPECT_EQ(result.tally.surplus, 20U);
  EXPECT_EQ(result.tally.good, 0U);
}

TEST_F(AbRun, ClosedIdleConnectionsAreReplaced) {
  const auto result = run([](const ScriptedRequest& request) {
    return ScriptedReply{kept_response("hello"),
                         request.sequence % 5 == 4 ? Then::kClose : Then::kKeep};
  });
  EXPECT_EQ(result.tally.good, 20U);
  EXPECT_EQ(result.tally.failed(), 0U);
}

TEST_F(AbRun, EndlessHeadsAreBrokenOff) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  while (head.size() < 100'000) head += "X-Padding: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n";
  const auto result = run([&](const auto&) { return ScriptedReply{head, Then::kStall}; });
  EXPECT_EQ(failed(result, Failure::kException), 20U);
  EXPECT_EQ(result.tally.good, 0U);
}

TEST_F(AbRun, ResetsAreFailuresAndNoTimes) {
  const auto result = run([](const auto&) { return ScriptedReply{"", Then::kReset}; });
  EXPECT_EQ(failed(result, Failure::kReceive), 20U);
  EXPECT_EQ(result.tally.total.count(), 0U);
}

TEST_F(AbRun, EndsAtTheFirstResetUnlessToldToGoOn) {
  options.go_on = false;
  const auto result = run([](const auto&) { return ScriptedReply{"", Then::kReset}; });
  EXPECT_NE(result.broken_off.find("receive: "), std::string::npos) << result.broken_off;
  EXPECT_LT(result.tally.complete, 20U);
}

TEST_F(AbRun, SilenceTimesOut) {
  options.requests = options.concurrency = 2;
  options.timeout = std::chrono::milliseconds(50);
  for (const std::string said : {"", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel"}) {
    const auto result = run([&](const auto&) { return ScriptedReply{said, Then::kStall}; });
    EXPECT_EQ(result.tally.timeouts, 2U);
    EXPECT_EQ(failed(result, Failure::kReceive), 2U);
  }
}

TEST_F(AbRun, TimeEndsARun) {
  options.time_limit = std::chrono::milliseconds(50);
  options.requests = kRequestsOfTimeLimit;
  const auto result = run([](const auto&) { return ScriptedReply{"", Then::kStall}; });
  EXPECT_TRUE(result.out_of_time);
  EXPECT_EQ(result.tally.complete, 0U);
  EXPECT_GE(result.duration_s, 0.05);
}

TEST_F(AbRun, RefusedConnectionsAreCounted) {
  const auto result = run_against(testing_support::unused_port());
  EXPECT_EQ(failed(result, Failure::kConnect), 20U);
  EXPECT_EQ(result.tally.complete, 20U);
  EXPECT_EQ(result.tally.good, 0U);
}

TEST_F(AbRun, SendsLargeBodiesInParts) {
  options.method = "POST";
  options.has_body = true;
  options.body = std::string(3 << 20, 'b');
  options.window_bytes = 16384;
  options.requests = 4;
  std::atomic<uint64_t> body_bytes = 0;
  const auto result = run([&](const ScriptedRequest& request) {
    body_bytes += request.body.size();
    return ScriptedReply{kept_response("ok")};
  });
  EXPECT_EQ(result.tally.good, 4U);
  EXPECT_EQ(body_bytes, 4 * options.body.size());
  EXPECT_GT(result.tally.sent_bytes, 4 * options.body.size());
}

}  // namespace
}  // namespace workload::ab
