// A server that stops for a second: what an open loop and a closed loop say of it.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/support/scripted_server.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/workload/object_replies.h"

namespace {

using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
namespace json = boost::json;

/// Answers right, but once, a second after the first request, nothing for a second: all
/// connections wait, as the script answers one request at a time.
class StallingScript {
 public:
  ScriptedReply operator()(const ScriptedRequest& request) {
    const auto now = std::chrono::steady_clock::now();
    if (!first_) first_ = now;
    if (!stalled_ && now - *first_ > std::chrono::seconds(1)) {
      stalled_ = true;
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return {testing_support::right_reply(request).text(request.method == "HEAD")};
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> first_;
  bool stalled_ = false;
};

/// p99 of the response time, in milliseconds.
double p99_under(const std::string& load) {
  ScriptedServer server{StallingScript()};
  const testing_support::TempDir folder;
  const auto result =
      testing_support::run_command({testing_support::program_path("cacheoff"), "load", "--origin",
                                    "127.0.0.1:" + std::to_string(server.port()), "--load", load,
                                    "--until", "duration=5s", "--out", (folder / "out").string()},
                                   std::chrono::minutes(1));
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const auto run = json::parse(testing_support::read_file(folder / "out" / "run.json"));
  return run.at("response_time_ms").at("p99").to_number<double>();
}

TEST(Stall, AnOpenLoopShowsItAndAClosedLoopHidesIt) {
  // A fifth of the requests are due within the second in which nothing is answered.
  const double open_ms = p99_under("rate=100");
  // Two robots have two requests under way in it, of hundreds.
  const double closed_ms = p99_under("best-effort=2");
  EXPECT_GT(open_ms, 700);
  EXPECT_LT(closed_ms, open_ms / 3);
}

}  // namespace
