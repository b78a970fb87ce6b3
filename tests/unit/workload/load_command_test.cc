// The command line of `cacheoff load`.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/unit/workload/load_run_under_test.h"
#include "workload/cli/command.h"

namespace workload {
namespace {

using testing_support::TempDir;

TEST(LoadCommand, SaysWhatIsWrongWithItsArguments) {
  const std::vector<std::string> right{"--origin", "127.0.0.1:1"};
  const auto with = [&right](std::vector<std::string> more) {
    more.insert(more.begin(), right.begin(), right.end());
    return run_load_command(more);
  };
  EXPECT_EQ(run_load_command({}), kExitUsage);
  EXPECT_EQ(run_load_command({"--help"}), kExitSuccess);
  EXPECT_EQ(run_load_command({"--origin", "nowhere"}), kExitUsage);
  EXPECT_EQ(with({"--until", "fill=2"}), kExitUsage);  // Needs a cache size.
  EXPECT_EQ(with({"--until", "soon"}), kExitUsage);
  EXPECT_EQ(with({"--load", "rate=x"}), kExitUsage);
  EXPECT_EQ(with({"--load", "peak", "--warm-up", "requests=5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "polymix4", "--until", "requests=5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "polymix5"}), kExitUsage);
  EXPECT_EQ(with({"--phases", "file"}), kExitUsage);
  EXPECT_EQ(with({"--workload", "/nonexistent.toml"}), kExitUsage);
  EXPECT_EQ(with({"--threads", "0"}), kExitUsage);
  EXPECT_EQ(with({"--threads", "9"}), kExitUsage);  // More than robots.
  EXPECT_EQ(with({"--proxy-kind", "socks"}), kExitUsage);
  EXPECT_EQ(with({"--time-scale", "0"}), kExitUsage);
  EXPECT_EQ(with({"--time-scale", "nan"}), kExitUsage);
  EXPECT_EQ(with({"--cache-size", "big"}), kExitUsage);
  EXPECT_EQ(with({"--timeout", "0"}), kExitUsage);
  EXPECT_EQ(with({"--verify", "md5"}), kExitUsage);
  EXPECT_EQ(with({"--source-addresses", "0"}), kExitUsage);
  EXPECT_EQ(with({"--unknown"}), kExitUsage);
  EXPECT_EQ(with({"stray"}), kExitUsage);
}

TEST(LoadCommand, WritesItsFilesAndTellsSuccessFromFailure) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(run_load_command({"--origin", address, "--until", "requests=50", "--load",
                              "best-effort=2", "--out", (folder / "good").string()}),
            kExitSuccess);
  for (const char* name : {"run.json", "trace.csv", "latency.hlog"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "good" / name)) << name;
  }
  ScriptedServer broken([](const ScriptedRequest&) {
    return ScriptedReply{"HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"};
  });
  EXPECT_EQ(run_load_command({"--origin", "127.0.0.1:" + std::to_string(broken.port()), "--until",
                              "requests=5", "--out", (folder / "bad").string()}),
            kExitFailed);
  EXPECT_TRUE(std::filesystem::exists(folder / "bad" / "run.json"));
}

}  // namespace
}  // namespace workload
