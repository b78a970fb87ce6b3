#include "workload/report/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "tests/support/fabricated_results.h"

namespace workload {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing_support::fabricated_cell;
using testing_support::fabricated_results;

const std::vector<double> kFast{200, 201, 202, 203, 204, 205, 206, 207};
const std::vector<double> kSlow{100, 101, 102, 103, 104, 105, 106, 107};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string table_of(const Results& results) {
  return summary_text(results, summarise(results));
}

TEST(Summary, RowsAreSortedByThroughputAndEmptyOnesAreLast) {
  auto results =
      fabricated_results({fabricated_cell("failed-here", {}), fabricated_cell("slow-here", kSlow),
                          fabricated_cell("fast", kFast)});
  results.cells[0].failed_runs.push_back({1, "no disk"});
  const auto rows = summarise(results);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "fast");
  EXPECT_EQ(rows[1].name, "slow-here");
  EXPECT_EQ(rows[1].distinction, Distinction::kDifferent);
  EXPECT_EQ(rows[2].name, "failed-here");
  EXPECT_FALSE(rows[2].valid);
  EXPECT_THAT(rows[2].notes, ElementsAre("run 1 failed: no disk"));
}

TEST(Summary, CsvBeginsWithTheColumnsOfTheContract) {
  const auto results =
      fabricated_results({fabricated_cell("ufs-here", kSlow), fabricated_cell("none", {})});
  const auto lines = lines_of(summary_csv(summarise(results)));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(
      lines[0].rfind("scheme,filesystem,mount_options,throughput,response_time,hit_ratio,", 0), 0U);
  EXPECT_EQ(lines[1].rfind("ufs,here,,103.5,", 0), 0U);
  EXPECT_EQ(lines[2].rfind("none,,,,,,,,,,,,,,,,,0,false,none", 0), 0U) << lines[2];
  const auto columns = [](const std::string& line) {
    return std::count(line.begin(), line.end(), ',');
  };
  EXPECT_EQ(columns(lines[0]), columns(lines[1]));
  EXPECT_EQ(columns(lines[0]), columns(lines[2]));
}

TEST(Summary, CsvQuotesWhatMustBe) {
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_field("plain"), "plain");
}

TEST(Summary, TextHasTheColumnsInTheirOrder) {
  const auto results = fabricated_results({fabricated_cell("ufs-here", kSlow)});
  const auto lines = lines_of(table_of(results));
  std::istringstream header(lines[0]);
  std::vector<std::string> words;
  for (std::string word; header >> word;) words.push_back(word);
  EXPECT_THAT(
      words, ElementsAre("scheme", "filesystem", "mount_options", "throughput", "response_time",
                         "hit_ratio", "offered_hit_ratio", "errors", "wrong_bodies", "limited_by"));
  EXPECT_THAT(lines[2], AllOf(HasSubstr("ufs"), HasSubstr("103.5 ("), HasSubstr("proxy_cpu")));
}

TEST(Summary, MissingIntervalsAreCountedAndNotInvented) {
  const auto results = fabricated_results({fabricated_cell("ufs-here", {100, 101, 102})});
  const std::string table = table_of(results);
  EXPECT_THAT(table, HasSubstr("3 more runs of each cell are needed"));
  EXPECT_THAT(table, Not(HasSubstr("(100")));
}

TEST(Summary, TooFewRunsTellNothingApart) {
  const auto results = fabricated_results(
      {fabricated_cell("a", {300, 301, 302}), fabricated_cell("b", {100, 101, 102})});
  const auto rows = summarise(results);
  EXPECT_EQ(rows[1].distinction, Distinction::kTooFew);
  EXPECT_THAT(table_of(results), HasSubstr("? too few runs"));
}

TEST(Summary, EqualCellsAreMarked) {
  const auto results =
      fabricated_results({fabricated_cell("a", kFast), fabricated_cell("b", kFast)});
  const auto rows = summarise(results);
  EXPECT_EQ(rows[1].distinction, Distinction::kSame);
  EXPECT_THAT(table_of(results), HasSubstr("= the runs do not tell"));
}

TEST(Summary, NotesThatDifferInFiguresAndSignsAreOne) {
  auto results = fabricated_results({fabricated_cell("ext4-2", {100, 101})});
  auto& runs = results.cells[0].runs;
  runs[0]["warnings"] = boost::json::array{"throughput was not steady: it changed by -5.3 %"};
  runs[1]["warnings"] = boost::json::array{"throughput was not steady: it changed by 17.2 %"};
  EXPECT_THAT(
      summarise(results)[0].notes,
      ElementsAre("throughput was not steady: it changed by -5.3 % (likewise in 1 more run)"));
  runs[1]["warnings"] = boost::json::array{"throughput was not steady - it changed by 17.2 %"};
  EXPECT_EQ(summarise(results)[0].notes.size(), 2U);
}

