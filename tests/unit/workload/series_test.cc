#include "workload/measure/series.h"

#include <gtest/gtest.h>

#include <sstream>

#include "storage/base/random.h"
#include "tests/support/seed.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TransactionRecord good_record(Outcome outcome, uint64_t time_ns, uint64_t body_bytes) {
  TransactionRecord record;
  record.outcome = outcome;
  record.response_time_ns = time_ns;
  record.body_bytes = body_bytes;
  record.received_bytes = body_bytes + 300;
  record.fill = outcome == Outcome::kMiss;
  return record;
}

TransactionRecord bad_record(ErrorKind error) {
  TransactionRecord record = good_record(Outcome::kHit, 1, 1000);
  record.error = error;
  return record;
}

TEST(Tally, SaysNothingOfNothing) {
  const Tally tally;
  EXPECT_FALSE(tally.response_time_ms());
  EXPECT_FALSE(tally.hit_ratio_percent());
  EXPECT_FALSE(tally.byte_hit_ratio_percent());
  EXPECT_FALSE(tally.offered_hit_ratio_percent());
  EXPECT_FALSE(percent_of(0, 0));
}

TEST(Tally, ErrorsAreNeitherGoodNorInResponseTimes) {
  Tally tally;
  tally.add(good_record(Outcome::kMiss, 4'000'000, 100));
  const Tally before = tally;
  tally.add(bad_record(ErrorKind::kTimeout));
  tally.add(bad_record(ErrorKind::kWrongBody));
  EXPECT_EQ(tally.completed, 3U);
  EXPECT_EQ(tally.good, 1U);
  EXPECT_EQ(tally.error_count(), 2U);
  EXPECT_EQ(tally.errors_of(ErrorKind::kTimeout), 1U);
  EXPECT_EQ(tally.errors_of(ErrorKind::kWrongBody), 1U);
  EXPECT_EQ(tally.response_time_ms(), before.response_time_ms());
  EXPECT_EQ(tally.hit_ratio_percent(), 0.0);
  EXPECT_EQ(tally.fill_bytes, before.fill_bytes);
}

TEST(Tally, HitRatioIsOverBasicRequests) {
  Tally tally;
  tally.add(good_record(Outcome::kHit, 1'000'000, 100));
  tally.add(good_record(Outcome::kValidated, 1'000'000, 100));
  tally.add(good_record(Outcome::kMiss, 4'000'000, 200));
  TransactionRecord reload = good_record(Outcome::kHit, 1'000'000, 600);
  reload.basic = false;
  reload.reload = true;
  tally.add(reload);
  EXPECT_NEAR(*tally.hit_ratio_percent(), 200.0 / 3, 1e-9);
  EXPECT_NEAR(*tally.byte_hit_ratio_percent(), 50, 1e-9);
  EXPECT_NEAR(*tally.hit_ratio_all_percent(), 75, 1e-9);
  EXPECT_EQ(tally.reload_hits, 1U);
  EXPECT_EQ(tally.fill_bytes, 500U);
  EXPECT_NEAR(*tally.hit_response_time_ms(), 1, 1e-9);
  EXPECT_NEAR(*tally.miss_response_time_ms(), 4, 1e-9);
}

TEST(Tally, WhatWasBrokenOffOnPurposeCountsApart) {
  Tally tally;
  TransactionRecord aborted = good_record(Outcome::kHit, 1'000'000, 100);
  aborted.ending = Ending::kAborted;
  TransactionRecord cut = good_record(Outcome::kMiss, 1'000'000, 100);
  cut.ending = Ending::kCut;
  TransactionRecord shared_cut = good_record(Outcome::kHit, 1'000'000, 100);
  shared_cut.ending = Ending::kCut;
  shared_cut.shared = true;
  for (const auto& record : {aborted, cut, shared_cut}) tally.add(record);
  EXPECT_EQ(tally.completed, 3U);
  EXPECT_EQ(tally.good, 0U);
  EXPECT_EQ(tally.basic, 0U);
  EXPECT_EQ(tally.aborted, 1U);
  EXPECT_EQ(tally.aborted_hits, 1U);
  EXPECT_EQ(tally.cut, 2U);
  EXPECT_EQ(tally.cut_shared, 1U);
  EXPECT_EQ(tally.error_count(), 0U);
  EXPECT_EQ(tally.fill_bytes, 0U);
  EXPECT_FALSE(tally.response_time_ms());
}

