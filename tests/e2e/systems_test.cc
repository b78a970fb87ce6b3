// Other proxies as systems under test: each serves the workload without an error, and leaves
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <sstream>
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

/// Numbers of the processes that have the folder in their command line.
std::vector<uint32_t> processes_over(const fs::path& folder) {
  std::vector<uint32_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_file(entry.path() / "cmdline").find(folder.string()) != std::string::npos) {
      found.push_back(static_cast<uint32_t>(std::stoul(name)));
    }
  }
  return found;
}

/// What the kernel keeps of a runner's systems: names in shared memory, which hold its number, and
/// queues and segments, whose keys hold that of the Squid that made them.
std::vector<std::string> kept_by_the_kernel(pid_t runner, const std::vector<uint32_t>& systems) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    const std::string name = entry.path().filename();
    if (name.starts_with("cacheoff" + std::to_string(runner) + "x")) found.push_back(name);
  }
  for (const char* table : {"/proc/sysvipc/msg", "/proc/sysvipc/shm"}) {
    std::istringstream lines(read_file(table));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      const auto key = static_cast<uint32_t>(std::strtol(line.c_str(), nullptr, 10));
      for (const uint32_t pid : systems) {
        if (key >> 10 == (pid << 10 >> 10)) found.push_back(line);
      }
    }
  }
  return found;
}

class SystemsTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(folder_.path().c_str(), 0755);
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  std::vector<std::string> bench(const std::string& scheme, const std::string& until) const {
    return {program_path("cacheoff"),
            "bench",
            "--out",
            (folder_ / "out").string(),
            "--scheme",
            scheme,
            "--filesystem",
            "here",
            "--cache-size",
            "256M",
            "--repeat",
            "1",
            "--time-scale",
            "1000",
            "--load",
            "best-effort=8",
            "--until",
            until};
  }

  testing_support::TempDir folder_;
};

TEST_P(SystemsTest, ServesTheWorkloadWithoutAnError) {
  const std::string scheme = GetParam();
  const auto& kind = workload::system_of_scheme(scheme);
  if (const auto reason = workload::why_no_system(scheme); !reason.empty()) GTEST_SKIP() << reason;
  const auto ended = run_command(bench(scheme, "requests=4000"));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto results = json::parse(read_file(folder_ / "out/results.json")).as_object();
  ASSERT_EQ(results.at("cells").as_array().size(), 1U);
  const auto cell = results.at("cells").as_array()[0].as_object();
  EXPECT_EQ(cell.at("system").as_string(), kind.system);
  EXPECT_EQ(cell.at("scheme").as_string(), scheme);
  ASSERT_EQ(cell.at("runs").as_array().size(), 1U);
  const auto run = cell.at("runs").as_array()[0].as_object();
  EXPECT_TRUE(run.at("failure").is_null()) << run.at("failure");
  EXPECT_EQ(run.at("wrong_bodies"), 0);
  for (const auto& error : run.at("errors").as_object()) EXPECT_EQ(error.value(), 0) << error.key();
  EXPECT_GT(run.at("hit_ratio_percent").to_number<double>(), 5);
  EXPECT_GT(run.at("cpu_s").at("proxy").to_number<double>(), 0);
  if (kind.hits_in_log != workload::HitsInLog::kUnlike) {
    // What was under way at the end may be in the log alone.
    EXPECT_NEAR(run.at("access_log").at("hits").to_number<double>(),
                run.at("hits").to_number<double>(), run.at("unfinished").to_number<double>());
    EXPECT_GT(run.at("access_log").at("requests").to_number<uint64_t>(), 3900U);
  }
  for (const auto& warning : run.at("warnings").as_array()) {
    EXPECT_THAT(std::string(warning.as_string()), Not(HasSubstr("access log has")));
  }
  const auto& version =
      results.at("environment").at("versions").at(std::string(kind.system)).as_string();
  EXPECT_THAT(std::string(version), HasSubstr("."));
  EXPECT_THAT(read_file(folder_ / "out/summary.csv"), HasSubstr(scheme + ","));
  EXPECT_THAT(testing_support::bench_leftovers(folder_.path()), testing::IsEmpty());
}

TEST_P(SystemsTest, LeavesNothingWhenTheRunnerIsKilled) {
  const std::string scheme = GetParam();
  if (const auto reason = workload::why_no_system(scheme); !reason.empty()) GTEST_SKIP() << reason;
  Process runner(bench(scheme, "duration=60s"));
  const auto runs = folder_ / "out/cells";
  const auto is_loaded = [&] {
    std::error_code failure;
    for (fs::recursive_directory_iterator entry(runs, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (entry->path().filename() == "load.log" && fs::file_size(entry->path()) > 0) return true;
    }
    return false;
  };
  for (int look = 0; look < 600 && runner.running() && !is_loaded(); ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(runner.running()) << runner.wait().err;
  const auto systems = processes_over(folder_.path());
  const pid_t pid = runner.pid();
  if (scheme == "squid:diskd") {
    EXPECT_THAT(kept_by_the_kernel(pid, systems), Not(testing::IsEmpty()));
  }
  runner.signal(SIGKILL);
  runner.wait();
  const auto clean_up = run_command(
      {program_path("cacheoff"), "bench", "--clean-up", "--out", (folder_ / "out").string()});
  EXPECT_EQ(clean_up.exit_status, 0) << clean_up.out << clean_up.err;
  EXPECT_THAT(testing_support::bench_leftovers(folder_.path()), testing::IsEmpty());
  EXPECT_THAT(kept_by_the_kernel(pid, systems), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Schemes, SystemsTest,
                         testing::Values("squid:ufs", "squid:aufs", "squid:diskd", "squid:rock",
                                         "squid:memory", "nginx", "varnish:malloc", "varnish:file",
                                         "trafficserver"),
                         [](const auto& scheme) {
                           std::string name = scheme.param;
                           for (char& c : name) c = c == ':' ? '_' : c;
                           return name;
                         });

}  // namespace
