// What `cacheoff ab` found, as a run of the bench.
#include "workload/experiment/ab_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <variant>

#include "tests/support/temp_dir.h"
#include "workload/ab/additions.h"
#include "workload/ab/options.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/static_options.h"
#include "workload/measure/interval_log.h"
#include "workload/measure/series.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::HasSubstr;

constexpr uint64_t kBodyBytes = 151;
constexpr const char* kXxh3 = "00000000000000ab";

/// A run of `requests` good requests over two seconds, as `cacheoff ab` would have measured it.
ab::Measurement good_measurement(uint64_t requests) {
  ab::Measurement run;
  run.tally.complete = run.tally.good = requests;
  run.tally.received_bytes = requests * (kBodyBytes + 100);
  run.tally.body_bytes = requests * kBodyBytes;
  run.tally.connections = 10;
  run.tally.by_class[2] = requests;
  for (uint64_t i = 0; i < requests; ++i) run.tally.good_times.record(1'000'000);
  run.duration_s = 2;
  run.threads = {{0.5, 0.1, 2}};
  run.first_body = ab::BodyDigest{kBodyBytes, 0xab};
  for (uint64_t i = 1; i <= 40; ++i) {
    // A little uneven, as no run is without noise.
    const uint64_t so_far = requests * i / 40 + (i % 3 == 2 ? 2 : 0);
    run.progress.push_back({0.05 * static_cast<double>(i), so_far, so_far});
  }
  return run;
}

boost::json::object json_of(const ab::Measurement& run) {
  const auto options = ab::parse_options({"-k", "-c", "10", "-n", "1000", "http://127.0.0.1:1/a"});
  EXPECT_TRUE(options);
  return ab::runs_to_json(*options, {&run, 1}, 0);
}

boost::json::object record_of(const ab::Measurement& run,
                              const ExpectedBody& expected = {kBodyBytes, kXxh3}) {
  auto record = ab_record(json_of(run), expected);
  EXPECT_TRUE(record) << record.error().text;
  return record ? std::move(*record) : boost::json::object();
}

/// Each request is good or one kind of error.
void expect_sum(const boost::json::object& record) {
  EXPECT_EQ(count_at(record, "good") + sum_at(record, "errors"), count_at(record, "completed"));
}