TEST(Tally, TellsStoredHitsFromValidatedAndSharedOnes) {
  Tally tally;
  tally.add(good_record(Outcome::kHit, 1, 100));
  tally.add(good_record(Outcome::kValidated, 1, 100));
  TransactionRecord shared = good_record(Outcome::kHit, 1, 100);
  shared.shared = true;
  tally.add(shared);
  TransactionRecord miss = good_record(Outcome::kMiss, 1, 100);
  miss.ideal_hit = miss.offered_hit = true;
  tally.add(miss);
  TransactionRecord range = good_record(Outcome::kHit, 1, 10);
  range.basic = false;
  range.range = range.answered_whole = true;
  tally.add(range);
  EXPECT_EQ(*tally.hit_ratio_percent(), 75);
  EXPECT_EQ(*tally.stored_hit_ratio_percent(), 25);
  EXPECT_EQ(*tally.attainable_hit_ratio_percent(), 25);
  EXPECT_EQ(*tally.attainable_byte_hit_ratio_percent(), 25);
  EXPECT_EQ(*tally.range_hit_ratio_percent(), 100);
  EXPECT_EQ(tally.validated_hits, 1U);
  EXPECT_EQ(tally.shared_hits, 1U);
  EXPECT_EQ(tally.ranges_whole, 1U);
  Tally twice = tally;
  twice.merge(tally);
  EXPECT_EQ(twice.basic, 2 * tally.basic);
  EXPECT_EQ(*twice.stored_hit_ratio_percent(), 25);
  EXPECT_EQ(twice.ideal_hits, 2U);
}

