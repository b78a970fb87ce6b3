// The proxy is killed in the middle of writes, again and again, on every scheme that outlives its
// process: each time the store opens, and not one wrong or short body is served.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "storage/base/random.h"
#include "tests/support/peer.h"
#include "tests/support/stack.h"

namespace {

using testing_support::Peer;
using testing_support::Stack;
using testing_support::StackOptions;
namespace json = boost::json;

/// A number from the environment, so that a long run needs no other build.
uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct PersistentScheme {
  const char* name;
  const char* options;  ///< Besides scheme, path and size.
};

std::ostream& operator<<(std::ostream& out, const PersistentScheme& scheme) {
  return out << scheme.name;
}

/// What a store holds and does at one moment, by the proxy's own metrics.
struct StoreLevels {
  double objects = 0;
  double writers_open = 0;
};

double gauge_in(const std::string& page, const std::string& name) {
  const size_t at = page.find("\ncacheoff_storage_" + name + "{");
  if (at == std::string::npos) return 0;
  return std::strtod(page.c_str() + page.find("} ", at) + 2, nullptr);
}

StoreLevels levels_of(const Stack& stack) {
  Peer peer = Peer::connect(stack.admin_port());
  peer.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string page = peer.read_message().body;
  return {gauge_in(page, "objects"), gauge_in(page, "writers_open")};
}

class KilledProxy : public ::testing::TestWithParam<PersistentScheme> {
 protected:
  static std::string cache_dir() {
    const PersistentScheme& scheme = GetParam();
    return std::string("scheme=") + scheme.name + ",path={folder}/cache,size=64M" + scheme.options;
  }

  /// The robots, started against the stack; errors of connection are expected when the proxy dies,
  /// so only wrong bodies count then.
  std::vector<std::string> robots(const std::string& out, const std::string& until) const {
    return {testing_support::program_path("cacheoff"), "load", "--proxy", stack_.proxy_address(),
            "--origin", stack_.origin_address(), "--workload", "polymix4", "--load",
            "best-effort=12", "--until", until,
            // The same seed each time, so that later rounds ask for what earlier ones stored.
            "--seed", "5", "--time-scale", "1000", "--out", (stack_.folder() / out).string()};
  }

  json::value result_of(const std::string& out) const {
    return json::parse(testing_support::read_file(stack_.folder() / out / "run.json"));
  }

  /// Kills the proxy when it has objects half-written; what it held just before.
  StoreLevels kill_in_mid_write() {
    StoreLevels levels;
    for (int turn = 0; turn < 500; ++turn) {
      levels = levels_of(stack_);
      if (levels.writers_open > 0) break;
    }
    stack_.kill_proxy();
    return levels;
  }

  Stack stack_{StackOptions{{}, {"--cache-dir", cache_dir()}}};
};

TEST_P(KilledProxy, TheStoreOpensAndServesNothingWrong) {
  const uint64_t rounds = from_environment("CACHEOFF_KILL_ROUNDS", 5);
  const uint64_t seed = from_environment("CACHEOFF_SEED", 20261130);
  storage::Random random(seed);
  SCOPED_TRACE("CACHEOFF_SEED=" + std::to_string(seed));
  uint64_t hits = 0;
  double held = 0;
  double survived = 0;
  uint64_t kills_in_mid_write = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::string number = std::to_string(round);
    testing_support::Process load(robots("killed-" + number, "duration=60s"));
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + random.below(800)));
    const StoreLevels before = kill_in_mid_write();
    kills_in_mid_write += before.writers_open > 0 ? 1 : 0;
    load.terminate();
    EXPECT_EQ(result_of("killed-" + number).at("wrong_bodies").to_number<uint64_t>(), 0U);

    ASSERT_NO_THROW(stack_.start_proxy());
    held += before.objects;
    survived += std::min(levels_of(stack_).objects, before.objects);
    const auto result = testing_support::run_command(robots("after-" + number, "requests=1500"));
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
    const auto run = result_of("after-" + number);
    EXPECT_EQ(run.at("wrong_bodies").to_number<uint64_t>(), 0U);
    for (const auto& [kind, count] : run.at("errors").as_object()) {
      EXPECT_EQ(count.to_number<uint64_t>(), 0U) << kind;
    }
    hits += run.at("hits").to_number<uint64_t>();
  }
  EXPECT_GT(hits, 0U);
  EXPECT_EQ(stack_.stop_proxy().exit_status, 0);
  ASSERT_GT(held, 0);
  std::cout << GetParam().name << ": " << rounds << " kills, " << kills_in_mid_write
            << " of them with objects half-written; " << 100 * survived / held
            << " % of the objects held were there after the restart\n";
}

INSTANTIATE_TEST_SUITE_P(Schemes, KilledProxy,
                         ::testing::Values(PersistentScheme{"ufs", ",l1=4,l2=8"},
                                           PersistentScheme{"aufs", ",l1=4,l2=8"},
                                           PersistentScheme{"coss", ""}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
