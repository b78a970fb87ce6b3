// The proxy is killed in the middle of writes, again and again: each time the store opens, and not
// one wrong or short body is served.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <thread>

#include "storage/base/random.h"
#include "tests/support/stack.h"

namespace {

using testing_support::Stack;
using testing_support::StackOptions;
namespace json = boost::json;

/// A number from the environment, so that a long run needs no other build.
uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The robots, started against the stack; errors of connection are expected when the proxy dies,
/// so they go on, and only wrong bodies count.
std::vector<std::string> robots(const Stack& stack, const std::string& out, uint64_t seed,
                                const std::string& until) {
  return {testing_support::program_path("cacheoff"),
          "load",
          "--proxy",
          stack.proxy_address(),
          "--origin",
          stack.origin_address(),
          "--workload",
          "polymix4",
          "--load",
          "best-effort=12",
          "--until",
          until,
          "--seed",
          std::to_string(seed),
          "--time-scale",
          "1000",
          "--out",
          (stack.folder() / out).string()};
}

TEST(KilledProxy, TheStoreOpensAndServesNothingWrong) {
  const uint64_t rounds = from_environment("CACHEOFF_KILL_ROUNDS", 12);
  const uint64_t seed = from_environment("CACHEOFF_SEED", 20261130);
  storage::Random random(seed);
  SCOPED_TRACE("CACHEOFF_SEED=" + std::to_string(seed));
  Stack stack(
      StackOptions{{}, {"--cache-dir", "scheme=ufs,path={folder}/cache,size=64M,l1=4,l2=8"}});
  uint64_t recovered_objects = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    // The same seed each time, so that later rounds ask for what earlier ones stored.
    testing_support::Process load(robots(stack, "killed", 5, "duration=60s"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random.below(800)));
    stack.kill_proxy();
    load.terminate();
    const auto killed = json::parse(testing_support::read_file(stack.folder() / "killed/run.json"));
    EXPECT_EQ(killed.at("wrong_bodies").to_number<uint64_t>(), 0U);

    ASSERT_NO_THROW(stack.start_proxy());
    const auto result = testing_support::run_command(robots(stack, "after", 5, "requests=1500"));
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
    const auto run = json::parse(testing_support::read_file(stack.folder() / "after/run.json"));
    EXPECT_EQ(run.at("wrong_bodies").to_number<uint64_t>(), 0U);
    for (const auto& [kind, count] : run.at("errors").as_object()) {
      EXPECT_EQ(count.to_number<uint64_t>(), 0U) << kind;
    }
    recovered_objects += run.at("hits").to_number<uint64_t>();
  }
  EXPECT_GT(recovered_objects, 0U);
  EXPECT_EQ(stack.stop_proxy().exit_status, 0);
}

}  // namespace
