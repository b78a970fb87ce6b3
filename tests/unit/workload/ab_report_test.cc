#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workload/ab/additions.h"
#include "workload/ab/data_files.h"
#include "workload/ab/report.h"

namespace workload::ab {
namespace {

Options report_options() {
  Options options;
  options.url = *parse_url("http://www.example.org:8080/index.html");
  options.requests = 4;
  options.concurrency = 2;
  return options;
}

/// Four requests of 1, 2, 3 and 10 ms, the first two with a connection of 0.4 ms.
Measurement measurement() {
  Measurement run;
  run.duration_s = 0.5;
  run.server = "nginx/1.0\x01";
  run.first_body = BodyDigest{151, 0xabcd};
  auto& tally = run.tally;
  tally.complete = tally.good = tally.kept_alive = 4;
  tally.received_bytes = 4096;
  tally.body_bytes = 604;
  tally.sent_bytes = 2048;
  tally.connections = 2;
  for (const uint64_t us : {1000, 2000, 3000, 10000}) {
    const uint64_t connect_us = us <= 2000 ? 400 : 0;
    tally.connect.record(connect_us * 1000);
    tally.processing.record((us - connect_us) * 1000);
    tally.waiting.record((us - connect_us) * 500);
    tally.total.record(us * 1000);
    tally.good_times.record(us * 1000);
    RequestTimes times;
    times.start_unix_us = 1'000'000'000'000'000;
    times.connect_us = static_cast<uint32_t>(connect_us);
    times.total_us = static_cast<uint32_t>(us);
    times.wait_us = static_cast<uint32_t>((us - connect_us) / 2);
    tally.requests.push_back(times);
  }
  run.threads.push_back(ThreadUse{0.1, 0, 0.5});
  return run;
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

TEST(AbReport, HasEachLineAtItsPlace) {
  auto options = report_options();
  options.keep_alive = true;
  EXPECT_EQ(report_text(options, measurement()),
            "\n\n"
            "Server Software:        nginx/1.0?\n"
            "Server Hostname:        www.example.org\n"
            "Server Port:            8080\n"
            "\n"
            "Document Path:          /index.html\n"
            "Document Length:        151 bytes\n"
            "\n"
            "Concurrency Level:      2\n"
            "Time taken for tests:   0.500 seconds\n"
            "Complete requests:      4\n"
            "Failed requests:        0\n"
            "Keep-Alive requests:    4\n"
            "Total transferred:      4096 bytes\n"
            "HTML transferred:       604 bytes\n"
            "Requests per second:    8.00 [#/sec] (mean)\n"
            "Time per request:       250.000 [ms] (mean)\n"
            "Time per request:       125.000 [ms] (mean, across all concurrent requests)\n"
            "Transfer rate:          8.00 [Kbytes/sec] received\n"
            "\n"
            "Connection Times (ms)\n"
            "              min  mean[+/-sd] median   max\n"
            "Connect:        0    0   0.2      0       0\n"
            "Processing:     1    4   4.2      2      10\n"
            "Waiting:        0    2   2.1      1       5\n"
            "Total:          1    4   4.1      2      10\n"
            "\n"
            "Percentage of the requests served within a certain time (ms)\n"
            "  50%      2\n"
            "  66%      3\n"
            "  75%      3\n"
            "  80%     10\n"
            "  90%     10\n"
            "  95%     10\n"
            "  98%     10\n"
            "  99%     10\n"
            " 100%     10 (longest request)\n");
}

TEST(AbReport, ShowsFailuresBodiesAndShortTables) {
  auto options = report_options();
  options.has_body = true;
  options.any_length = true;
  options.show_confidence = false;
  options.show_percentiles = false;
  auto run = measurement();
  run.tally.not_2xx = 2;
  run.tally.failures[static_cast<size_t>(Failure::kReceive)] = 1;
  run.tally.failures[static_cast<size_t>(Failure::kLength)] = 2;
  const auto text = report_text(options, run);
  for (const std::string expected :
       {"Document Length:        Variable\n",
        "Failed requests:        3\n   (Connect: 0, Receive: 1, Length: 2, Exceptions: 0)\n"
        "Non-2xx responses:      2\n",
        "Total body sent:        2048\n",
        "                        4.00 kb/s sent\n                        12.00 kb/s total\n",
        "              min   avg   max\nConnect:        0     0    0\n"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << text;
  }
  EXPECT_EQ(text.find("Percentage"), std::string::npos);
}

TEST(AbReport, SaysNothingOfNothing) {
  const auto text = report_text(report_options(), Measurement());
  EXPECT_NE(text.find("Complete requests:      0\n"), std::string::npos);
  for (const std::string wrong : {"nan", "inf", "per second", "Connection Times"}) {
    EXPECT_EQ(text.find(wrong), std::string::npos) << text;
  }
  const std::vector<Measurement> runs(1);
  const auto additions = additions_text(report_options(), runs, 0);
  EXPECT_EQ(additions.find("nan"), std::string::npos) << additions;
  EXPECT_NE(additions.find("no response was good"), std::string::npos);
}

TEST(AbReport, AsHtmlEscapesThePath) {
  auto options = report_options();
  options.url.path = "/<b>&";
  options.table_attributes = "border=1";
  const auto html = report_html(options, measurement());
  EXPECT_NE(html.find("/&lt;b&gt;&amp;"), std::string::npos);
  EXPECT_NE(html.find("<table border=1>"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
}

TEST(AbAdditions, AreNoLinesOfApacheBench) {
  auto run = measurement();
  run.tally.other_content = 1;
  run.tally.failures[static_cast<size_t>(Failure::kLength)] = 1;
  run.tally.first_failure = "said\n 50%      1";
  const std::vector<Measurement> runs(7, run);
  for (const auto& line : lines_of_text(additions_text(report_options(), runs, 3))) {
    EXPECT_TRUE(line.empty() || line.rfind("+ ", 0) == 0) << line;
  }
}

TEST(AbAdditions, GiveAnIntervalOnlyWhereThereAreRunsForIt) {
  std::vector<Measurement> runs;
  for (int i = 1; i <= 7; ++i) {
    runs.push_back(measurement());
    runs.back().duration_s = i;
  }
  EXPECT_EQ(median_run(runs), 3U);
  EXPECT_NE(additions_text(report_options(), runs, 3).find("95 % interval"), std::string::npos);
  runs.resize(3);
  const auto few = additions_text(report_options(), runs, 1);
  EXPECT_NE(few.find("no interval: 3 more runs are needed"), std::string::npos) << few;
}

TEST(AbAdditions, NeverTakeAnErrorForASuccess) {
  auto run = measurement();
  run.tally.good = 0;
  run.tally.not_2xx = 4;
  run.tally.good_times.clear();
  const std::vector<Measurement> runs{run};
  const auto text = additions_text(report_options(), runs, 0);
  EXPECT_NE(text.find("0 of 4, 0.00 a second"), std::string::npos) << text;
  EXPECT_NE(text.find("warning:"), std::string::npos);
  const auto json = runs_to_json(report_options(), runs, 0);
  EXPECT_EQ(json.at("good_per_s").at("median").to_number<double>(), 0);
}

TEST(AbAdditions, SayWhenTheGeneratorWasTheLimit) {
  auto run = measurement();
  EXPECT_TRUE(warnings_of(report_options(), run).empty());
  run.threads.push_back(ThreadUse{0.2, 0.28, 0.5});
  const auto warnings = warnings_of(report_options(), run);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("lower bound"), std::string::npos);
}

TEST(AbDataFiles, HaveTheColumnsOfApacheBench) {
  const auto run = measurement();
  const auto csv = lines_of_text(percentiles_csv(run.tally));
  ASSERT_EQ(csv.size(), 102U);
  EXPECT_EQ(csv[0], "Percentage served,Time in ms");
  EXPECT_EQ(csv[1], "0,1.000");
  EXPECT_EQ(csv[101], "100,10.000");
  const auto rows = lines_of_text(gnuplot_tsv(run.tally));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0], "starttime\tseconds\tctime\tdtime\tttime\twait");
  EXPECT_NE(rows[4].find(" 2001\t1000000000\t0\t10\t10\t5"), std::string::npos) << rows[4];
}

TEST(AbTimes, KeepExactEndsAndZeros) {
  TimeSamples times;
  EXPECT_EQ(times.percentile_ns(50), 0U);
  EXPECT_EQ(times.deviation_ns(), 0);
  times.record_zeros(3);
  times.record(1'234'567);
  EXPECT_EQ(times.count(), 4U);
  EXPECT_EQ(times.min_ns(), 0U);
  EXPECT_EQ(times.percentile_ns(75), 0U);
  EXPECT_EQ(times.percentile_ns(100), 1'234'567U);
  EXPECT_NEAR(times.mean_ns(), 1'234'567 / 4.0, 1);
  TimeSamples more;
  more.record(10);
  times.merge(more);
  EXPECT_EQ(times.count(), 5U);
  EXPECT_EQ(times.max_ns(), 1'234'567U);
}

}  // namespace
}  // namespace workload::ab