TEST(Summary, OneInvalidRunMakesTheRowInvalidAndSaysWhy) {
  auto results = fabricated_results({fabricated_cell("a", kFast)});
  EXPECT_TRUE(summarise(results)[0].valid);
  EXPECT_THAT(table_of(results), Not(HasSubstr("! not valid")));
  for (const size_t i : {1, 2}) {
    results.cells[0].runs[i]["valid"] = false;
    const std::string warning = "the machine shook by " + std::to_string(i * 7) + " mm";
    results.cells[0].runs[i]["warnings"] = boost::json::array{warning};
  }
  EXPECT_FALSE(summarise(results)[0].valid);
  EXPECT_THAT(table_of(results),
              AllOf(HasSubstr("! not valid"),
                    HasSubstr("note: a: the machine shook by 7 mm (likewise in 1 more run)")));
}

TEST(Summary, ErrorsAndWrongBodiesAreSummedOverAllRuns) {
  auto results = fabricated_results({fabricated_cell("a", kFast)});
  results.cells[0].runs[0]["errors"] = {{"timeout", 2}, {"refused", 3}};
  results.cells[0].runs[1]["wrong_bodies"] = 4;
  results.cells[0].runs[1]["failure"] = "responses with wrong bytes";
  const auto rows = summarise(results);
  EXPECT_EQ(rows[0].errors, 5U);
  EXPECT_EQ(rows[0].wrong_bodies, 4U);
  EXPECT_EQ(rows[0].runs, kFast.size() - 1);
}

