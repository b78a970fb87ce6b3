// Memory limits of the system under test: that they hold, that the result says so, and that no
// group is left in any kind of end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "storage/base/units.h"
#include "tests/support/effort.h"
#include "tests/support/loop_device.h"
#include "tests/support/process.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"
#include "workload/filesystem/memory_cgroup.h"

namespace {

using storage::kMiB;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::Process;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
namespace fs = std::filesystem;
namespace json = boost::json;

/// What sanitizers add to the memory of a program is several times what it has by itself.
constexpr uint64_t kLimitMiB = testing_support::effort(64, 1024);

class MemoryLimitE2eTest : public testing::Test {
 protected:
  void SetUp() override {
    chmod(folder_.path().c_str(), 0755);
    // Others that are tested at the same time must not clear up before this does.
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
    if (geteuid() != 0) GTEST_SKIP() << "limiting memory needs root";
    auto hierarchy = workload::find_memory_hierarchy();
    if (!hierarchy) GTEST_SKIP() << hierarchy.error().text;
    auto trial = workload::MemoryCgroup::make(*hierarchy, workload::cgroup_name(), 64 * kMiB);
    if (!trial) GTEST_SKIP() << trial.error().text;
    root_ = hierarchy->root;
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  std::vector<std::string> bench(std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--out",
                                     (folder_ / "out").string(),
                                     "--memory",
                                     std::to_string(kLimitMiB) + "M",
                                     "--repeat",
                                     "1",
                                     "--time-scale",
                                     "1000"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  /// Groups that a process of this number made.
  std::vector<std::string> groups_of(pid_t pid) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(root_)) {
      const std::string name = entry.path().filename();
      const auto owner = workload::cgroup_owner(name);
      if (owner && owner->pid == pid) found.push_back(name);
    }
    return found;
  }

