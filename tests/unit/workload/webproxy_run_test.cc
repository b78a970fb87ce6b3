// The cell that is no cache: its command line, and what is said to have limited it.
#include "workload/experiment/webproxy_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/experiment/program_commands.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WebproxyCommand command_of(const ExperimentOptions& options, const std::string& scheme = "webproxy",
                           const std::string& scheme_options = {}) {
  CellPlan cell;
  cell.scheme = scheme;
  cell.scheme_options = scheme_options;
  return webproxy_command("w", cell, options, {"a", "b"}, 5, "o");
}

TEST(WebproxyRun, OnlyThePatternsOwnNamesAreIt) {
  for (const char* name : {"webproxy", "webproxy:blocking", "webproxy:none-such"}) {
    EXPECT_TRUE(is_webproxy(name)) << name;
  }
  for (const char* name : {"", "ufs", "webprox", "webproxy2", "squid:ufs"}) {
    EXPECT_FALSE(is_webproxy(name)) << name;
  }
}

TEST(WebproxyRun, GetsTheWorkOfTheExperiment) {
  const ExperimentOptions options;
  const auto command = command_of(options);
  EXPECT_EQ(shell_line(command.words),
            "w --directory a --directory b --workers 64 --cache-size 1073741824 --until "
            "duration=60s --seed 5 --sample-interval 120ms --out o --hold");
  EXPECT_THAT(command.warnings, IsEmpty());
  EXPECT_THAT(shell_line(command_of(options, "webproxy:io_uring").words),
              HasSubstr("--engine io_uring"));
  EXPECT_THAT(shell_line(command_of(options, "webproxy", "threads=4").words),
              HasSubstr("--hold --threads 4"));
}

TEST(WebproxyRun, ALoadThatHasNoMeaningIsSaidToHaveNone) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "load", {"peak"}));
  auto command = command_of(options);
  EXPECT_THAT(shell_line(command.words), HasSubstr("--workers 100"));
  EXPECT_THAT(shell_line(command.words), HasSubstr("--until fill=2.0"));
  EXPECT_THAT(command.warnings, ElementsAre(HasSubstr("--load peak has no meaning for webproxy")));
  ASSERT_TRUE(set_option(options, "load", {"best-effort=5000"}));
  command = command_of(options);
  EXPECT_THAT(shell_line(command.words), HasSubstr("--workers 1000"));
  EXPECT_THAT(command.warnings, ElementsAre(HasSubstr("the most that it takes")));
  ExperimentOptions replay;
  ASSERT_TRUE(set_option(replay, "trace", {"a.log"}));
  command = command_of(replay);
  EXPECT_THAT(shell_line(command.words), HasSubstr("--until duration=60s"));
  EXPECT_THAT(command.warnings, ElementsAre(HasSubstr("--trace has no meaning"),
                                            HasSubstr("ran until duration=60s")));
}

TEST(WebproxyRun, TheLimitIsWhatWasFull) {
  RunObservation seen;
  EXPECT_EQ(webproxy_limit(seen, 0.5), kLimitedByFilesystem);
  EXPECT_EQ(webproxy_limit(seen, 0.95), kLimitedByProcess);
  seen.machine_busy_share = 0.99;
  EXPECT_EQ(webproxy_limit(seen, 0.5), kLimitedByMachine);
  EXPECT_EQ(webproxy_limit(seen, 0.95), kLimitedByProcess);
  // The event loop waits for the device in blocking calls.
  seen.proxy_blocked_share = 0.7;
  EXPECT_EQ(webproxy_limit(seen, 0.25), kLimitedByDisk);
  seen.proxy_blocked_share = 0;
  seen.disk_busy_share = 0.93;
  EXPECT_EQ(webproxy_limit(seen, 0.95), kLimitedByDisk);
}

}  // namespace
}  // namespace workload