TEST(Summary, NothingIsADash) {
  EXPECT_EQ(figure_text(std::nullopt), "-");
  EXPECT_EQ(figure_text(std::numeric_limits<double>::quiet_NaN()), "-");
  EXPECT_EQ(figure_text(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(figure_text(12345.6), "12346");
  EXPECT_EQ(figure_text(1.0 / 3), "0.333");
  auto results = fabricated_results({fabricated_cell("a", {})});
  const std::string table = table_of(results);
  EXPECT_THAT(table, AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf")), HasSubstr("-")));
}

TEST(Summary, ShowsWhatTheStoresDid) {
  auto results = fabricated_results({fabricated_cell("a", kFast), fabricated_cell("b", kFast)});
  EXPECT_THAT(table_of(results), Not(HasSubstr("io_per_request")));
  for (auto& run : results.cells[0].runs) {
    run["storage"] = {{"operations", {{"open", 30}, {"create", 12}}},
                      {"declined", {{"overloaded", 3}}},
                      {"evictions", 8},
                      {"write_amplification", 1.25},
                      {"io_per_request", nullptr}};
    run["disk"] = {{"busy_percent", 61.5}};
  }
  results.cells[0].runs[0].at("storage").as_object()["declined"] = boost::json::object();
  const auto rows = summarise(results);
  const auto& row = rows[0].name == "a" ? rows[0] : rows[1];
  EXPECT_EQ(row.store_operations, 42);
  EXPECT_EQ(row.store_declined.at("overloaded"), 3);
  EXPECT_EQ(row.io_per_request, std::nullopt);
  EXPECT_THAT(table_of(results),
              AllOf(HasSubstr("overloaded=3"), HasSubstr("1.250"), HasSubstr(" 61.50 ")));
  EXPECT_THAT(summary_csv(rows),
              AllOf(HasSubstr(",42,8,1.25,,overloaded=3,0,,"), HasSubstr(",61.5,\n")));
}

TEST(Summary, ShowsWhatARequestCost) {
  auto results = fabricated_results({fabricated_cell("a", kFast)});
  EXPECT_THAT(table_of(results), Not(HasSubstr("what a request cost")));
  for (auto& run : results.cells[0].runs) {
    run["per_request"] = {{"cpu_us", 80.5},
                          {"context_switches", 2},
                          {"page_faults", 0.5},
                          {"disk_reads", 3},
                          {"disk_writes", 4},
                          {"disk_read_bytes", 2048},
                          {"disk_write_bytes", nullptr},
                          {"response_bytes", 1500}};
    run["disk_write_amplification"] = 1.75;
    run["page_cache_hit_percent"] = 62.5;
    run["memory"] = {{"peak_bytes", 64 << 20}};
  }
  const auto rows = summarise(results);
  EXPECT_THAT(summary_csv(rows),
              HasSubstr(",0,,80.5,2,0.5,3,4,2048,,1.75,62.5,67108864,1500,,,\n"));
  const std::string table = table_of(results);
  EXPECT_THAT(table, AllOf(HasSubstr("what a request cost"), HasSubstr("rd_KiB"),
                           HasSubstr(" 2.000 "), HasSubstr("62.50"), HasSubstr("64.00")));
  for (const auto& line : lines_of(table.substr(table.find("cpu_us")))) {
    EXPECT_LE(line.size(), 120U) << line;
  }
}

TEST(Summary, ARowThatIsNoCacheIsMarkedAndTheMarkIsExplained) {
  auto results = fabricated_results({fabricated_cell("webproxy-here", kFast)});
  EXPECT_THAT(table_of(results), Not(HasSubstr("#")));
  results.cells[0].system = kNoCacheSystem;
  EXPECT_FALSE(summarise(results)[0].is_cache);
  EXPECT_EQ(lines_of(table_of(results))[2].back(), '#');
  EXPECT_THAT(table_of(results), HasSubstr("\n# no cache: "));
}

TEST(Summary, SeveralDisksStandBesideTheFilesystem) {
  auto results = fabricated_results({fabricated_cell("ufs-here", kFast)});
  results.cells[0].disks = 3;
  EXPECT_THAT(table_of(results), HasSubstr("here x3"));
  EXPECT_THAT(summary_csv(summarise(results)),
              AllOf(HasSubstr("ufs,here,,"), HasSubstr(",3,,,,,,,,,,,,,,,\n")));
  results.cells[0].disks = 1;
  EXPECT_THAT(table_of(results), Not(HasSubstr("here x")));
}

TEST(Summary, AnotherEventMethodThanTheUsualStandsBesideTheScheme) {
  auto results = fabricated_results({fabricated_cell("ufs-here", kFast)});
  results.cells[0].event_method = "epoll";
  EXPECT_THAT(table_of(results), Not(HasSubstr("epoll")));
  results.cells[0].event_method = "select";
  EXPECT_THAT(table_of(results), HasSubstr("ufs, select"));
  EXPECT_THAT(summary_csv(summarise(results)),
              AllOf(HasSubstr("ufs,here,,"), HasSubstr(",select,,\n")));
}

TEST(Summary, ACellWhoseRunsAllFailedHasNoFigures) {
  auto results = fabricated_results({fabricated_cell("a", kFast), fabricated_cell("b", {})});
  results.cells[1].failed_runs.push_back({1, "no disk"});
  const auto rows = summarise(results);
  EXPECT_THAT(summary_csv(rows), HasSubstr(",,,,0,false,b,,,,,,0,,,,,,,,,,,,,,,\n"));
  EXPECT_THAT(table_of(results), AllOf(Not(HasSubstr("more runs of each cell are needed")),
                                       HasSubstr("note: b: run 1 failed: no disk")));
  const auto none = fabricated_results({fabricated_cell("b", {})});
  EXPECT_THAT(table_of(none), HasSubstr("no run gave a result"));
}

TEST(Summary, SkippedCellsAndWarningsAreListed) {
  auto results = fabricated_results({fabricated_cell("a", kFast)});
  results.skipped.push_back({"ufs-tmpfs", "mounting tmpfs needs root"});
  results.warnings.emplace_back("a busy machine");
  results.cells[0].unfinished = true;
  EXPECT_THAT(table_of(results), HasSubstr("unfinished: a: has 8 of its runs so far"));
  EXPECT_THAT(table_of(results), AllOf(HasSubstr("skipped: ufs-tmpfs: mounting tmpfs needs root"),
                                       HasSubstr("warning: a busy machine")));
}

TEST(Summary, ControlCharactersDoNotReachTheTerminal) {
  auto results = fabricated_results({fabricated_cell("a", kFast)});
  results.cells[0].scheme = "a\033[31m";
  results.skipped.push_back({"x", "one\ntwo\a"});
  const std::string table = table_of(results);
  EXPECT_EQ(table.find('\033'), std::string::npos);
  EXPECT_EQ(table.find('\a'), std::string::npos);
  EXPECT_THAT(table, HasSubstr("one?two?"));
}

TEST(CsvField, TextIsNeitherAFormulaNorALineOfItsOwn) {
  EXPECT_EQ(csv_field("ext4"), "ext4");
  EXPECT_EQ(csv_field("noatime,nodev"), "\"noatime,nodev\"");
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
  EXPECT_EQ(csv_field("-1+2"), "'-1+2");
  EXPECT_EQ(csv_field("@a\r\n\x1b[2J"), "'@a???[2J");
}

}  // namespace
}  // namespace workload
