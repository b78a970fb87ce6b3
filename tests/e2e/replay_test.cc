// A whole access log through the proxy: every line accounted for, every body right, and the hit
// ratio that a plain count over the file gives.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "tests/support/stack.h"

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

struct Replayed {
  json::object run;
  json::object lines;
};

Replayed replay(const fs::path& trace) {
  std::string pattern = (fs::temp_directory_path() / "cacheoff-replay-XXXXXX").string();
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  const auto result =
      testing_support::run_command({testing_support::program_path("cacheoff"), "replay",
                                    trace.string(), "--out", pattern + "/o"},
                                   std::chrono::minutes(5));
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  Replayed replayed{
      json::parse(testing_support::read_file(pattern + "/o/run.json")).as_object(),
      json::parse(testing_support::read_file(pattern + "/o/replay.json")).as_object()};
  fs::remove_all(pattern);
  return replayed;
}

void expect_sound(const Replayed& replayed) {
  EXPECT_EQ(replayed.run.at("wrong_bodies").to_number<uint64_t>(), 0U);
  for (const auto& [kind, count] : replayed.run.at("errors").as_object()) {
    EXPECT_EQ(count.to_number<uint64_t>(), 0U) << kind;
  }
  uint64_t skipped = 0;
  for (const auto& [reason, count] : replayed.lines.at("skipped").as_object()) {
    skipped += count.to_number<uint64_t>();
  }
  EXPECT_EQ(replayed.lines.at("lines").to_number<uint64_t>(),
            replayed.lines.at("used").to_number<uint64_t>() + skipped);
  EXPECT_EQ(replayed.run.at("requests").to_number<uint64_t>(),
            replayed.lines.at("used").to_number<uint64_t>());
  EXPECT_NEAR(replayed.run.at("hit_ratio_percent").to_number<double>(),
              replayed.run.at("ideal_hit_ratio_percent").to_number<double>(), 1e-9);
}

TEST(Replay, SamplesOfEveryQuirkAreAccountedFor) {
  for (const auto& entry :
       fs::directory_iterator(fs::path(CACHEOFF_SOURCE_DIR) / "traces/samples")) {
    if (entry.path().extension() != ".log") continue;
    SCOPED_TRACE(entry.path().filename().string());
    expect_sound(replay(entry.path()));
  }
}

/// Counted by hand with awk: GET lines with status 200 and no `error:` URL, and the distinct URLs
/// among them.
TEST(Replay, SquidBrowsingGivesThePlainCount) {
  const fs::path trace = fs::path(CACHEOFF_SOURCE_DIR) / "../shared/traces/squid-browsing.log";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is not there";
  const auto replayed = replay(trace);
  expect_sound(replayed);
  EXPECT_EQ(replayed.lines.at("lines").to_number<uint64_t>(), 1247U);
  const auto count = testing_support::run_command(
      {"sh", "-c",
       "awk '$6 == \"GET\" {n++; if (seen[$7]++) h++} END {printf \"%.6f\", 100 * h / n}' " +
           trace.string()});
  EXPECT_NEAR(replayed.run.at("hit_ratio_percent").to_number<double>(), std::stod(count.out),
              0.001);
}

TEST(Replay, ChangingSizesAreAccountedFor) {
  const fs::path trace =
      fs::path(CACHEOFF_SOURCE_DIR) / "../shared/traces/combined-changing-sizes.log";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is not there";
  const auto replayed = replay(trace);
  expect_sound(replayed);
  EXPECT_GT(replayed.run.at("requests").to_number<uint64_t>(), 3000U);
}

}  // namespace