TEST(Series, IntervalsAddUpToTheRunWhereverTheBoundariesLie) {
  const uint64_t seed = testing_support::test_seed(5);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random random(seed);
  for (int round = 0; round < 20; ++round) {
    Series series{milliseconds(1 + random.below(2000))};
    Series other{series.interval()};
    Tally total;
    for (int i = 0; i < 2000; ++i) {
      const auto at = milliseconds(random.below(10'000));
      const bool bad = random.below(10) == 0;
      const auto error = static_cast<ErrorKind>(1 + random.below(kErrorKindCount));
      const auto outcome = random.below(2) == 0 ? Outcome::kHit : Outcome::kMiss;
      const TransactionRecord record =
          bad ? bad_record(error)
              : good_record(outcome, random.below(1'000'000), random.below(100'000));
      (i % 2 == 0 ? series : other).at(at).add(record);
      total.add(record);
    }
    series.merge(other);
    series.finish(seconds(10));
    ASSERT_EQ(series.total(), total);
    ASSERT_EQ(series.end_of(series.size() - 1), seconds(10));
  }
}

TEST(Series, EmptyIntervalsHaveRowsAndTheLastMayBeShort) {
  Series series{seconds(1)};
  series.at(milliseconds(100)).good = 1;
  series.finish(milliseconds(3250));
  ASSERT_EQ(series.size(), 4U);
  EXPECT_EQ(series.row(2), Tally());
  EXPECT_EQ(series.length_of(2), seconds(1));
  EXPECT_EQ(series.length_of(3), milliseconds(250));
  Series exact{seconds(1)};
  exact.finish(seconds(2));
  EXPECT_EQ(exact.size(), 2U);
}

TEST(Series, TraceRowsAreIntervalsAndRatesUseTheirLength) {
  Series series{seconds(1)};
  for (int i = 0; i < 10; ++i) {
    series.at(milliseconds(200)).add(good_record(Outcome::kMiss, 2'000'000, 700));
  }
  series.at(milliseconds(2100)).add(good_record(Outcome::kHit, 1'000'000, 700));
  series.at(milliseconds(2100)).add(bad_record(ErrorKind::kReset));
  series.finish(milliseconds(2500));
  std::stringstream text;
  write_trace_csv(text, series, 20'000);
  auto read = read_trace_csv(text);
  ASSERT_TRUE((std::holds_alternative<std::vector<TraceRow>>(read))) << std::get<std::string>(read);
  const auto& rows = std::get<std::vector<TraceRow>>(read);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].throughput_rps, 10);
  EXPECT_EQ(rows[0].fill_ratio, 0.5);
  EXPECT_EQ(rows[0].hit_ratio_percent, 0.0);
  EXPECT_FALSE(rows[0].hit_response_time_ms);
  EXPECT_EQ(rows[1].throughput_rps, 0);
  EXPECT_FALSE(rows[1].response_time_ms);
  EXPECT_FALSE(rows[1].hit_ratio_percent);
  EXPECT_EQ(rows[2].elapsed_s, 2.5);
  EXPECT_EQ(rows[2].throughput_rps, 2);
  EXPECT_EQ(rows[2].hit_response_time_ms, 1.0);
  EXPECT_EQ(rows[2].errors, 1U);
}

TEST(Series, TraceWithoutACacheSizeHasNoFillRatio) {
  Series series{seconds(1)};
  series.finish(seconds(1));
  std::ostringstream text;
  write_trace_csv(text, series, 0);
  std::string header;
  std::string row;
  std::istringstream lines(text.str());
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_EQ(header, kTraceHeader);
  EXPECT_EQ(row, "1.000000,,0.000000,0.000000,,,,,,0,,0,");
}

TEST(Series, RowsNameThePhaseInTheirMiddleAndWhatWasNeverSent) {
  Series series{seconds(1)};
  series.at(milliseconds(100)).sent = 2;
  series.at(milliseconds(100)).blocked_ns = 6'000'000;
  series.at(milliseconds(2100)).not_sent[static_cast<size_t>(NotSent::kQueueFull)] = 3;
  series.finish(seconds(3));
  std::stringstream text;
  write_trace_csv(text, series, 0,
                  {{"ramp", seconds(0)}, {"top", milliseconds(1400)}, {"end", milliseconds(2900)}});
  const auto rows = std::get<std::vector<TraceRow>>(read_trace_csv(text));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].phase, "ramp");
  EXPECT_EQ(rows[0].blocked_ms, 3.0);
  EXPECT_EQ(rows[1].phase, "top");
  EXPECT_EQ(rows[2].phase, "top");
  EXPECT_EQ(rows[2].not_sent, 3U);
}

TEST(Series, ReadsTheColumnsOfEarlierVersions) {
  std::stringstream in;
  in << std::string(kTraceHeader.substr(0, kTraceHeader.find(",blocked_ms")))
     << "\n1,0.1,10,12,1,1,1,50,50,2\n";
  const auto rows = std::get<std::vector<TraceRow>>(read_trace_csv(in));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].throughput_rps, 12);
  EXPECT_EQ(rows[0].errors, 2U);
  EXPECT_EQ(rows[0].phase, "");
}

TEST(Series, ReaderNamesLineAndColumn) {
  const auto reason = [](std::string_view header, std::string_view rows) {
    std::stringstream in;
    in << header << rows;
    const auto read = read_trace_csv(in);
    const auto* found = std::get_if<std::string>(&read);
    return found != nullptr ? *found : std::string();
  };
  EXPECT_TRUE(reason("elapsed\n", "").starts_with("line 1: "));
  EXPECT_EQ(reason(kTraceHeader, "\n1,2\n"), "line 2: not 13 fields");
  EXPECT_TRUE(reason(kTraceHeader, "\n1,,x,0,,,,,,0,,0,\n").starts_with("line 2: offered_rps"));
  EXPECT_TRUE(
      reason(kTraceHeader, "\n1,,1,nan,,,,,,0,,0,\n").starts_with("line 2: throughput_rps"));
  EXPECT_TRUE(reason(kTraceHeader, "\n1,,1,1,,,,,,-1,,0,\n").starts_with("line 2: errors"));
}

}  // namespace
}  // namespace workload
