#include "workload/measure/run_result.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/temp_dir.h"
#include "workload/measure/interval_log.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TransactionRecord record_of(Outcome outcome, uint64_t time_ns, ErrorKind error = ErrorKind::kNone) {
  TransactionRecord record;
  record.outcome = outcome;
  record.response_time_ns = time_ns;
  record.body_bytes = 1000;
  record.received_bytes = 1300;
  record.error = error;
  return record;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(RunResult, ARunOfNothingHasNullsAndAllErrorKinds) {
  const std::string text = boost::json::serialize(run_to_json(RunResult()));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const boost::json::object json = boost::json::parse(text).as_object();
  for (const char* key : {"throughput_rps", "hit_ratio_percent", "byte_hit_ratio_percent",
                          "offered_hit_ratio_percent", "ideal_hit_ratio_percent", "steady"}) {
    EXPECT_TRUE(json.at(key).is_null()) << key;
  }
  for (const char* key : {"mean", "p50", "p90", "p95", "p99", "p999", "p9999", "max"}) {
    EXPECT_TRUE(json.at("response_time_ms").at(key).is_null()) << key;
    EXPECT_TRUE(json.at("miss_response_time_ms").at(key).is_null()) << key;
  }
  for (const char* kind : {"connect", "refused", "reset", "timeout", "truncated", "wrong_body",
                           "stale", "wrong_status", "protocol"}) {
    EXPECT_EQ(json.at("errors").at(kind).to_number<uint64_t>(), 0U) << kind;
  }
  const std::string table = run_to_table(RunResult());
  EXPECT_EQ(table.find("nan"), std::string::npos);
  EXPECT_NE(table.find("hit ratio       -"), std::string::npos) << table;
}

TEST(RunResult, TheTableSaysWrongBodiesAlsoWhereThereAreNone) {
  RunResult result;
  EXPECT_NE(run_to_table(result).find("\nwrong bodies    0\n"), std::string::npos);
  result.total.errors[static_cast<size_t>(ErrorKind::kWrongBody) - 1] = 3;
  EXPECT_NE(run_to_table(result).find("\nwrong bodies    3\n"), std::string::npos);
  // Those of a phase that is not measured count too.
  PhaseResult warm_up;
  warm_up.total.errors[static_cast<size_t>(ErrorKind::kWrongBody) - 1] = 5;
  result.phases.push_back(warm_up);
  EXPECT_NE(run_to_table(result).find("\nwrong bodies    5\n"), std::string::npos);
}

TEST(RunResult, AHitRatioAboveTheIdealIsExplained) {
  RunResult result;
  result.total.basic = 100;
  result.total.basic_hits = 60;
  result.ideal_hit_ratio_percent = 55;
  EXPECT_NE(run_to_table(result).find("  above ideal   "), std::string::npos)
      << run_to_table(result);
  result.ideal_hit_ratio_percent = 65;
  EXPECT_EQ(run_to_table(result).find("above ideal"), std::string::npos);
}

TEST(RunResult, RatesCountOnlyWhatTheyName) {
  RunResult result;
  result.duration = seconds(2);
  result.total.offered = 100;
  result.total.sent = 90;
  result.total.completed = 80;
  result.total.good = 70;
  const boost::json::object json = run_to_json(result);
  EXPECT_EQ(json.at("offered_rps").as_double(), 50);
  EXPECT_EQ(json.at("sent_rps").as_double(), 45);
  EXPECT_EQ(json.at("completed_rps").as_double(), 40);
  EXPECT_EQ(json.at("throughput_rps").as_double(), 35);
  EXPECT_EQ(json.at("unfinished").to_number<uint64_t>(), 10U);
}

TEST(RunRecorder, IntervalsOfAllKindsAddUpToTheRun) {
  RunRecorder one{milliseconds(100)};
  RunRecorder two{milliseconds(100)};
  for (uint64_t i = 0; i < 1000; ++i) {
    const auto outcome = i % 3 == 0   ? Outcome::kHit
                         : i % 3 == 1 ? Outcome::kMiss
                                      : Outcome::kValidated;
    const auto error = i % 50 == 0 ? ErrorKind::kTimeout : ErrorKind::kNone;
    (i % 2 == 0 ? one : two).record(record_of(outcome, 1000 * i, error), 200, milliseconds(i));
  }
  one.merge(two);
  EXPECT_EQ(one.series.total(), one.total);
  EXPECT_EQ(one.total.completed, 1000U);
  EXPECT_EQ(one.total.good, 980U);
  EXPECT_EQ(one.response_time.count(), 980U);
  EXPECT_EQ(one.responses_by_status.at(200), 1000U);
  Histogram both = one.hit_response_time;
  both.merge(one.miss_response_time);
  EXPECT_EQ(both, one.response_time);
  std::stringstream text;
  one.latency.write(text, storage::WallTime(), seconds(1));
  auto read = read_interval_log(text);
  ASSERT_TRUE(std::holds_alternative<IntervalLog>(read)) << std::get<std::string>(read);
  Histogram all;
  Histogram hits;
  size_t rows = 0;
  for (const LogInterval& interval : std::get<IntervalLog>(read).intervals) {
    if (interval.tag.empty()) {
      all.merge(interval.histogram);
      ++rows;
    }
    if (interval.tag == "hit") hits.merge(interval.histogram);
  }
  EXPECT_EQ(rows, 10U);
  EXPECT_EQ(all, one.response_time);
  EXPECT_EQ(hits, one.hit_response_time);
}

