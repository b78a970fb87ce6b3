#include "workload/measure/interval_log.h"

#include <gtest/gtest.h>

#include <sstream>

#include "storage/base/random.h"
#include "tests/support/effort.h"
#include "tests/support/seed.h"

namespace workload {
namespace {

// What HdrHistogram for Java 2.1.11 makes of the values of golden_values().
constexpr std::string_view kGolden =
    "HISTFAAAAL54nC2MsUpCYRiGv/Of5+j3/QgNTkG7F+HgHeQFdC0Ngg1REpIO2tBwBhORpoYIQRERh5A4"
    "gzg4NDgXSFNIcfQ8ywvPC89Z/b4oIk9yJMw2EDlvNasile/M5BBCIowTTilR5oLrgGXAq2MVMsVd0lNq"
    "+ZxbOwbGrzLx3ChXni+lb+yNkTL0vCiJ8Wap//Bs3bhbaEfp/6c8GHeeZyX2zJS58W58KotDbGc0jKbx"
    "6ImVjidRRsbG+LkN3D+kLi2K";

Histogram golden_values() {
  Histogram histogram;
  histogram.record(1);
  histogram.record(1000);
  histogram.record(2047, 3);
  histogram.record(2048);
  histogram.record(1'234'567, 100'000);
  histogram.record(3'600'000'000'000);
  for (uint64_t value = 1; value < 10'000'000'000; value = value * 3 / 2 + 1) {
    histogram.record(value, 2);
  }
  return histogram;
}

Histogram decoded(std::string_view text) {
  auto histogram = decode_histogram(text);
  if (const auto* reason = std::get_if<std::string>(&histogram)) ADD_FAILURE() << *reason;
  return std::get<Histogram>(histogram);
}

bool refuses(std::string_view text) {
  return std::holds_alternative<std::string>(decode_histogram(text));
}

TEST(IntervalLog, ReadsWhatThePublicLibraryWrites) {
  const Histogram histogram = decoded(kGolden);
  EXPECT_EQ(histogram, golden_values());
  EXPECT_EQ(histogram.count(), 100'117U);
  EXPECT_EQ(histogram.percentile_ns(50), 1'234'943U);
  EXPECT_EQ(histogram.percentile_ns(100), 3'601'330'077'695U);
  EXPECT_NEAR(*histogram.mean_ns(), 3.76641750070917e7, 1e3);
}

TEST(IntervalLog, HistogramsComeBackEqual) {
  const uint64_t seed = testing_support::test_seed(3);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random random(seed);
  EXPECT_EQ(decoded(encode_histogram(Histogram())), Histogram());
  EXPECT_EQ(decoded(encode_histogram(golden_values())), golden_values());
  for (int round = 0; round < 50; ++round) {
    Histogram histogram;
    for (uint64_t i = random.below(1000); i > 0; --i) {
      histogram.record(random.below(1ULL << random.below(45)), 1ULL << random.below(50));
    }
    histogram.record(Histogram::kHighestNs, random.below(2));
    ASSERT_EQ(decoded(encode_histogram(histogram)), histogram);
  }
}

TEST(IntervalLog, RefusesDamagedHistograms) {
  const std::string right = encode_histogram(golden_values());
  EXPECT_TRUE(refuses(""));
  EXPECT_TRUE(refuses("not base64 at all!"));
  EXPECT_TRUE(refuses("AAAA"));
  EXPECT_TRUE(refuses(std::string(2 << 20, 'A')));
  for (size_t size = 0; size < right.size(); ++size) {
    EXPECT_TRUE(refuses(right.substr(0, size))) << size;
  }
}

TEST(IntervalLog, SurvivesAnyBitThatFlips) {
  const std::string right = encode_histogram(golden_values());
  for (size_t at = 0; at < right.size(); at += testing_support::effort(1, 5)) {
    for (char bit : {1, 2, 4, 8, 16, 32, 64}) {
      std::string damaged = right;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      decode_histogram(damaged);  // A reason or some histogram: no crash, no endless loop.
    }
  }
}

TEST(IntervalLog, LogsComeBackEqual) {
  std::stringstream text;
  const storage::WallTime start{std::chrono::milliseconds(1'700'000'000'250)};
  IntervalLogWriter writer(text, start);
  writer.write("", 0, 1, golden_values());
  Histogram one;
  one.record(2'500'000);
  writer.write("hit", 1, 0.5, one);
  auto read = read_interval_log(text);
  ASSERT_TRUE(std::holds_alternative<IntervalLog>(read)) << std::get<std::string>(read);
  const IntervalLog& log = std::get<IntervalLog>(read);
  EXPECT_NEAR(log.start_unix_s, 1'700'000'000.25, 1e-3);
  ASSERT_EQ(log.intervals.size(), 2U);
  EXPECT_EQ(log.intervals[0].tag, "");
  EXPECT_EQ(log.intervals[0].histogram, golden_values());
  EXPECT_EQ(log.intervals[1].tag, "hit");
  EXPECT_NEAR(log.intervals[1].start_s, 1, 1e-3);
  EXPECT_NEAR(log.intervals[1].length_s, 0.5, 1e-3);
  EXPECT_EQ(log.intervals[1].histogram, one);
}

TEST(IntervalLog, UnderstandsAbsoluteTimestampsAndLogsWithoutAHeader) {
  const std::string histogram = encode_histogram(golden_values());
  std::istringstream absolute(
      "#[StartTime: 1700000000.500 (seconds since epoch)]\n1700000002.500,1,0," + histogram +
      "\r\n");
  auto read = read_interval_log(absolute);
  ASSERT_TRUE(std::holds_alternative<IntervalLog>(read)) << std::get<std::string>(read);
  EXPECT_NEAR(std::get<IntervalLog>(read).intervals.at(0).start_s, 2, 1e-6);
  std::istringstream relative("#[StartTime: 1700000000.500 (seconds since epoch)]\n2.5,1,0," +
                              histogram + "\n");
  read = read_interval_log(relative);
  EXPECT_NEAR(std::get<IntervalLog>(read).intervals.at(0).start_s, 2.5, 1e-6);
  std::istringstream bare("3.5,1,0," + histogram + "\n");
  read = read_interval_log(bare);
  EXPECT_NEAR(std::get<IntervalLog>(read).intervals.at(0).start_s, 3.5, 1e-6);
}

TEST(IntervalLog, NamesTheLineThatIsWrong) {
  for (const char* line : {"Tag=hit", "0,1", "x,1,1,AAAA", "0,-1,1,AAAA", "0,nan,1,AAAA",
                           "0,1,1,AAAA", "Tag=hit,0,1,1,"}) {
    std::istringstream text(std::string("#[comment]\n\n") + line + "\n");
    const auto read = read_interval_log(text);
    ASSERT_TRUE(std::holds_alternative<std::string>(read)) << line;
    EXPECT_TRUE(std::get<std::string>(read).starts_with("line 3: ")) << std::get<std::string>(read);
  }
}

}  // namespace
}  // namespace workload
