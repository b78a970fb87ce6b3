// Two experiments that were really run, the second with a proxy that is slowed down on purpose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace testing_support {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CompareTest : public testing::Test {
 protected:
  std::string folder(const std::string& name) const { return place_ / name; }

  json::object bench(const std::string& name, const std::string& cache_size,
                     std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--scheme",
                                     "memory",
                                     "--cache-size",
                                     cache_size,
                                     "--workload",
                                     "simple",
                                     "--repeat",
                                     "1",
                                     "--out",
                                     folder(name)};
    command.insert(command.end(), more.begin(), more.end());
    const auto ended = run_command(command);
    EXPECT_EQ(ended.exit_status, 0) << ended.out << ended.err;
    const auto results = content(place_ / name / "results.json");
    return results.empty() ? json::object{} : json::parse(results).as_object();
  }

  TempDir place_;
};

TEST_F(CompareTest, ASlowedProxySaysSoAndIsComparedWithAnother) {
  std::ofstream(place_ / "slow.toml") << "[proxy-options]\ntest-delay = \"30us\"\n";
  const auto plain = bench("plain", "16M", {"--until", "requests=300"});
  const auto slow = bench("slow", "16M", {"--until", "requests=300", folder("slow.toml")});
  EXPECT_EQ(plain.at("work"), slow.at("work"));
  EXPECT_THAT(std::string(slow.at("work").at("workload_digest").as_string()),
              HasSubstr("xxh3-128:"));
  EXPECT_FALSE(plain.at("environment").at("operating_system").as_string().empty());
  const auto& run = slow.at("cells").at(0).at("runs").at(0);
  EXPECT_THAT(json::serialize(run.at("warnings")), HasSubstr("--test-delay 30"));
  EXPECT_THAT(content(place_ / "slow/cells/memory/runs/1/proxy.log"), HasSubstr("--test-delay"));

  const auto compared =
      run_command({program_path("cacheoff"), "compare", folder("plain"), folder("slow")});
  EXPECT_EQ(compared.exit_status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("not told apart: too few runs (1 of 6 needed)"));
  EXPECT_THAT(compared.out, HasSubstr("* proxy-options"));
  EXPECT_THAT(compared.out, HasSubstr("{\"test-delay\":\"30us\"}"));
}

TEST_F(CompareTest, OtherWorkIsRefused) {
  bench("short", "16M", {"--until", "requests=100"});
  bench("long", "32M", {"--until", "requests=200"});
  const auto compared =
      run_command({program_path("cacheoff"), "compare", folder("short"), folder("long")});
  EXPECT_EQ(compared.exit_status, 1);
  EXPECT_THAT(compared.err, HasSubstr("until: A has requests=100, B has requests=200"));
  EXPECT_THAT(compared.err, HasSubstr("cache-size of memory: A has 16.0 MiB (16777216 bytes)"));
}

}  // namespace
}  // namespace testing_support
