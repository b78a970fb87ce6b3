// Static servers as systems under test: each serves its page without an error, and leaves nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/support/bench_leftovers.h"
#include "tests/support/process.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"
#include "workload/system/registry.h"

namespace {

using testing::HasSubstr;
using testing_support::Process;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
namespace fs = std::filesystem;
namespace json = boost::json;

class StaticServersTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(folder_.path().c_str(), 0755);
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
    const auto reason = workload::why_no_system(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  testing_support::ProcessResult bench(std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--out",
                                     (folder_ / "out").string(),
                                     "--scheme",
                                     GetParam(),
                                     "--filesystem",
                                     "here",
                                     "--repeat",
                                     "1"};
    command.insert(command.end(), more.begin(), more.end());
    return run_command(command);
  }

  json::object results() const {
    return json::parse(read_file(folder_ / "out/results.json")).as_object();
  }
  json::object cell() const { return results().at("cells").at(0).as_object(); }

  /// The only run, in which nothing went wrong.
  json::object good_run() const {
    const auto runs = cell().at("runs").as_array();
    EXPECT_EQ(runs.size(), 1U);
    if (runs.empty()) return {};
    auto run = runs[0].as_object();
    EXPECT_TRUE(run.at("failure").is_null()) << run.at("failure");
    EXPECT_EQ(run.at("wrong_bodies"), 0);
    for (const auto& kind : run.at("errors").as_object()) EXPECT_EQ(kind.value(), 0) << kind.key();
    EXPECT_GT(run.at("throughput_rps").to_number<double>(), 0);
    EXPECT_GT(run.at("response_time_ms").at("p50").to_number<double>(), 0);
    EXPECT_GT(run.at("cpu_s").at("proxy").to_number<double>(), 0);
    EXPECT_GT(run.at("cpu_s").at("load").to_number<double>(), 0);
    for (const auto& warning : run.at("warnings").as_array()) {
      EXPECT_THAT(std::string(warning.as_string()), Not(HasSubstr(" logged ")));
    }
    return run;
  }

  testing_support::TempDir folder_;
};

