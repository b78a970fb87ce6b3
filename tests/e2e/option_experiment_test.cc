// An option experiment that is really run: of our own proxy, and of nginx where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/bench_leftovers.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/system/registry.h"

namespace testing_support {
namespace {

namespace json = boost::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OptionExperimentTest : public testing::Test {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(place_.path().c_str(), 0755);
    setenv("CACHEOFF_STATE_DIR", (place_ / "state").c_str(), 1);
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  std::string file(const std::string& text) const {
    const std::string path = place_ / "experiment.toml";
    std::ofstream(path) << text;
    return path;
  }

  std::string content(const std::string& name) const {
    std::ifstream in(place_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  ProcessResult bench(std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"), "bench"};
    command.insert(command.end(), more.begin(), more.end());
    return run_command(command);
  }

  std::string out() const { return place_ / "out"; }

  TempDir place_;
};

constexpr const char* kOwnProxy = R"(scheme = "memory"
cache-size = "16M"
workload = "simple"
until = "requests=200"
repeat = 2

[vary.proxy]
test-delay = ["0ms", "30us"]
)";

TEST_F(OptionExperimentTest, VariesAnOptionOfOurOwnProxyAndGoesOn) {
  const auto plan = bench({file(kOwnProxy), "--out", out(), "--dry-run"});
  ASSERT_EQ(plan.exit_status, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("cell memory: scheme=memory,size=16777216, the base\n"));
  EXPECT_THAT(plan.out, HasSubstr("variant test-delay=0ms (the same configuration as the base: "
                                  "`test-delay 0ms` is the default here)\n"));
  EXPECT_THAT(plan.out, HasSubstr("variant test-delay=30us\n"));
  EXPECT_THAT(plan.out, HasSubstr("6 runs"));

  const auto ended = bench({file(kOwnProxy), "--out", out()});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("effects of the options, each variant against its base"));
  EXPECT_THAT(ended.out, HasSubstr("the same configuration: `test-delay 0ms` is the default here"));
  EXPECT_THAT(ended.out, HasSubstr("not told apart: too few runs (2 of 6 needed)"));
  EXPECT_THAT(content("out/cells/memory-test-delay=30us/runs/1/commands.sh"),
              HasSubstr("--test-delay=30us"));
  EXPECT_THAT(content("out/cells/memory/runs/1/commands.sh"), Not(HasSubstr("--test-delay")));
  const auto about = json::parse(content("out/cells/memory-test-delay=30us/configuration.json"));
  EXPECT_EQ(about.at("variant"), "test-delay=30us");
  EXPECT_EQ(about.at("variant_of"), "memory");
  EXPECT_EQ(about.at("variant_options").at("test-delay"), "30us");
  const auto results = json::parse(content("out/results.json"));
  EXPECT_EQ(results.at("cells").at(0).at("variant"), "base");
  EXPECT_EQ(results.at("cells").at(2).at("variant"), "test-delay=30us");
  EXPECT_EQ(results.at("experiment").at("vary").at("proxy").at("test-delay").at(1), "30us");
  const auto effects = json::parse(content("out/effects.json"));
  EXPECT_EQ(effects.at("rows").at(0).at("outcome"), "same_configuration");
  EXPECT_EQ(effects.at("rows").at(0).at("figure"), "throughput_rps");
  EXPECT_TRUE(effects.at("rows").at(0).at("paired").as_bool());
  EXPECT_THAT(content("out/report.html"), HasSubstr("Effects of the options"));

  const auto more = bench({"--resume", "--out", out(), "--repeat", "3"});
  EXPECT_EQ(more.exit_status, 0) << more.err;
  EXPECT_THAT(more.out, HasSubstr("too few runs (3 of 6 needed)"));
  const auto drawn = run_command({program_path("cacheoff"), "report", out()});
  EXPECT_EQ(drawn.exit_status, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("effects of the options"));
  EXPECT_THAT(bench_leftovers(place_.path()), IsEmpty());
}

TEST_F(OptionExperimentTest, WhatCanNotBeVariedIsOneLineAndStatusTwo) {
  for (const auto& [text, problem] :
       {std::pair<const char*, const char*>{"[vary.proxy]\nlisten = \"x\"\n",
                                            "vary.proxy.listen: the bench sets it\n"},
        {"[vary.proxy]\ntest-delay = []\n", "vary.proxy.test-delay must list at least one"},
        {"[vary.proxy]\nno-such = 1\n", "vary.proxy.no-such: cacheoff-proxy has no such option"},
        {"[vary.apache]\na = 1\n", "vary.apache: no such system: 'apache'"}}) {
    const auto ended = bench({file(std::string("scheme = \"memory\"\n") + text), "--out", out()});
    EXPECT_EQ(ended.exit_status, 2) << text;
    EXPECT_THAT(ended.err, HasSubstr(problem));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
}

TEST_F(OptionExperimentTest, NginxSaysThatToNameEpollIsToSayNothing) {
  if (const auto reason = workload::why_no_system("nginx"); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto ended = bench({file(R"(scheme = "nginx"
filesystem = "here"
cache-size = "64M"
workload = "simple"
load = "best-effort=8"
until = "requests=300"
repeat = 1

[vary.nginx]
multi_accept = true

[[variant]]
name = "epoll named"
system = "nginx"
options = { use = "epoll" }
)"),
                            "--out", out()});
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("variant epoll named (the same configuration as the base: `use "
                                   "epoll` is the default here)"));
  const auto effects = json::parse(content("out/effects.json"));
  ASSERT_EQ(effects.at("same_configurations").as_array().size(), 1U);
  const auto& same = effects.at("same_configurations").at(0);
  EXPECT_EQ(same.at("first"), "base");
  EXPECT_EQ(same.at("second"), "epoll named");
  EXPECT_EQ(same.at("reason"), "`use epoll` is what it takes here by itself, as its log says");
  const auto results = json::parse(content("out/results.json"));
  EXPECT_EQ(results.at("cells").at(0).at("runs").at(0).at("system_said").at("events.use"), "epoll");
  EXPECT_THAT(content("out/cells/nginx-here-epoll-named/runs/1/nginx.conf"),
              HasSubstr("  use epoll;\n"));
  EXPECT_THAT(content("out/cells/nginx-here-multi-accept=on/runs/1/nginx.conf"),
              HasSubstr("  multi_accept on;\n"));
  EXPECT_THAT(bench_leftovers(place_.path()), IsEmpty());
}

}  // namespace
}  // namespace testing_support
