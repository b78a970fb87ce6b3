#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "workload/compare/ab_reports.h"
#include "workload/compare/comparison_text.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kHeader = std::string(ab_report_columns()) + "\n";

std::string ab_problem(const std::string& text) {
  const auto reports = parse_ab_reports(text, "f.csv");
  if (reports) return "";
  EXPECT_TRUE(reports.error().usage);
  return reports.error().text;
}

Comparison compared_ab(const std::vector<AbReport>& reports,
                       const std::set<std::string>& ignored = {}) {
  auto comparison = compare_ab_reports(reports, ignored);
  EXPECT_TRUE(comparison) << comparison.error().text;
  return comparison ? *comparison : Comparison{};
}

/// Sides by a part of what they say of themselves.
size_t side_of(const Comparison& comparison, const std::string& part) {
  for (size_t side = 0; side < comparison.sides.size(); ++side) {
    if (comparison.sides[side].source.find(part) != std::string::npos) return side;
  }
  ADD_FAILURE() << part;
  return 0;
}

std::string verdict_of(const Comparison& comparison, size_t first, size_t second) {
  for (const auto& row : comparison.rows) {
    if (row.first == first && row.second == second) return row.verdict;
  }
  return "no row";
}

TEST(CompareAb, TheSampleIsJudgedAsItsCommentsSay) {
  const auto reports = read_ab_reports(CACHEOFF_SOURCE_DIR "/tests/samples/ab-reports.csv");
  ASSERT_TRUE(reports) << reports.error().text;
  const auto comparison = compared_ab(*reports);
  ASSERT_THAT(comparison.sides, SizeIs(6));
  const size_t base = side_of(comparison, "System One");
  EXPECT_EQ(verdict_of(comparison, base, side_of(comparison, "System Two")),
            "B is 50.0 % faster [49.3, 50.7]");
  ASSERT_THAT(comparison.refused, SizeIs(1));
  EXPECT_EQ(difference_line(comparison.refused[0]),
            "bytes-per-response of 50000B-c10-n100000: A has 50000, C has 12500");
  EXPECT_EQ(verdict_of(comparison, side_of(comparison, "System Four, serverd 1.1, 1 worker, poll"),
                       side_of(comparison, "1 worker, default")),
            "not told apart: too few runs (1 of 6 needed)");
  EXPECT_THAT(comparison.unmatched, SizeIs(1));
  const auto ignoring = compared_ab(*reports, {"bytes-per-response"});
  EXPECT_THAT(ignoring.refused, IsEmpty());
  EXPECT_THAT(comparison_text(ignoring, false), HasSubstr("IGNORED, the work differs: bytes-per"));
}

TEST(CompareAb, ThePublishedRowsAreJudged) {
  const std::string file = CACHEOFF_SOURCE_DIR "/../shared/facts/ab-reports.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const auto reports = read_ab_reports(file);
  ASSERT_TRUE(reports) << reports.error().text;
  EXPECT_THAT(*reports, SizeIs(10));
  const auto comparison = compared_ab(*reports);
  const size_t freebsd = side_of(comparison, "FreeBSD 7.2");
  const size_t debian = side_of(comparison, "Debian 5.0 i386, nginx 1.0.6");
  EXPECT_EQ(verdict_of(comparison, freebsd, debian),
            "not told apart: too few runs (1 of 6 needed)");
  ASSERT_THAT(comparison.refused, SizeIs(1));
  EXPECT_EQ(comparison.refused[0].field, "bytes-per-response");
  EXPECT_EQ(comparison.refused[0].second, side_of(comparison, "CentOS"));
  EXPECT_EQ(comparison.refused[0].second_value, "14294");
  EXPECT_EQ(verdict_of(comparison, side_of(comparison, "2 workers, epoll"),
                       side_of(comparison, "use line removed")),
            "not told apart: too few runs (1 of 6 needed)");
}

TEST(CompareAb, ColumnsMayStandInAnyOrderAndFieldsBeQuoted) {
  const auto reports = parse_ab_reports(
      "# a comment\r\n\r\n"
      "server,operating_system,workers,event_method,document_bytes,concurrency,requests,seconds,"
      "requests_per_second,total_transferred,html_transferred,median_ms,max_ms\r\n"
      "\"a, \"\"b\"\"\",OS,,,1,1,1,,5,,,,\r\n",
      "f.csv");
  ASSERT_TRUE(reports) << reports.error().text;
  ASSERT_THAT(*reports, SizeIs(1));
  EXPECT_EQ(reports->front().server, "a, \"b\"");
  EXPECT_EQ(reports->front().line, 4U);
  EXPECT_FALSE(reports->front().median_ms);
}

TEST(CompareAb, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(ab_problem(""), HasSubstr("'f.csv': no line with the columns operating_system,"));
  EXPECT_THAT(ab_problem("a,b\n"), HasSubstr("'f.csv' line 1: column 'a' is unknown"));
  EXPECT_THAT(ab_problem("server\n"), HasSubstr("column operating_system is missing"));
  EXPECT_THAT(ab_problem(kHeader + "a,b\n"), HasSubstr("line 2: has 2 fields where 13 are named"));
  EXPECT_THAT(ab_problem(kHeader + "o,s,,,0,1,1,,5,,,,\n"),
              HasSubstr("document_bytes '0': must be a whole number above 0"));
  EXPECT_THAT(ab_problem(kHeader + "o,s,,,1,1,1,nan,5,,,,\n"), HasSubstr("seconds 'nan'"));
  EXPECT_THAT(ab_problem(kHeader + "o,s,,,1,1,1,,,,,,\n"),
              HasSubstr("requests_per_second '': must be a number above 0"));
  EXPECT_THAT(ab_problem(kHeader + "\"o,s,,,1,1,1,,5,,,,\n"), HasSubstr("a quoted field"));
  EXPECT_THAT(ab_problem(kHeader + ",s,,,1,1,1,,5,,,,\n"), HasSubstr("operating_system ''"));
  const auto alone =
      compare_ab_reports(*parse_ab_reports(kHeader + "o,s,,,1,1,1,,5,,,,\n", "f"), {});
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().text, HasSubstr("no two systems"));
  EXPECT_FALSE(compare_ab_reports({}, {"load"}));
}

TEST(CompareAb, RowsThatContradictThemselvesAreNoted) {
  const auto reports = parse_ab_reports(
      kHeader + "o,s,,,1000,1,100,1,100,,50000,,\n" + "p,s,,,1000,1,100,1,250,,50000,,\n", "f");
  ASSERT_TRUE(reports);
  EXPECT_THAT(compared_ab(*reports).notes,
              ElementsAre("A got 500.0 bytes a response, and its document has 1000",
                          "B got 500.0 bytes a response, and its document has 1000",
                          "B, line 3: requests_per_second is not requests by seconds (100.0)"));
}

}  // namespace
}  // namespace workload
