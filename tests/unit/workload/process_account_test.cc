#include "workload/experiment/process_account.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "workload/experiment/run_cost.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStat =
    "12 (a) (b c) S 1 2 3 4 5 6 1000 7 30 8 250 50 9 9 20 0 2 0 77 1 1\n";

/// A folder that looks like /proc/PID.
class ProcessAccountTest : public testing::Test {
 protected:
  void put(const std::string& file, const std::string& text) {
    fs::create_directories((folder_ / file).parent_path());
    ASSERT_TRUE(write_file(folder_ / file, text));
  }
  void put_thread(const std::string& number, const std::string& waits, const std::string& turns) {
    put("task/" + number + "/status", "Name:\tx\nvoluntary_ctxt_switches:\t" + waits +
                                          "\nnonvoluntary_ctxt_switches:\t" + turns + "\n");
  }

  testing_support::TempDir folder_;
};

TEST_F(ProcessAccountTest, SumsOverThreads) {
  EXPECT_FALSE(read_process_counters(folder_.path()));
  put("stat", std::string(kStat));
  put_thread("12", "100", "10");
  put_thread("13", "1", "2");
  auto counters = read_process_counters(folder_.path());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->voluntary_switches, 101U);
  EXPECT_EQ(counters->involuntary_switches, 12U);
  EXPECT_EQ(counters->minor_faults, 1000U);
  EXPECT_EQ(counters->major_faults, 30U);
  EXPECT_FALSE(counters->read_bytes);
  put("io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n");
  counters = read_process_counters(folder_.path());
  EXPECT_EQ(counters->read_bytes, 4096U);
}

TEST_F(ProcessAccountTest, TheMainThreadHasItsOwnTime) {
  put("task/12/stat", std::string(kStat));
  EXPECT_DOUBLE_EQ(parse_cpu_ticks_s(kStat, 100).value_or(0), 3);
  EXPECT_TRUE(read_main_thread_cpu_s(folder_.path(), 12));
  EXPECT_FALSE(read_main_thread_cpu_s(folder_.path(), 13));
  EXPECT_FALSE(parse_cpu_ticks_s("12 (a) S 1", 100));
  EXPECT_FALSE(parse_cpu_ticks_s("", 100));
}

TEST_F(ProcessAccountTest, DirectFilesAreSeen) {
  put("fdinfo/3", "pos:\t0\nflags:\t02100002\n");
  EXPECT_FALSE(reads_directly(folder_.path()));
  char flags[32];
  std::snprintf(flags, sizeof flags, "%o", static_cast<unsigned>(O_RDWR | O_DIRECT));
  put("fdinfo/4", "pos:\t0\nflags:\t0" + std::string(flags) + "\n");
  EXPECT_TRUE(reads_directly(folder_.path()));
  EXPECT_FALSE(reads_directly(folder_ / "gone"));
}

TEST_F(ProcessAccountTest, GrowthIsNeverNegative) {
  ProcessCounters before;
  before.voluntary_switches = 10;
  before.read_bytes = 5;
  ProcessCounters after;
  after.voluntary_switches = 4;
  after.minor_faults = 3;
  after.read_bytes = 9;
  const auto growth = after.since(before);
  EXPECT_EQ(growth.voluntary_switches, 0U);
  EXPECT_EQ(growth.minor_faults, 3U);
  EXPECT_EQ(growth.read_bytes, 4U);
}

TEST(ProcessAccount, ReadsThisProcess) {
  const auto counters = read_process_counters("/proc/self");
  ASSERT_TRUE(counters);
  EXPECT_GT(counters->minor_faults, 0U);
  EXPECT_TRUE(read_main_thread_cpu_s("/proc/self", getpid()));
}

boost::json::object record_of_a_run() {
  return {{"requests", 50},
          {"completed", 40},
          {"bytes_received", 8000},
          {"access_log", {{"requests", 90}, {"aborted", 10}}},
          {"cpu_s", {{"proxy", 0.02}, {"helper", 0.01}}},
          {"storage", {{"io_read_bytes", 1000}, {"published_bytes", 4000}}},
          {"disk", {{"reads", 20}, {"writes", 30}, {"read_bytes", 500}, {"write_bytes", 6000}}}};
}

ProgramCounters counters_of_a_run() {
  ProgramCounters counters;
  counters.proxy.emplace();
  counters.proxy->voluntary_switches = 150;
  counters.proxy->involuntary_switches = 30;
  counters.proxy->minor_faults = 5;
  counters.proxy->read_bytes = 200;
  counters.helper.voluntary_switches = 20;
  counters.helper.major_faults = 5;
  counters.helper.read_bytes = 50;
  return counters;
}

TEST(RunCost, DividesByTheRequestsThatTheProxyHad) {
  auto record = record_of_a_run();
  add_run_costs(record, counters_of_a_run());
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.cpu_us"), 300);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.context_switches"), 2);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.page_faults"), 0.1);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.disk_reads"), 0.2);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.disk_writes"), 0.3);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.disk_read_bytes"), 5);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.disk_write_bytes"), 60);
  EXPECT_DOUBLE_EQ(*number_at(record, "per_request.response_bytes"), 200);
  EXPECT_DOUBLE_EQ(*number_at(record, "disk_write_amplification"), 1.5);
  EXPECT_DOUBLE_EQ(*number_at(record, "page_cache_hit_percent"), 75);
  EXPECT_EQ(count_at(record, "context_switches.proxy.voluntary"), 150U);
  EXPECT_EQ(count_at(record, "page_faults.helper.major"), 5U);
  EXPECT_TRUE(find_json(record, "context_switches.origin")->is_null());
}

TEST(RunCost, WhatIsUnknownIsNull) {
  auto record = record_of_a_run();
  auto counters = counters_of_a_run();
  counters.reads_directly = true;
  add_run_costs(record, counters);
  EXPECT_TRUE(record.at("page_cache_hit_percent").is_null());
  counters.reads_directly = false;
  counters.proxy->read_bytes = 5000;  // Read-ahead.
  add_run_costs(record, counters);
  EXPECT_EQ(*number_at(record, "page_cache_hit_percent"), 0);
  boost::json::object empty{{"requests", 0}};
  add_run_costs(empty, ProgramCounters{});
  for (const char* path :
       {"page_cache_hit_percent", "disk_write_amplification", "per_request.cpu_us",
        "per_request.disk_reads", "per_request.context_switches", "page_faults.proxy"}) {
    ASSERT_NE(find_json(empty, path), nullptr) << path;
    EXPECT_TRUE(find_json(empty, path)->is_null()) << path;
  }
}

}  // namespace
}  // namespace workload
