#include "workload/report/request_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fabricated_results.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing_support::fabricated_cell;

std::vector<std::string> titles_of(const std::vector<RequestCost>& costs) {
  std::vector<std::string> titles;
  for (const auto& cost : costs) titles.push_back(cost.title);
  return titles;
}

TEST(RequestCost, CpuTimeIsOverTheRequestsOfTheProxysLogElseOfTheRobots) {
  auto cell = fabricated_cell("memory", {200});
  EXPECT_THAT(cpu_us_per_request(cell, "proxy"), Optional(1500.0)) << "1.5 s over 1000";
  cell.runs[0]["access_log"] = {{"requests", 3000}};
  EXPECT_THAT(cpu_us_per_request(cell, "proxy"), Optional(500.0));
  cell.runs[0]["access_log"] = {{"requests", 0}};
  cell.runs[0]["requests"] = 0;
  EXPECT_EQ(cpu_us_per_request(cell, "proxy"), std::nullopt);
}

TEST(RequestCost, CountersOfTheMeasuredPartAreOverItsRequests) {
  auto cell = fabricated_cell("ufs-here", {200});
  cell.runs[0]["access_log"] = {{"requests", 3000}};
  cell.runs[0]["counted_requests"] = 500;
  EXPECT_THAT(cpu_us_per_request(cell, "proxy"), Optional(3000.0)) << "1.5 s over 500";
  cell.runs[0]["cpu_s"].as_object()["load"] = 6;
  EXPECT_THAT(cpu_us_per_request(cell, "load"), Optional(2000.0)) << "the whole load's";
  EXPECT_THAT(counted_requests(cell.runs[0]), Optional(500.0));
}

TEST(RequestCost, RunsThatDoNotCountEnterNoMedian) {
  auto cell = fabricated_cell("memory", {200, 200, 200});
  cell.runs[1]["failure"] = "a wrong body";
  cell.runs[1]["cpu_s"] = {{"proxy", 1000}};
  cell.runs[2]["cpu_s"] = {{"proxy", 2.5}};
  EXPECT_THAT(cpu_us_per_request(cell, "proxy"), Optional(2000.0));
}

TEST(RequestCost, OnlyWhatAnyCellSaysHasAColumn) {
  auto said = fabricated_cell("ufs-here", {100});
  said.runs[0]["disk"] = {{"reads", 500}, {"writes", nullptr}, {"write_bytes", 2048000}};
  const auto silent = fabricated_cell("memory", {100});
  const auto costs = request_costs({&silent, &said});
  EXPECT_THAT(titles_of(costs),
              ElementsAre("CPU of proxy, µs", "CPU of helper, µs", "CPU of load, µs",
                          "CPU of origin, µs", "disk reads", "written, KiB"));
  EXPECT_THAT(costs[4].values, ElementsAre(std::nullopt, Optional(0.5)));
  EXPECT_THAT(costs[5].values, ElementsAre(std::nullopt, Optional(2.0)));
}

TEST(RequestCost, WhatARunSaysItselfGoesBeforeWhatIsDerived) {
  auto cell = fabricated_cell("ufs-here", {100});
  cell.runs[0]["cpu_s"] = nullptr;
  cell.runs[0]["disk"] = {{"reads", 500}};
  cell.runs[0]["per_request"] = {{"cpu_us", 9.0},
                                 {"disk_reads", 0.25},
                                 {"context_switches", 3.0},
                                 {"new_of_its_kind", 7.0},
                                 {"a_text", "x"}};
  const auto costs = request_costs({&cell});
  EXPECT_THAT(titles_of(costs), ElementsAre("disk reads", "context switches", "new_of_its_kind"));
  EXPECT_THAT(costs[0].values, ElementsAre(Optional(0.25)));
  EXPECT_THAT(costs[1].values, ElementsAre(Optional(3.0)));
  EXPECT_THAT(costs[2].values, ElementsAre(Optional(7.0)));
}

}  // namespace
}  // namespace workload
