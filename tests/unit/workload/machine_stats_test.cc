#include "workload/experiment/machine_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "workload/experiment/environment.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(MachineStats, CpuTimesLeaveGuestsOut) {
  const auto times = parse_cpu_times("cpu  10 1 20 100 5 2 3 7 50 60\ncpu0 1 2 3\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->total, 148U);
  EXPECT_EQ(times->idle, 105U);
  EXPECT_EQ(times->steal, 7U);
  EXPECT_FALSE(parse_cpu_times("cpu0 1 2 3 4 5 6 7 8\n"));
  EXPECT_FALSE(parse_cpu_times("cpu  1 2 3\n"));
  EXPECT_FALSE(parse_cpu_times(""));
}

TEST(MachineStats, DiskCountersAreThoseOfTheDevice) {
  constexpr std::string_view kText =
      "   7       0 loop0 1 0 2 0 3 0 4 0 0 5 0\n"
      " 254       0 vda 33178 9345 3380658 10186 26679 9161 1083496 3368 0 6936 13999 6614 7 2 4\n";
  const auto counters = parse_diskstats(kText, 254, 0);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->reads, 33178U);
  EXPECT_EQ(counters->writes, 26679U);
  EXPECT_EQ(counters->read_bytes, 3380658U * 512);
  EXPECT_EQ(counters->write_bytes, 1083496U * 512);
  EXPECT_EQ(counters->busy_ms, 6936U);
  EXPECT_FALSE(parse_diskstats(kText, 254, 1));
  EXPECT_FALSE(parse_diskstats("254 0 vda 1 2\n", 254, 0));
}

TEST(MachineStats, ProcessIoAndState) {
  const auto io = parse_process_io(
      "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n"
      "cancelled_write_bytes: 1\n");
  ASSERT_TRUE(io);
  EXPECT_EQ(io->read_bytes, 4096U);
  EXPECT_EQ(io->write_bytes, 8192U);
  EXPECT_FALSE(parse_process_io("read_bytes: x\n"));
  EXPECT_EQ(parse_process_state("12 (a) b (c) D 1 2"), 'D');
  EXPECT_EQ(parse_process_state("nothing"), 0);
  EXPECT_EQ(parse_process_state("1 (x) "), 0);
}

TEST(MachineStats, ReadsThisMachine) {
  EXPECT_TRUE(read_cpu_times());
  EXPECT_EQ(read_process_state(getpid()), 'R');
  EXPECT_GT(clock_offset_s(), 0);
}

TEST(Environment, ParsesWhatTheKernelPrints) {
  EXPECT_EQ(parse_cpu_model("processor : 0\nmodel name\t: Some CPU @ 3 GHz\nflags : a\n"),
            "Some CPU @ 3 GHz");
  EXPECT_EQ(parse_cpu_model("processor : 0\n"), "");
  EXPECT_EQ(parse_meminfo_bytes("MemTotal:  100 kB\nMemFree: 5 kB\n", "MemTotal"), 102400U);
  EXPECT_EQ(parse_meminfo_bytes("MemFree: 5 kB\n", "MemTotal"), 0U);
}

TEST(Environment, HoldsTheKeysOfTheContract) {
  EnvironmentInputs inputs;
  inputs.directory = "/";
  inputs.out = "/";
  inputs.command = {"cacheoff", "bench"};
  const auto environment = collect_environment(inputs);
  for (const auto* key : {"started_at", "host", "machine", "kernel", "directory", "out", "device",
                          "versions", "limits", "command", "kernel_settings"}) {
    EXPECT_TRUE(environment.contains(key)) << key;
  }
  EXPECT_GT(count_at(environment, "machine.cpus"), 0U);
  EXPECT_GT(count_at(environment, "machine.memory_bytes"), 0U);
  EXPECT_NE(text_at(environment, "directory.filesystem"), "");
  const auto& settings = environment.at("kernel_settings").as_object();
  for (const auto* name : {"net.core.somaxconn", "net.ipv4.ip_local_port_range",
                           "net.ipv4.tcp_tw_reuse", "fs.file-max", "vm.dirty_ratio"}) {
    EXPECT_NE(settings.at(name).as_string(), "") << name;
  }
  EXPECT_TRUE(find_json(environment, "versions.gnuplot")->is_null());
}

boost::json::object calm_machine() {
  return {{"machine", {{"cpus", 4}, {"load_average", 0.5}}},
          {"limits", {{"open_files", 20000}, {"local_ports", 28232}}}};
}

TEST(Environment, GoingOnKeepsTheBeginningAndTellsWhatHasChanged) {
  const boost::json::object first{
      {"started_at", "one"}, {"command", {"a"}}, {"kernel", {{"release", "6"}}}, {"host", "h"}};
  const boost::json::object second{
      {"started_at", "two"}, {"command", {"b"}}, {"kernel", {{"release", "6"}}}, {"host", "h"}};
  boost::json::object third = second;
  third["kernel"] = {{"release", "7"}};
  const auto same = continue_environment(first, second);
  EXPECT_EQ(text_at(same, "started_at"), "one");
  EXPECT_EQ(same.at("resumed").as_array().size(), 1U);
  const auto warnings_of = [](const boost::json::object& environment) {
    std::string text;
    for (const auto& warning : environment_warnings(environment)) text += warning + "\n";
    return text;
  };
  EXPECT_THAT(warnings_of(same), Not(HasSubstr("went on")));
  const auto other = continue_environment(same, third);
  EXPECT_EQ(other.at("resumed").as_array().size(), 2U);
  EXPECT_THAT(warnings_of(other), HasSubstr("went on at two with another kernel"));
}

TEST(Environment, WarnsOfABusyOrSmallMachine) {
  EXPECT_THAT(environment_warnings(calm_machine()), IsEmpty());
  auto busy = calm_machine();
  busy["machine"] = {{"cpus", 4}, {"load_average", 3.5}};
  EXPECT_THAT(environment_warnings(busy), ElementsAre(HasSubstr("load average 3.5")));
  auto small = calm_machine();
  small["machine"] = {{"cpus", 1}, {"load_average", nullptr}};
  small["limits"] = {{"open_files", 1024}, {"local_ports", 100}};
  EXPECT_THAT(environment_warnings(small),
              ElementsAre(HasSubstr("one CPU"), HasSubstr("1024 files"), HasSubstr("100 local")));
}

}  // namespace
}  // namespace workload
