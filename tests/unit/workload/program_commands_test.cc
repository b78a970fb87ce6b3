#include "workload/experiment/program_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/experiment/progress.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProgramAddresses some_addresses() {
  ProgramAddresses addresses;
  addresses.origin = storage::HostPort{"127.0.0.1", 1};
  addresses.proxy = storage::HostPort{"127.0.0.1", 2};
  return addresses;
}

std::string load_line(const ExperimentOptions& options) {
  return shell_line(load_command("c", options, some_addresses(), 5, "o"));
}

TEST(ProgramCommands, LoadGetsTheWorkOfTheExperiment) {
  ExperimentOptions options;
  EXPECT_EQ(load_line(options),
            "c load --workload polymix4 --load best-effort=64 --until duration=60s --time-scale 20 "
            "--proxy 127.0.0.1:2 --origin 127.0.0.1:1 --seed 5 --cache-size 1073741824 "
            "--sample-interval 120ms --out o");
}

TEST(ProgramCommands, OpenLoopsPeaksAndPhasesAreHandedOn) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "load", {"peak,max=500"}));
  EXPECT_THAT(load_line(options), HasSubstr("--load peak,max=500 --until fill=2.0"));
  // A row a sample: 60 s over a time scale of 20.
  EXPECT_THAT(load_line(options), HasSubstr("--sample-interval 3000ms"));
  ASSERT_TRUE(set_option(options, "load", {"rate=100"}));
  EXPECT_THAT(load_line(options), HasSubstr("--load rate=100 --until duration=60s"));
  ASSERT_TRUE(set_option(options, "phases", {"polymix4,plateau=1h"}));
  EXPECT_THAT(load_line(options), HasSubstr("--load rate=100 --phases polymix4,plateau=1h --time"));
}

TEST(ProgramCommands, ATraceIsReplayedAsFastAsPossibleOrAtItsTimes) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "trace", {"a.log"}));
  EXPECT_THAT(load_line(options), HasSubstr("c replay a.log --timing asap --proxy"));
  auto scaled = options;
  ASSERT_TRUE(set_option(scaled, "time-scale", {"4"}));
  ASSERT_TRUE(set_option(scaled, "until", {"requests=70"}));
  EXPECT_THAT(load_line(scaled), HasSubstr("--timing scaled=4 --limit 70"));
  ASSERT_TRUE(set_option(options, "load", {"best-effort=9"}));
  EXPECT_THAT(load_line(options), HasSubstr("--timing asap --concurrency 9"));
}

TEST(ProgramCommands, TheOriginThinksAsTheWorkloadSays) {
  ExperimentOptions options;
  EXPECT_THAT(shell_line(origin_command("c", options, polymix4_workload())),
              HasSubstr("--think normal:2.5s,1s"));
  options.trace = "a.log";
  EXPECT_EQ(shell_line(origin_command("c", options, polymix4_workload())),
            "c origin --listen 127.0.0.1:0");
}

TEST(ProgramCommands, SamplesAreFiveHundredToARun) {
  ExperimentOptions options;
  EXPECT_EQ(sample_interval(options).count(), 120);
  options.until = "duration=2s";
  EXPECT_EQ(sample_interval(options).count(), 10);
  options.until = "fill=2.0";
  EXPECT_EQ(sample_interval(options).count(), 250);
}

TEST(ProgramCommands, AddressesAreReadFromTheReadyLine) {
  const std::string line = "cacheoff-proxy: listening on 127.0.0.1:8080, admin on 127.0.0.1:9090";
  EXPECT_EQ(address_behind(line, "listening on ")->port, 8080);
  EXPECT_EQ(address_behind(line, "admin on ")->port, 9090);
  EXPECT_FALSE(address_behind("x: listening on nothing", "listening on "));
  EXPECT_FALSE(address_behind(line, "other "));
}

TEST(ProgramCommands, ShellLinesAreQuoted) {
  EXPECT_EQ(shell_line({"a", "b c", "it's", ""}), "a 'b c' 'it'\\''s' ''");
}

TEST(ProgramCommands, LastWordsOfALog) {
  const testing_support::TempDir folder;
  std::ofstream(folder / "log") << "one\ntwo\n\n";
  EXPECT_EQ(last_words(folder / "log"), ": two");
  EXPECT_EQ(last_words(folder / "none"), "");
  std::ofstream(folder / "warned") << "cacheoff load: the origin went away\n"
                                      "cacheoff load: warning: few ports\n";
  EXPECT_EQ(last_words(folder / "warned"), ": cacheoff load: the origin went away");
}

TEST(ProgramCommands, WarningsAreMergedOnce) {
  const boost::json::object record{{"warnings", {"throughput was not steady: 40 %", "x"}}};
  const auto merged = merge_warnings(record, {{"x", "y"}, {"throughput was not steady"}});
  EXPECT_THAT(merged, ElementsAre("throughput was not steady: 40 %", "x", "y"));
}

TEST(ProgressTest, PrintsALineARun) {
  std::ostringstream out;
  Progress progress(out, false, 3, 30);
  progress.skip_run();
  progress.begin_run("ufs-here", 2, 3);
  EXPECT_EQ(out.str(), "");
  progress.end_run("done");
  progress.finish();
  EXPECT_THAT(out.str(), HasSubstr("run 2 of 3 (round 2 of 3): ufs-here: done"));
  EXPECT_THAT(out.str(), HasSubstr("1 finished runs were kept"));
}

TEST(ProgressTest, ShowsTheTimeLeftOnATerminal) {
  std::ostringstream out;
  Progress progress(out, true, 3, 30);
  progress.skip_run();
  progress.begin_run("ufs-here", 2, 3);
  EXPECT_THAT(out.str(), HasSubstr("ufs-here, about 20.0 s left"));
}

}  // namespace
}  // namespace workload
