// A proxy with several cache directories: all of them are used, counted and kept, and a kill in the
// middle of writes serves nothing wrong afterwards.
#include <gtest/gtest.h>

#include <unistd.h>

#include <boost/json.hpp>

#include "tests/support/stack.h"

namespace {

using testing_support::Stack;
using testing_support::StackOptions;
namespace json = boost::json;

class SeveralDirectories : public ::testing::TestWithParam<std::string> {
 protected:
  SeveralDirectories()
      : stack_(StackOptions{
            {},
            {"--cache-dir", "scheme=ufs,path={folder}/small,size=32M,l1=2,l2=4,max-size=8K",
             "--cache-dir", "scheme=ufs,path={folder}/any,size=32M,l1=2,l2=4,policy=heap-gdsf",
             "--cache-dir", "scheme=ufs,path={folder}/large,size=32M,l1=2,l2=4,min-size=8193",
             "--store-selection", GetParam()}}) {}

  std::vector<std::string> robots(const std::string& out, const std::string& until) const {
    const std::vector<std::string> command = {testing_support::program_path("cacheoff"),
                                              "load",
                                              "--proxy",
                                              stack_.proxy_address(),
                                              "--origin",
                                              stack_.origin_address(),
                                              "--workload",
                                              "polymix4",
                                              "--load",
                                              "best-effort=8",
                                              "--until",
                                              until,
                                              "--seed",
                                              "5",
                                              "--time-scale",
                                              "1000",
                                              "--out",
                                              (stack_.folder() / out).string()};
    return command;
  }
  json::value result_of(const std::string& out) const {
    return json::parse(testing_support::read_file(stack_.folder() / out / "run.json"));
  }
  uint64_t objects_in(const std::string& directory) const {
    uint64_t files = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(stack_.folder() / directory)) {
      const bool in_level_two =
          entry.path().parent_path().parent_path().parent_path() == stack_.folder() / directory;
      files += entry.is_regular_file() && in_level_two ? 1 : 0;
    }
    return files;
  }

  Stack stack_;
};

INSTANTIATE_TEST_SUITE_P(Selections, SeveralDirectories,
                         ::testing::Values("round-robin", "least-load"), [](const auto& instance) {
                           return std::string(instance.param == "round-robin" ? "RoundRobin"
                                                                              : "LeastLoad");
                         });

TEST_P(SeveralDirectories, AreAllUsedAndSurviveAKill) {
  const auto first = testing_support::run_command(robots("first", "requests=1500"));
  ASSERT_EQ(first.exit_status, 0) << first.out << first.err;
  for (const char* directory : {"small", "any", "large"}) EXPECT_GT(objects_in(directory), 10u);

  testing_support::Process load(robots("killed", "duration=60s"));
  // Once it writes, any moment will do.
  const uint64_t before = objects_in("any");
  for (int i = 0; i < 600 && objects_in("any") <= before; ++i) usleep(50'000);
  stack_.kill_proxy();
  load.terminate();
  EXPECT_EQ(result_of("killed").at("wrong_bodies").to_number<uint64_t>(), 0u);

  ASSERT_NO_THROW(stack_.start_proxy());
  const auto after = testing_support::run_command(robots("after", "requests=1500"));
  ASSERT_EQ(after.exit_status, 0) << after.out << after.err;
  const auto run = result_of("after");
  EXPECT_EQ(run.at("wrong_bodies").to_number<uint64_t>(), 0u);
  EXPECT_GT(run.at("hits").to_number<uint64_t>(), 0u);
  EXPECT_EQ(stack_.stop_proxy().exit_status, 0);
}

}  // namespace