TEST(AbRecord, HasTheFiguresOfARunAndNoneOfACache) {
  const auto record = record_of(good_measurement(1000));
  EXPECT_EQ(number_at(record, "throughput_rps"), 500);
  EXPECT_EQ(count_at(record, "requests"), 1000U);
  EXPECT_EQ(count_at(record, "good"), 1000U);
  EXPECT_EQ(sum_at(record, "errors"), 0U);
  EXPECT_EQ(count_at(record, "wrong_bodies"), 0U);
  EXPECT_EQ(count_at(record, "bytes_received"), 251'000U);
  EXPECT_NEAR(number_at(record, "response_time_ms.p50").value_or(0), 1, 0.001);
  EXPECT_NEAR(number_at(record, "response_time_ms.mean").value_or(0), 1, 0.001);
  EXPECT_EQ(number_at(record, "generator.cpu_percent"), 25);
  EXPECT_EQ(text_at(record, "generator.limit"), "");
  EXPECT_TRUE(record.at("steady").as_bool());
  for (const char* key : {"hit_ratio_percent", "byte_hit_ratio_percent", "hits", "fill_bytes",
                          "cache_size_bytes", "responses_by_status", "hit_response_time_ms"}) {
    EXPECT_TRUE(record.at(key).is_null()) << key;
  }
  EXPECT_TRUE(record.at("generator").at("event_loop_lag_ms_max").is_null());
  EXPECT_EQ(text_at(record, "ab.ended_by"), "requests");
  EXPECT_FALSE(record.at("ab").as_object().contains("progress"));
  EXPECT_EQ(text_at(record, "first_error"), "");
}

TEST(AbRecord, EachRequestThatFailedHasOneKindOfError) {
  auto run = good_measurement(1000);
  auto& tally = run.tally;
  const auto fail = [&](ab::Failure failure, uint64_t count) {
    tally.failures[static_cast<size_t>(failure)] += count;
    tally.complete += count;
  };
  fail(ab::Failure::kConnect, 5);
  fail(ab::Failure::kReceive, 7);
  tally.timeouts = 4;
  fail(ab::Failure::kException, 3);
  fail(ab::Failure::kLength, 2 + 1 + 6);
  tally.truncated = 2;
  tally.surplus = 1;
  tally.other_length = 6;
  tally.complete += 9;  // Other statuses with whole bodies.
  tally.not_2xx = 9;
  tally.first_failure = "connect: it was refused";
  const auto record = record_of(run);
  expect_sum(record);
  EXPECT_EQ(count_at(record, "good"), 1000U);
  EXPECT_EQ(count_at(record, "errors.connect"), 5U);
  EXPECT_EQ(count_at(record, "errors.timeout"), 4U);
  EXPECT_EQ(count_at(record, "errors.reset"), 3U);
  EXPECT_EQ(count_at(record, "errors.protocol"), 4U);
  EXPECT_EQ(count_at(record, "errors.truncated"), 2U);
  EXPECT_EQ(count_at(record, "wrong_bodies"), 6U);
  EXPECT_EQ(count_at(record, "errors.wrong_status"), 9U);
  EXPECT_EQ(text_at(record, "first_error"), "connect: it was refused");
}

TEST(AbRecord, ABodyWithOtherBytesIsWrongThoughItsLengthIsRight) {
  auto run = good_measurement(1000);
  run.tally.other_content = 10;
  const auto record = record_of(run);
  expect_sum(record);
  EXPECT_EQ(count_at(record, "wrong_bodies"), 10U);
  EXPECT_EQ(count_at(record, "good"), 990U);
  EXPECT_THAT(text_at(record, "first_error"), HasSubstr("other bytes"));
}

TEST(AbRecord, WhereTheFirstBodyIsNotThePageAllAreWrong) {
  for (const auto& expected :
       {ExpectedBody{kBodyBytes + 1, kXxh3}, ExpectedBody{kBodyBytes, "0"}}) {
    const auto record = record_of(good_measurement(1000), expected);
    expect_sum(record);
    EXPECT_EQ(count_at(record, "wrong_bodies"), 1000U);
    EXPECT_THAT(text_at(record, "first_error"), HasSubstr("the first body has 151 bytes"));
  }
}

TEST(AbRecord, AGeneratorThatIsFullIsTheLimit) {
  auto run = good_measurement(1000);
  run.threads = {{1.2, 0.7, 2}};
  EXPECT_EQ(text_at(record_of(run), "generator.limit"), "cpu");
}

TEST(AbRecord, WhatIsNoRunIsAProblem) {
  EXPECT_FALSE(ab_record({}, {}));
  EXPECT_FALSE(ab_record(boost::json::object{{"runs", boost::json::array()}}, {}));
  EXPECT_FALSE(ab_record(boost::json::object{{"runs", boost::json::array{1}}}, {}));
}

TEST(AbRecord, ItsFilesAreThoseOfOtherRuns) {
  const testing_support::TempDir folder;
  const auto end = storage::WallTime(std::chrono::seconds(1'000'000'000));
  ASSERT_TRUE(write_ab_files(json_of(good_measurement(1000)), folder.path(), end));
  std::ifstream trace_file(folder / "trace.csv");
  const auto trace = read_trace_csv(trace_file);
  const auto* rows = std::get_if<std::vector<TraceRow>>(&trace);
  ASSERT_NE(rows, nullptr) << std::get<std::string>(trace);
  ASSERT_EQ(rows->size(), 40U);
  EXPECT_NEAR(rows->front().throughput_rps, 500, 0.01);
  EXPECT_FALSE(rows->front().hit_ratio_percent);
  EXPECT_FALSE(rows->front().response_time_ms);
  EXPECT_EQ(rows->front().errors, 0U);
  std::ifstream log_file(folder / "latency.hlog");
  const auto log = read_interval_log(log_file);
  const auto* intervals = std::get_if<IntervalLog>(&log);
  ASSERT_NE(intervals, nullptr) << std::get<std::string>(log);
  ASSERT_EQ(intervals->intervals.size(), 1U);
  EXPECT_EQ(intervals->intervals[0].histogram.count(), 1000U);
  EXPECT_NEAR(intervals->start_unix_s, 999'999'998, 1);
}

TEST(AbCommand, SaysTheLoadAndTheGoal) {
  const auto command_of = [](const std::string& load, const std::string& until) {
    ExperimentOptions options;
    EXPECT_TRUE(set_option(options, "load", {load}));
    if (!until.empty()) {
      EXPECT_TRUE(set_option(options, "until", {until}));
    }
    return shell_line(ab_command("c", options, *ab_load_of(options), {"127.0.0.1", 80}, "f"));
  };
  EXPECT_EQ(command_of("ab=10,requests=100000", ""),
            "c ab -q -r -n 100000 -c 10 --json f http://127.0.0.1:80/page.html");
  EXPECT_EQ(command_of("ab=100,keep-alive,gzip,threads=2", "requests=500"),
            "c ab -q -r -n 500 -c 100 -k -H 'Accept-Encoding: gzip' --threads 2 --json f "
            "http://127.0.0.1:80/page.html");
  const auto timed = command_of("ab=10", "duration=20s");
  EXPECT_THAT(timed, HasSubstr("-t 20.000000 -n 10000000000 -c 10"));
  std::vector<std::string> words{"-t", "20.000000", "-n", "10000000000", "http://127.0.0.1:80/p"};
  const auto read = ab::parse_options(words);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->time_limit, std::chrono::seconds(20));
}

TEST(AbProgress, IsThinnedWhereARunIsLong) {
  ab::ProgressSamples progress;
  for (uint64_t i = 1; i <= 100'000; ++i) {
    progress.add({0.05 * static_cast<double>(i), 10 * i, 9 * i});
  }
  progress.add({5000.01, 1'000'001, 900'001}, true);
  const auto& samples = progress.samples();
  EXPECT_LE(samples.size(), ab::ProgressSamples::kSamplesMax + 1);
  EXPECT_GE(samples.size(), ab::ProgressSamples::kSamplesMax / 2);
  const double step_s = samples[0].elapsed_s;
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    EXPECT_NEAR(samples[i].elapsed_s, step_s * static_cast<double>(i + 1), 1e-6);
  }
  EXPECT_EQ(samples.back().complete, 1'000'001U);
}

TEST(AbProgress, ALookBehindTheRunsEndIsNoPartOfIt) {
  ab::ProgressSamples progress;
  progress.add({0.05, 10, 10});
  progress.add({0.10, 20, 20});
  progress.add({0.07, 20, 20}, true);
  ASSERT_EQ(progress.samples().size(), 2U);
  EXPECT_EQ(progress.samples().back().elapsed_s, 0.07);
}

}  // namespace
}  // namespace workload
