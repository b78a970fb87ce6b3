#include "workload/experiment/experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"
#include "workload/experiment/machine_stats.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::HasSubstr;

/// A script that plays `cacheoff`: its origin waits, its load does what the test says.
constexpr std::string_view kCacheoff = R"(#!/bin/sh
if [ "$1" = origin ]; then
  echo $$ >>"%/pids"
  echo "cacheoff origin: listening on 127.0.0.1:1"
  trap 'exit 0' TERM
  while :; do sleep 0.01; done
fi
echo $$ >>"%/pids"
while [ $# -gt 1 ]; do
  if [ "$1" = --out ]; then out=$2; fi
  shift
done
. "%/load.sh"
)";

/// A script that plays `cacheoff-proxy`.
constexpr std::string_view kProxy = R"(#!/bin/sh
case "$1" in
  --list-schemes) printf 'none\t0\t0\tnothing\nufs\t1\t1\tfiles\n'; exit 0 ;;
  --version) echo "cacheoff-proxy 9"; exit 0 ;;
esac
echo $$ >>"%/pids"
. "%/proxy.sh"
echo "cacheoff-proxy: listening on 127.0.0.1:1, admin on 127.0.0.1:1"
trap 'exit 0' TERM
while :; do sleep 0.01; done
)";

constexpr const char* kGoodLoad =
    R"(echo '{"throughput_rps": 50.5, "response_time_ms": {"mean": 2.5}, "hit_ratio_percent": 40,
"requests": 10, "hits": 4, "errors": {"timeout": 0}, "wrong_bodies": 0, "steady": true,
"generator": {"cpu_percent": 5}, "warnings": []}' >"$out/run.json"
echo 'header' >"$out/trace.csv"
echo 'log' >"$out/latency.hlog"
)";

class ExperimentTest : public testing::Test {
 protected:
  void SetUp() override {
    write_script("cacheoff", kCacheoff);
    write_script("cacheoff-proxy", kProxy);
    set_load("");
    set_proxy("");
    inputs_.programs = {folder_ / "cacheoff", folder_ / "cacheoff-proxy"};
    inputs_.options.schemes = {"none", "ufs"};
    inputs_.options.cache_size_bytes = 1 << 20;
    inputs_.options.repeat = 2;
    inputs_.options.until = "duration=1s";
    inputs_.options.out = (folder_ / "out").string();
    inputs_.progress = &progress_;
  }

  void write_script(const std::string& name, std::string_view text) {
    std::string script(text);
    for (size_t at = script.find('%'); at != std::string::npos; at = script.find('%', at)) {
      if (script.compare(at, 2, "%/") == 0) {
        script.replace(at, 1, folder_.path().string());
      } else {
        ++at;
      }
    }
    std::ofstream(folder_ / name) << script;
    chmod((folder_ / name).c_str(), 0755);
  }

  /// The load does `first`, then what a good one does, then `last`.
  void set_load(std::string_view first, std::string_view last = {}) {
    std::string script(first);
    script += kGoodLoad;
    script += last;
    write_script("load.sh", script);
  }
  void set_proxy(std::string_view script) { write_script("proxy.sh", script); }

  Expected<ExperimentEnd> run(StopSignals& stop) {
    auto plan = plan_experiment(inputs_.options, inputs_.programs);
    if (!plan) return plan.error();
    return run_experiment(inputs_, *plan, stop);
  }

  Expected<ExperimentEnd> run() {
    StopSignals stop;
    return run(stop);
  }

  /// Whether each process that any of the scripts was is gone, and no cache is left.
  void expect_nothing_left() {
    std::ifstream pids(folder_ / "pids");
    for (pid_t pid = 0; pids >> pid;) {
      const char state = read_process_state(pid);
      EXPECT_TRUE(state == 0 || state == 'Z') << pid;
    }
    for (const auto& entry : std::filesystem::directory_iterator(inputs_.options.out)) {
      EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("scratch")));
    }
  }

  testing_support::TempDir folder_;
  std::ostringstream progress_;
  ExperimentInputs inputs_;
};

