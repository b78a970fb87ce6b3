#include "workload/report/results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>

#include "tests/support/fabricated_results.h"
#include "tests/support/temp_dir.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::HasSubstr;
using testing_support::fabricated_cell;
using testing_support::fabricated_results;
using testing_support::fabricated_run;

const std::vector<double> kSixRuns{100, 101, 102, 103, 104, 105};

std::string problem_of(boost::json::object json) {
  const auto results = results_from_json(json, "r.json");
  return results ? "" : results.error().text;
}

TEST(JsonText, ReadsBackAsItWas) {
  const boost::json::value value{{"a", {1, 2.5, nullptr, "x\"y\n"}},
                                 {"empty", boost::json::object{}},
                                 {"none", boost::json::array{}},
                                 {"big", 18446744073709551615U},
                                 {"small", -3}};
  EXPECT_EQ(boost::json::parse(to_pretty_json(value)), value);
}

TEST(JsonText, NeverPrintsWhatIsNoNumber) {
  const boost::json::value value{{"a", std::numeric_limits<double>::quiet_NaN()},
                                 {"b", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(to_pretty_json(value), "{\n  \"a\": null,\n  \"b\": null\n}\n");
  EXPECT_TRUE(json_number(std::numeric_limits<double>::infinity()).is_null());
  EXPECT_TRUE(json_number(std::nullopt).is_null());
}

TEST(JsonText, LooksUpAlongAPath) {
  const boost::json::object object{{"a", {{"b", 2}, {"text", "t"}}}, {"n", -1}};
  EXPECT_EQ(number_at(object, "a.b"), 2);
  EXPECT_EQ(text_at(object, "a.text"), "t");
  EXPECT_EQ(count_at(object, "n"), 0U);
  EXPECT_FALSE(number_at(object, "a.c"));
  EXPECT_FALSE(number_at(object, "n.c"));
  EXPECT_FALSE(number_at(object, "a.text"));
}

TEST(JsonText, FilesAreReadWholeOrRefused) {
  const testing_support::TempDir folder;
  const auto file = folder / "x.json";
  ASSERT_TRUE(write_file(file, "{\"a\": 1}"));
  EXPECT_TRUE(read_json_object(file));
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".new"));
  ASSERT_TRUE(write_file(file, "[1]"));
  EXPECT_THAT(read_json_object(file).error().text, HasSubstr("must hold a JSON object"));
  ASSERT_TRUE(write_file(file, "{\"a\": "));
  EXPECT_THAT(read_json_object(file).error().text, HasSubstr("is not JSON"));
  EXPECT_FALSE(read_file(file, 2));
  EXPECT_FALSE(write_file(folder / "no/such/folder", "x"));
}

