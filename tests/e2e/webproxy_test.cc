// The row of the bench that is no cache: it stands beside a scheme on the same filesystem.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <sstream>

#include "storage/base/units.h"
#include "tests/support/loop_device.h"
#include "tests/support/process.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"

namespace {

using testing::HasSubstr;
using testing_support::LoopDevice;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
namespace json = boost::json;

class WebproxyTest : public testing::Test {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(folder_.path().c_str(), 0755);
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  testing_support::ProcessResult bench(std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--out",
                                     (folder_ / "out").string(),
                                     "--repeat",
                                     "1",
                                     "--time-scale",
                                     "1000",
                                     "--order",
                                     "listed"};
    command.insert(command.end(), more.begin(), more.end());
    return run_command(command);
  }

  json::object cell(const std::string& scheme) const {
    const auto results = json::parse(read_file(folder_ / "out/results.json")).as_object();
    for (const auto& cell : results.at("cells").as_array()) {
      if (cell.at("scheme").as_string() == scheme) return cell.as_object();
    }
    ADD_FAILURE() << "no cell " << scheme;
    return {};
  }

  /// The run of that cell, which must have done something and nothing wrong.
  json::object good_run(const std::string& scheme) const {
    const auto runs = cell(scheme).at("runs").as_array();
    EXPECT_EQ(runs.size(), 1U);
    if (runs.empty()) return {};
    auto run = runs[0].as_object();
    EXPECT_TRUE(run.at("failure").is_null()) << run.at("failure");
    EXPECT_EQ(run.at("wrong_bodies"), 0);
    for (const auto& kind : run.at("errors").as_object()) EXPECT_EQ(kind.value(), 0);
    EXPECT_GT(run.at("throughput_rps").to_number<double>(), 0);
    EXPECT_GT(run.at("response_time_ms").at("mean").to_number<double>(), 0);
    return run;
  }

  testing_support::TempDir folder_;
};

TEST_F(WebproxyTest, StandsBesideASchemeAndHasNoHits) {
  const auto ended = bench({"--scheme", "webproxy,ufs", "--filesystem", "here", "--cache-size",
                            "64M", "--until", "duration=2s"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  good_run("ufs");
  EXPECT_EQ(cell("webproxy").at("system"), "cacheoff-webproxy");
  const auto run = good_run("webproxy");
  EXPECT_TRUE(run.at("hit_ratio_percent").is_null());
  EXPECT_TRUE(run.at("hit_ratio_all_percent").is_null());
  EXPECT_EQ(run.at("load"), "best-effort=64");
  const auto& pattern = run.at("webproxy");
  EXPECT_EQ(pattern.at("engine"), "thread_pool");
  EXPECT_EQ(pattern.at("files"), 4096);
  EXPECT_EQ(pattern.at("reads").to_number<uint64_t>() + pattern.at("creates").to_number<uint64_t>(),
            run.at("good").to_number<uint64_t>());
  EXPECT_GT(run.at("cpu_s").at("proxy").to_number<double>(), 0);
  EXPECT_THAT(read_file(folder_ / "out/summary.txt"), HasSubstr("# no cache: whole files"));
  EXPECT_THAT(read_file(folder_ / "out/report.html"), HasSubstr("<b>#</b> no cache"));
  const auto log = read_file(folder_ / "out/cells/webproxy-here/latency.hlog");
  EXPECT_THAT(log, HasSubstr("Tag=read"));
  EXPECT_THAT(log, HasSubstr("Tag=create"));
  std::istringstream trace(read_file(folder_ / "out/cells/webproxy-here/trace.csv"));
  std::string header;
  ASSERT_TRUE(std::getline(trace, header));
  EXPECT_THAT(header, HasSubstr("elapsed_s,fill_ratio,offered_rps,throughput_rps"));
  size_t rows = 0;
  for (std::string row; std::getline(trace, row); ++rows) {
    // No times of hits and misses, and no hit ratios, before the errors.
    EXPECT_THAT(row, HasSubstr(",,,,,0,")) << row;
  }
  EXPECT_GT(rows, 10U);
}

TEST_F(WebproxyTest, ExactRequestsOnEachEngineOverTwoFilesystems) {
  if (geteuid() != 0 || LoopDevice(storage::kMiB).path().empty()) {
    GTEST_SKIP() << "loop devices need root";
  }
  const auto ended =
      bench({"--scheme", "webproxy:blocking,webproxy:thread_pool", "--filesystem", "ext4",
             "--disks", "2", "--cache-size", "8M", "--load", "peak", "--until", "requests=3000"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  for (const std::string engine : {"blocking", "thread_pool"}) {
    SCOPED_TRACE(engine);
    const auto run = good_run("webproxy:" + engine);
    EXPECT_EQ(run.at("good"), 3000);
    EXPECT_EQ(std::string(run.at("webproxy").at("engine").as_string()), engine);
    EXPECT_EQ(run.at("webproxy").at("folders"), 2);
    EXPECT_EQ(run.at("load"), "best-effort=100");
    EXPECT_THAT(json::serialize(run.at("warnings")), HasSubstr("--load peak has no meaning"));
    EXPECT_THAT(std::string(run.at("disk").at("counted_on").as_string()),
                HasSubstr("devices loop"));
    EXPECT_EQ(run.at("devices").as_array().size(), 2U);
  }
}

TEST_F(WebproxyTest, ABlockDeviceAsItIsHasNoFiles) {
  const auto ended = bench({"--scheme", "webproxy", "--filesystem", "here,raw", "--cache-size",
                            "4M", "--until", "requests=100"});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto results = json::parse(read_file(folder_ / "out/results.json")).as_object();
  ASSERT_EQ(results.at("skipped").as_array().size(), 1U);
  EXPECT_THAT(std::string(results.at("skipped").as_array()[0].at("reason").as_string()),
              HasSubstr("keeps files"));
}

TEST_F(WebproxyTest, AnUnknownEngineIsNamedWithThoseThatThereAre) {
  const auto ended = bench({"--scheme", "webproxy:helper", "--filesystem", "here"});
  EXPECT_EQ(ended.exit_status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--scheme 'webproxy:helper': no such scheme"));
  EXPECT_THAT(ended.err, HasSubstr("webproxy:blocking"));
}

}  // namespace