TEST_F(ExperimentTest, RunsEveryCellEveryRoundAndKeepsWhatCameOut) {
  const auto end = run();
  ASSERT_TRUE(end) << end.error().text;
  EXPECT_FALSE(end->stopped);
  EXPECT_FALSE(end->any_failed);
  ASSERT_EQ(end->results.cells.size(), 2U);
  for (const auto& cell : end->results.cells) {
    ASSERT_EQ(cell.runs.size(), 2U) << cell.name;
    EXPECT_FALSE(cell.unfinished);
    const auto& run = cell.runs[0];
    for (const auto* key :
         {"cpu_s.proxy", "cpu_s.load", "cpu_s.origin", "cpu_s.helper", "peak_rss_bytes.proxy",
          "disk.read_bytes", "context_switches.load.voluntary", "page_faults.proxy.minor",
          "page_cache_hit_percent", "disk_write_amplification", "per_request.disk_reads", "memory",
          "limited_by", "warnings", "valid", "run", "seed", "throughput_rps"}) {
      EXPECT_NE(find_json(run, key), nullptr) << key;
    }
    const auto place = folder_ / "out/cells";
    for (const auto* name : {"trace.csv", "latency.hlog", "configuration.json",
                             "runs/1/commands.sh", "runs/2/proxy.log", "runs/1/result.json"}) {
      EXPECT_TRUE(std::filesystem::exists(place / cell.name / name)) << cell.name << '/' << name;
    }
  }
  const auto stored = read_results(inputs_.options.out);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(stored->cells.size(), 2U);
  EXPECT_EQ(text_at(stored->environment, "versions.cacheoff-proxy"), "cacheoff-proxy 9");
  expect_nothing_left();
}

TEST_F(ExperimentTest, RoundsDoTheSameWorkInAllCells) {
  const auto end = run();
  ASSERT_TRUE(end);
  for (const auto& cell : end->results.cells) {
    for (const auto& run : cell.runs) {
      EXPECT_EQ(count_at(run, "seed"), inputs_.options.seed + count_at(run, "run") - 1);
    }
  }
}

TEST_F(ExperimentTest, AFailedCellIsARowWithTheReasonAndTheRestGoesOn) {
  set_proxy("case \"$*\" in *scheme=ufs*) echo 'no such disk' >&2; exit 5 ;; esac\n");
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->any_failed);
  EXPECT_EQ(end->results.cells[0].runs.size(), 2U);
  const auto& failed = end->results.cells[1];
  EXPECT_TRUE(failed.runs.empty());
  ASSERT_EQ(failed.failed_runs.size(), 2U);
  EXPECT_THAT(failed.failed_runs[0].reason, HasSubstr("status 5"));
  EXPECT_THAT(failed.failed_runs[0].reason, HasSubstr("no such disk"));
  expect_nothing_left();
}

TEST_F(ExperimentTest, AProxyThatDiesInMidRunFailsTheRun) {
  set_proxy("(sleep 0.3; kill -9 $$) &\n");
  set_load("sleep 1000\n");
  inputs_.options.repeat = 1;
  inputs_.options.schemes = {"none"};
  const auto end = run();
  ASSERT_TRUE(end);
  ASSERT_EQ(end->results.cells[0].failed_runs.size(), 1U);
  EXPECT_THAT(end->results.cells[0].failed_runs[0].reason, HasSubstr("signal 9"));
  expect_nothing_left();
}

TEST_F(ExperimentTest, WrongBytesCountAgainstTheRun) {
  set_load("", "sed -i 's/\"wrong_bodies\": 0/\"wrong_bodies\": 3/' \"$out/run.json\"; exit 1\n");
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->any_failed);
  const auto& cell = end->results.cells[0];
  ASSERT_EQ(cell.runs.size(), 2U);
  EXPECT_EQ(text_at(cell.runs[0], "failure"), "responses with wrong bytes");
  EXPECT_TRUE(run_values(cell, "throughput_rps").empty());
}

TEST_F(ExperimentTest, ALoadThatWritesNothingIsNoResult) {
  set_load("echo 'no route' >&2; exit 1\n");
  const auto end = run();
  ASSERT_TRUE(end);
  ASSERT_EQ(end->results.cells[0].failed_runs.size(), 2U);
  EXPECT_THAT(end->results.cells[0].failed_runs[0].reason, HasSubstr("status 1: no route"));
}