TEST(Results, JsonHoldsTheKeysOfTheContract) {
  const auto json = results_to_json(fabricated_results({fabricated_cell("ufs-here", kSixRuns)}));
  for (const auto* key : {"schema_version", "cacheoff_version", "seed", "environment", "experiment",
                          "cells", "skipped"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const auto& cell = json.at("cells").at(0).as_object();
  for (const auto* key : {"name", "system", "scheme", "filesystem", "mount_options", "device",
                          "disks", "cache_size_bytes", "runs"}) {
    EXPECT_TRUE(cell.contains(key)) << key;
  }
  for (const auto* key :
       {"throughput_rps", "response_time_ms", "hit_ratio_percent", "byte_hit_ratio_percent"}) {
    const auto& summary = cell.at(key).as_object();
    for (const auto* part : {"median", "low", "high"}) {
      EXPECT_TRUE(summary.at(part).is_double()) << key << '.' << part;
    }
    EXPECT_EQ(count_at(summary, "n"), 6U);
  }
  EXPECT_EQ(number_at(cell, "throughput_rps.median"), 102.5);
}

TEST(Results, TwoCellsOfOneNameAreDamage) {
  const auto cell = fabricated_cell("ufs-here", kSixRuns);
  const auto read = results_from_json(results_to_json(fabricated_results({cell, cell})), "a.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text, "'a.json' is damaged: two cells are named ufs-here");
}

TEST(Results, TooFewRunsHaveNoInterval) {
  const auto json = results_to_json(fabricated_results({fabricated_cell("ufs-here", {100, 90})}));
  const auto& summary = json.at("cells").at(0).at("throughput_rps").as_object();
  EXPECT_EQ(number_at(summary, "median"), 95);
  EXPECT_TRUE(summary.at("low").is_null());
  EXPECT_TRUE(summary.at("high").is_null());
  EXPECT_EQ(count_at(summary, "n"), 2U);
}

TEST(Results, RunsThatFailedEnterNoMedian) {
  auto cell = fabricated_cell("ufs-here", {100, 200, 900});
  cell.runs[2]["failure"] = "responses with wrong bytes";
  EXPECT_EQ(run_values(cell, "throughput_rps").size(), 2U);
  EXPECT_EQ(cell_estimate(cell, "throughput_rps").median, 150);
}

TEST(Results, TheMedianRunStandsForTheCell) {
  EXPECT_EQ(count_at(*representative_run(fabricated_cell("a", {300, 100, 200})), "run"), 3U);
  EXPECT_EQ(count_at(*representative_run(fabricated_cell("a", {300, 100})), "run"), 2U);
  EXPECT_EQ(representative_run(fabricated_cell("a", {})), nullptr);
}

TEST(Results, ReadingGivesThemBack) {
  // Binary fractions: the JSON reader may miss other numbers by their last bit.
  auto results = fabricated_results(
      {fabricated_cell("ufs-here", {125, 125, 250, 250, 500, 500}), fabricated_cell("none", {})});
  results.cells[1].failed_runs.push_back({2, "the proxy died"});
  results.cells[1].unfinished = true;
  results.skipped.push_back({"ufs-tmpfs", "needs root"});
  results.warnings.emplace_back("busy");
  const testing_support::TempDir folder;
  ASSERT_TRUE(write_file(folder / "results.json", to_pretty_json(results_to_json(results))));
  const auto back = read_results(folder.path());
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(boost::json::parse(to_pretty_json(results_to_json(*back))),
            boost::json::parse(to_pretty_json(results_to_json(results))));
}

TEST(Results, DamageIsNamedInOneLine) {
  const auto whole = results_to_json(fabricated_results({fabricated_cell("ufs-here", kSixRuns)}));
  EXPECT_EQ(problem_of(whole), "");
  auto json = whole;
  json["schema_version"] = 99;
  EXPECT_THAT(problem_of(json), HasSubstr("schema_version 99"));
  json = whole;
  json.erase("cells");
  EXPECT_THAT(problem_of(json), HasSubstr("'r.json' is damaged: cells must be"));
  json = whole;
  json["cells"].at(0).as_object()["runs"] = "many";
  EXPECT_THAT(problem_of(json), HasSubstr("cells[0].runs"));
  json = whole;
  json["cells"].at(0).as_object()["disks"] = -1;
  EXPECT_THAT(problem_of(json), HasSubstr("cells[0].disks"));
  json = whole;
  json["cells"].as_array().push_back(3);
  EXPECT_THAT(problem_of(json), HasSubstr("cells must be a list of objects"));
}

TEST(Results, NamesCannotLeadOutOfTheFolder) {
  for (const auto* name : {"../up", "", ".", "..", "a/b", "x'y", "a b", "a\n"}) {
    EXPECT_FALSE(is_cell_name(name)) << name;
    auto cell = fabricated_cell("a", {});
    cell.name = name;
    EXPECT_THAT(problem_of(results_to_json(fabricated_results({cell}))), HasSubstr("cells[0].name"))
        << name;
  }
  EXPECT_TRUE(is_cell_name("ufs-tmpfs-size=1.5G"));
}

TEST(Results, AMissingFileIsNamed) {
  const testing_support::TempDir folder;
  const auto results = read_results(folder.path());
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().text, HasSubstr("results.json"));
}

TEST(Results, FiguresThatAreNoNumbersAreNothing) {
  auto run = fabricated_run(1, 100);
  run["throughput_rps"] = nullptr;
  auto cell = fabricated_cell("a", {});
  cell.runs = {run};
  EXPECT_TRUE(run_values(cell, "throughput_rps").empty());
  EXPECT_FALSE(cell_estimate(cell, "throughput_rps").median);
}

}  // namespace
}  // namespace workload