TEST(RunResult, SteadinessIsSaidOnlyWhereThereAreSamples) {
  RunRecorder few{seconds(1)};
  few.record(record_of(Outcome::kHit, 1000), 200, seconds(1));
  few.series.finish(seconds(5));
  RunResult result;
  take_measurements(result, few);
  EXPECT_FALSE(result.steady);

  RunRecorder rising{seconds(1)};
  for (int second = 0; second < 20; ++second) {
    for (int i = 0; i < 10 * (second + 1); ++i) {
      rising.record(record_of(Outcome::kHit, 1000), 200, seconds(second));
    }
  }
  rising.series.finish(seconds(20));
  take_measurements(result, rising);
  EXPECT_EQ(result.steady, false);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings.front().find("not steady"), std::string::npos);
}

TEST(RunResult, ThePrimaryPhasesMakeTheFigures) {
  Series series{seconds(1)};
  std::vector<PhaseResult> phases(3);
  for (size_t index = 0; index < 3; ++index) {
    PhaseResult& phase = phases[index];
    phase.name = "p" + std::to_string(index);
    phase.primary = index != 1;
    phase.start = seconds(20 * index);
    phase.duration = seconds(20);
    for (int second = 0; second < 20; ++second) {
      // The middle phase is another thing altogether.
      const int count = index == 1 ? 100 : 10;
      for (int each = 0; each < count; ++each) {
        const auto record = record_of(Outcome::kHit, 1'000'000 * (index + 1));
        phase.record(record, 200);
        series.at(phase.start + seconds(second)).add(record);
      }
    }
  }
  series.finish(seconds(60));
  RunResult result;
  take_phases(result, phases, series);
  EXPECT_EQ(result.total.good, 400U);
  EXPECT_EQ(result.duration, seconds(40));
  EXPECT_EQ(result.steady, true);
  const boost::json::object json = run_to_json(result);
  EXPECT_EQ(json.at("throughput_rps").as_double(), 10);
  EXPECT_NEAR(json.at("response_time_ms").at("mean").as_double(), 2, 0.01);
  ASSERT_EQ(json.at("phases").as_array().size(), 3U);
  const auto& middle = json.at("phases").at(1);
  EXPECT_EQ(middle.at("name").as_string(), "p1");
  EXPECT_EQ(middle.at("throughput_rps").as_double(), 100);
  EXPECT_EQ(middle.at("primary").as_bool(), false);
}

TEST(RunResult, SaysWhatWasOfferedAndNeverSent) {
  RunResult result;
  result.duration = seconds(1);
  result.total.offered = 100;
  result.total.sent = 80;
  result.total.not_sent = {10, 4, 3};
  const boost::json::object json = run_to_json(result);
  EXPECT_EQ(json.at("not_sent").at("queue_full").to_number<uint64_t>(), 10U);
  EXPECT_EQ(json.at("not_sent").at("waited_out").to_number<uint64_t>(), 4U);
  EXPECT_EQ(json.at("not_sent").at("page_failed").to_number<uint64_t>(), 3U);
  EXPECT_EQ(json.at("not_sent").at("waiting_at_end").to_number<uint64_t>(), 3U);
  EXPECT_NE(run_to_table(result).find("never sent      17"), std::string::npos);
}

TEST(RunResult, WritesItsFilesOrSaysWhichItCould) {
  const testing_support::TempDir folder;
  RunRecorder recorder{seconds(1)};
  recorder.record(record_of(Outcome::kMiss, 5'000'000), 200, milliseconds(100));
  recorder.series.finish(milliseconds(500));
  RunResult result;
  result.duration = milliseconds(500);
  take_measurements(result, recorder);
  const auto failed =
      write_run_files(folder / "a/b", result, recorder, storage::WallTime(), {{"extra_key", 7}});
  ASSERT_FALSE(failed) << *failed;
  const auto json = boost::json::parse(content_of(folder / "a/b/run.json"));
  EXPECT_EQ(json.at("extra_key").to_number<int>(), 7);
  EXPECT_EQ(json.at("throughput_rps").as_double(), 2);
  EXPECT_TRUE(content_of(folder / "a/b/trace.csv").starts_with(kTraceHeader));
  EXPECT_TRUE(content_of(folder / "a/b/latency.hlog").starts_with("#["));
  std::ofstream(folder / "file") << "x";
  const auto reason = write_run_files(folder / "file", result, recorder, storage::WallTime());
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("file"), std::string::npos);
}

}  // namespace
}  // namespace workload