  /// Until somebody is in a group of the runner's: the trial of the beginning is a group too, but
  /// nobody's. False where none came.
  bool wait_for_a_run(pid_t runner) const {
    for (int turn = 0; turn < 3000; ++turn) {
      for (const auto& name : groups_of(runner)) {
        if (!read_file(root_ / name / "cgroup.procs").empty()) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  /// The only run of each cell, by the cell's name.
  std::map<std::string, json::object> runs() const {
    std::map<std::string, json::object> out;
    const auto all = json::parse(read_file(folder_ / "out/results.json")).as_object();
    for (const auto& cell : all.at("cells").as_array()) {
      const auto& list = cell.at("runs").as_array();
      if (!list.empty()) out[std::string(cell.at("name").as_string())] = list[0].as_object();
    }
    return out;
  }

  testing_support::TempDir folder_;
  fs::path root_;
};

uint64_t count(const json::value& value) {
  return value.to_number<uint64_t>();
}

TEST_F(MemoryLimitE2eTest, HoldsTheProxyAndItsPagesAndSaysSo) {
  if (testing_support::LoopDevice(kMiB).path().empty()) GTEST_SKIP() << "no loop devices";
  Process runner(bench({"--cache-size", "512M", "--filesystem", "ext4", "--scheme",
                        "none,ufs,diskd", "--until", "duration=5s"}));
  const auto ended = runner.wait(std::chrono::seconds(300));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  EXPECT_THAT(groups_of(runner.pid()), IsEmpty());
  const auto all = runs();
  ASSERT_EQ(all.size(), 3U);
  for (const auto& [name, run] : all) {
    SCOPED_TRACE(name);
    const auto& memory = run.at("memory").as_object();
    EXPECT_EQ(count(memory.at("asked_bytes")), kLimitMiB * kMiB);
    EXPECT_EQ(count(memory.at("limit_bytes")), kLimitMiB * kMiB);
    EXPECT_EQ(count(memory.at("limit_raised")), 0U);
    EXPECT_EQ(count(memory.at("times_frozen")), 0U);
    // The kernel lets what can't wait past the limit: a page or two, by its own count.
    EXPECT_LE(count(memory.at("peak_bytes")), kLimitMiB * kMiB + 64 * storage::kKiB);
    EXPECT_GT(count(memory.at("process_peak_bytes")), 0U);
    EXPECT_GT(count(run.at("context_switches").at("proxy").at("voluntary")), 0U);
    EXPECT_GT(count(run.at("context_switches").at("load").at("voluntary")), 0U);
    EXPECT_GT(count(run.at("page_faults").at("proxy").at("minor")), 0U);
    EXPECT_FALSE(run.at("per_request").at("cpu_us").is_null());
  }
  const auto& ufs = all.at("ufs-ext4");
  EXPECT_GT(count(ufs.at("memory").at("page_cache_mean_bytes")), 0U);
  EXPECT_FALSE(ufs.at("per_request").at("disk_write_bytes").is_null());
  EXPECT_GT(count(all.at("diskd-ext4").at("context_switches").at("helper").at("voluntary")), 0U);
  const std::string csv = read_file(folder_ / "out/summary.csv");
  EXPECT_THAT(
      csv, HasSubstr(",page_cache_hit,memory_peak_bytes,response_bytes_per_request,event_method,"));
}

TEST_F(MemoryLimitE2eTest, ProcessesThatNeedMoreGetItAndTheResultSaysSo) {
  auto command = bench({"--cache-size", "256M", "--scheme", "memory", "--load", "best-effort=64",
                        "--until", "requests=6000"});
  *std::find(command.begin(), command.end(), std::to_string(kLimitMiB) + "M") = "16M";
  const auto run = run_command(command, std::chrono::seconds(300));
  ASSERT_EQ(run.exit_status, 0) << run.out << run.err;
  const auto all = runs();
  const auto& memory = all.at("memory").at("memory").as_object();
  EXPECT_GT(count(memory.at("limit_raised")), 0U);
  EXPECT_GT(count(memory.at("peak_bytes")), 16 * kMiB);
  EXPECT_THAT(json::serialize(all.at("memory").at("warnings")), HasSubstr("was raised up to"));
  EXPECT_FALSE(all.at("memory").at("valid").as_bool());
}

TEST_F(MemoryLimitE2eTest, NothingIsLeftOfAKilledRunner) {
  pid_t killed = 0;
  {
    Process runner(bench({"--cache-size", "32M", "--filesystem", "here", "--scheme", "diskd",
                          "--until", "duration=60s"}));
    killed = runner.pid();
    ASSERT_TRUE(wait_for_a_run(killed));
    runner.signal(SIGKILL);
    ASSERT_FALSE(runner.wait().timed_out);
  }
  // Empty by now, so that the start of any other bench may have removed it already.
  const auto clean_up = run_command(
      {program_path("cacheoff"), "bench", "--clean-up", "--out", (folder_ / "out").string()});
  EXPECT_EQ(clean_up.exit_status, 0) << clean_up.out << clean_up.err;
  EXPECT_THAT(groups_of(killed), IsEmpty());
}

TEST_F(MemoryLimitE2eTest, NothingIsLeftOfAnInterruptedRunner) {
  Process runner(bench({"--cache-size", "32M", "--filesystem", "here", "--scheme", "ufs", "--until",
                        "duration=60s"}));
  const pid_t pid = runner.pid();
  ASSERT_TRUE(wait_for_a_run(pid));
  runner.signal(SIGINT);
  ASSERT_FALSE(runner.wait().timed_out);
  EXPECT_THAT(groups_of(pid), IsEmpty());
}

TEST_F(MemoryLimitE2eTest, ADryRunSaysThatItNeedsRoot) {
  const auto ended = run_command(bench({"--scheme", "none,ufs", "--dry-run"}));
  ASSERT_EQ(ended.exit_status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("privileges: root, to limit memory to " +
                                   storage::format_size(kLimitMiB * kMiB)));
}

}  // namespace
