// One seed asks for the same, whatever the load and the number of threads.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/unit/workload/load_run_under_test.h"

namespace workload {
namespace {

using testing_support::TempDir;

/// The requests of a log in the order of intent: what was asked for, without when and by whom.
std::vector<std::string> intent_of(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::map<uint64_t, std::string> requests;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
    EXPECT_EQ(fields.size(), 14U) << line;
    if (fields.size() != 14) continue;
    requests[std::stoull(fields[11])] = fields[2] + ' ' + fields[3] + ' ' + fields[10];
  }
  std::vector<std::string> ordered;
  for (const auto& [sequence, request] : requests) {
    EXPECT_EQ(sequence, ordered.size());
    ordered.push_back(request);
  }
  return ordered;
}

TEST(RunIntent, OneSeedAsksForTheSameUnderEveryLoadAndNumberOfThreads) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  const auto intent = [&](LoadShape::Kind kind, uint64_t robots, int threads, uint64_t seed) {
    LoadOptions options = options_for(server.port(), robots, 400);
    options.workload = small_polymix();
    options.load.kind = kind;
    options.load.rate_rps = 4000;
    options.time_scale = 1000;
    options.threads = threads;
    options.seed = seed;
    options.request_log = folder / "log";
    EXPECT_EQ(run(options).failure, "");
    return intent_of(options.request_log);
  };
  const auto first = intent(LoadShape::Kind::kBestEffort, 1, 1, 5);
  EXPECT_EQ(first.size(), 400U);
  EXPECT_EQ(first, intent(LoadShape::Kind::kBestEffort, 7, 3, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRobots, 8, 2, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRate, 1, 1, 5));
  EXPECT_EQ(first, intent(LoadShape::Kind::kRate, 1, 3, 5));
  EXPECT_NE(first, intent(LoadShape::Kind::kRate, 1, 1, 6));
}

}  // namespace
}  // namespace workload