TEST_P(StaticServersTest, EachRequestIsServedAndLoggedOnce) {
  const auto ended = bench({"--file-size", "57244", "--load", "ab=10,requests=2000"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  EXPECT_EQ(cell().at("system").as_string(), GetParam());
  EXPECT_TRUE(cell().at("cache_size_bytes").is_null());
  EXPECT_TRUE(cell().at("hit_ratio_percent").at("median").is_null());
  const auto run = good_run();
  EXPECT_EQ(run.at("good"), 2000);
  EXPECT_EQ(run.at("access_log").at("lines"), 2000);
  EXPECT_EQ(run.at("static").at("body_bytes_per_response").to_number<double>(), 57'244);
  EXPECT_EQ(run.at("static").at("content_coding"), "identity");
  EXPECT_TRUE(run.at("hit_ratio_percent").is_null());
  EXPECT_TRUE(run.at("cpu_s").at("origin").is_null());
  EXPECT_EQ(run.at("ab").at("connections"), 2000);
  EXPECT_EQ(results().at("work").at("file_size_bytes"), 57'244);
  const std::string program = GetParam().substr(GetParam().find(':') + 1);
  if (program != "origin") {
    const auto versions = results().at("environment").at("versions").as_object();
    EXPECT_THAT(std::string(versions.at(program).as_string()), HasSubstr("."));
  }
  EXPECT_THAT(read_file(folder_ / "out/summary.csv"), HasSubstr(GetParam() + ",here,"));
  EXPECT_THAT(read_file(folder_ / "out/report.html"), HasSubstr(GetParam()));
  EXPECT_FALSE(
      fs::is_empty(folder_ / "out/cells" / cell().at("name").as_string().c_str() / "latency.hlog"));
  EXPECT_THAT(testing_support::bench_leftovers(folder_.path()), testing::IsEmpty());
}

TEST_P(StaticServersTest, KeepsConnectionsAndEndsByTime) {
  const auto ended =
      bench({"--file-size", "151", "--load", "ab=20,keep-alive", "--until", "duration=1s"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto run = good_run();
  EXPECT_EQ(run.at("ab").at("ended_by"), "time");
  EXPECT_LT(run.at("ab").at("connections").to_number<double>(), 200);
  EXPECT_EQ(run.at("static").at("body_bytes_per_response").to_number<double>(), 151);
}

TEST_P(StaticServersTest, CompressesWhereItIsAsked) {
  const auto ended =
      bench({"--file-size", "57244", "--load", "ab=10,requests=2000,keep-alive,gzip"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto run = good_run();
  EXPECT_EQ(run.at("good"), 2000);
  EXPECT_EQ(run.at("static").at("content_coding"), "gzip");
  EXPECT_LT(run.at("static").at("body_bytes_per_response").to_number<double>(), 57'244 / 2);
  // The runner had looked at the page before.
  EXPECT_EQ(run.at("access_log").at("lines"), 2001);
}

TEST_P(StaticServersTest, LeavesNothingWhenTheRunnerIsKilled) {
  Process runner({program_path("cacheoff"), "bench", "--out", (folder_ / "out").string(),
                  "--scheme", GetParam(), "--filesystem", "here", "--repeat", "1", "--load", "ab=4",
                  "--until", "duration=60s"});
  const auto is_loaded = [&] {
    std::error_code failure;
    for (fs::recursive_directory_iterator entry(folder_ / "out", failure), end;
         !failure && entry != end; entry.increment(failure)) {
      if (entry->path().filename() == "load.log") return true;
    }
    return false;
  };
  for (int look = 0; look < 600 && runner.running() && !is_loaded(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(runner.running()) << runner.wait().err;
  runner.signal(SIGKILL);
  runner.wait();
  const auto clean_up = run_command(
      {program_path("cacheoff"), "bench", "--clean-up", "--out", (folder_ / "out").string()});
  EXPECT_EQ(clean_up.exit_status, 0) << clean_up.out << clean_up.err;
  EXPECT_THAT(testing_support::bench_leftovers(folder_.path()), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Schemes, StaticServersTest,
                         testing::Values("static:nginx", "static:lighttpd", "static:origin"),
                         [](const auto& scheme) {
                           std::string name = scheme.param;
                           for (char& c : name) c = c == ':' ? '_' : c;
                           return name;
                         });

TEST(StaticServers, OtherLoadsAndOtherSchemesAreUsageErrors) {
  const auto status_of = [](std::vector<std::string> more) {
    more.insert(more.begin(), {program_path("cacheoff"), "bench", "--dry-run"});
    const auto ended = run_command(more);
    EXPECT_THAT(ended.err, HasSubstr("right would be"));
    return ended.exit_status;
  };
  EXPECT_EQ(status_of({"--scheme", "static:origin"}), 2);
  EXPECT_EQ(status_of({"--scheme", "static:origin", "--load", "robots=5"}), 2);
  EXPECT_EQ(status_of({"--scheme", "ufs", "--load", "ab=10"}), 2);
  EXPECT_EQ(status_of({"--scheme", "static:origin", "--load", "ab=0"}), 2);
}

/// The shipped plans as they would run, which also shows that they are right.
TEST(StaticServers, TheShippedPlansFitTheirSystems) {
  for (const char* plan : {"static-57244.toml", "static-151.toml"}) {
    const auto file = fs::path(CACHEOFF_SOURCE_DIR) / "workload/experiment/plans" / plan;
    for (const bool is_short : {false, true}) {
      std::vector<std::string> command{
          program_path("cacheoff"), "bench", file.string(), "--dry-run", "--filesystem", "here"};
      if (is_short) command.emplace_back("--short");
      const auto ended = run_command(command);
      EXPECT_EQ(ended.exit_status, 0) << ended.err;
      EXPECT_THAT(ended.out, HasSubstr("cell static-origin-here: ")) << plan;
    }
  }
}

}  // namespace