TEST_F(ExperimentTest, ASignalCleansUpAndKeepsFinishedRuns) {
  // The third run's load asks the runner itself to stop, and would never end.
  set_load(
      "n=$(cat '%/count' 2>/dev/null || echo 0); n=$((n+1)); echo $n >'%/count'\n"
      "if [ $n -ge 3 ]; then kill -INT $PPID; sleep 1000; fi\n");
  StopSignals stop;
  const auto end = run(stop);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->stopped);
  EXPECT_EQ(stop.received(), SIGINT);
  size_t finished = 0;
  for (const auto& cell : end->results.cells) {
    finished += cell.runs.size();
    EXPECT_TRUE(cell.failed_runs.empty());
  }
  EXPECT_EQ(finished, 2U);
  EXPECT_TRUE(end->results.cells[0].unfinished || end->results.cells[1].unfinished);
  expect_nothing_left();
  EXPECT_TRUE(read_results(inputs_.options.out));
}

TEST_F(ExperimentTest, ResumeRunsOnlyWhatIsMissing) {
  ASSERT_TRUE(run());
  std::filesystem::remove(folder_ / "out/cells/ufs-here/runs/2/result.json");
  set_load("echo again >>'%/again'\n");
  const auto stored = stored_options(inputs_.options.out);
  ASSERT_TRUE(stored) << stored.error().text;
  EXPECT_EQ(first_difference(*stored, inputs_.options), "");
  inputs_.options.resume = true;
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->results.cells[0].runs.size(), 2U);
  EXPECT_EQ(end->results.cells[1].runs.size(), 2U);
  EXPECT_EQ(*read_file(folder_ / "again", 100), "again\n");
  EXPECT_THAT(progress_.str(), HasSubstr("3 finished runs were kept"));
}

TEST_F(ExperimentTest, OptionsOfTheProxyReachIt) {
  inputs_.options.repeat = 1;
  inputs_.options.proxy_options = {{"test-delay", "20us"}};
  ASSERT_TRUE(run());
  const auto commands = read_file(folder_ / "out/cells/none/runs/1/commands.sh", 1 << 16);
  ASSERT_TRUE(commands);
  EXPECT_THAT(*commands, HasSubstr(" --test-delay=20us"));
}

TEST_F(ExperimentTest, RunsOfOtherWorkAreNotMixedWithNewOnes) {
  ASSERT_TRUE(run());
  inputs_.options.resume = true;
  inputs_.workload.requests.recurrence_percent = 1;
  const auto end = run();
  ASSERT_FALSE(end);
  EXPECT_TRUE(end.error().usage);
  EXPECT_THAT(end.error().text, HasSubstr("--resume: the workload or trace in"));
}

TEST_F(ExperimentTest, ACacheThatDoesNotFitIsAReason) {
  inputs_.options.cache_size_bytes = 1ULL << 62;
  inputs_.options.repeat = 1;
  const auto end = run();
  ASSERT_TRUE(end);
  ASSERT_EQ(end->results.cells[1].failed_runs.size(), 1U);
  EXPECT_THAT(end->results.cells[1].failed_runs[0].reason, HasSubstr("does not fit"));
  expect_nothing_left();
}

TEST_F(ExperimentTest, WhatAKilledRunnerLeftIsRemoved) {
  inputs_.options.repeat = 1;
  // No process has the highest number there can be, and this one is alive.
  const auto stale = folder_ / "out/cacheoff-scratch-2147483647";
  const auto alive = folder_ / ("out/cacheoff-scratch-" + std::to_string(getppid()));
  std::filesystem::create_directories(stale / "ufs-here-1");
  std::filesystem::create_directories(alive);
  ASSERT_TRUE(run());
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(alive));
}

TEST_F(ExperimentTest, ThePlanIsDescribed) {
  const auto plan = plan_experiment(inputs_.options, inputs_.programs);
  ASSERT_TRUE(plan);
  const std::string text = describe_plan(inputs_.options, *plan);
  EXPECT_THAT(text, HasSubstr("cell ufs-here: scheme=ufs,path=FOLDER,size=1048576"));
  EXPECT_THAT(text, HasSubstr("4 runs, seed 1, about 8"));
  EXPECT_FALSE(std::filesystem::exists(inputs_.options.out));
}

}  // namespace
}  // namespace workload
