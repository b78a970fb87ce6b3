#include "workload/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>

#include "tests/support/fabricated_results.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/measure/series.h"
#include "workload/report/chart_data.h"
#include "workload/report/figures.h"
#include "workload/report/html_report.h"
#include "workload/report/html_text.h"
#include "workload/report/json_text.h"
#include "workload/report/response_percentiles.h"

namespace workload {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::fabricated_cell;
using testing_support::fabricated_results;
using testing_support::TempDir;

std::string text_of(const std::filesystem::path& path) {
  auto text = read_file(path, 1 << 24);
  return text ? *text : "";
}

/// A result folder with two cells and their traces.
class ReportTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& cell : results_.cells) {
      const auto folder = folder_ / "cells" / cell.name;
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "trace.csv")
          << kTraceHeader
          << "\n1,0.1,10,10,1,1,1,50,50,0,0,0,run\n2,0.2,10,12,1,1,1,50,50,0,0,0,run\n";
    }
  }

  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  /// The figure of that name; an empty one where there is none.
  Figure figure_named(const std::string& name) {
    for (auto& figure : make_figures(folder_.path(), results_, summarise(results_))) {
      if (figure.name == name) return figure;
    }
    ADD_FAILURE() << "no figure " << name;
    return {};
  }

  /// The page of the results, without the folder's figures.
  std::string page(const PageFiles& files = page_files()) {
    const auto rows = summarise(results_);
    const auto data = chart_data(folder_.path(), results_, rows);
    return html_report({results_, rows, figures_, data}, files);
  }

  void hide_gnuplot() { setenv("PATH", folder_.path().c_str(), 1); }

  std::string path_ = getenv("PATH") == nullptr ? "" : getenv("PATH");

  TempDir folder_;
  Results results_ =
      fabricated_results({fabricated_cell("memory", {200, 201, 202, 203, 204, 205}),
                          fabricated_cell("ufs-here", {100, 101, 102, 103, 104, 105})});
  std::vector<DrawnFigure> figures_;
};

PageFiles without_chart_library() {
  PageFiles files = page_files();
  files.chart_library = {};
  return files;
}

TEST_F(ReportTest, FiguresHaveScriptsAndData) {
  const auto figures = make_figures(folder_.path(), results_, summarise(results_));
  ASSERT_EQ(figures.size(), 6U);
  EXPECT_THAT(figure_named("throughput_trace").script,
              AllOf(HasSubstr("strcol(1) eq 'memory'"), HasSubstr("strcol(1) eq 'ufs-here'")));
  EXPECT_THAT(figure_named("throughput").data, HasSubstr("1,memory,202.5"));
  for (const char* name : {"response_time_percentiles", "hit_response_time_percentiles",
                           "miss_response_time_percentiles"}) {
    EXPECT_THAT(
        figure_named(name).data,
        AllOf(HasSubstr("percent,place,memory,ufs-here\n50.00,0.301030,1.000000,1.000000\n"),
              HasSubstr("\n99.99,4.000000,5.500000,5.500000\n")))
        << name;
  }
  EXPECT_THAT(figure_named("hit_ratio").data,
              HasSubstr("place,cell,median,low,high,offered\n1,memory,55.500000,55.500000,"
                        "55.500000,56.000000\n"));
}

TEST_F(ReportTest, TheTraceIsDrawnOverFillVolume) {
  const auto figure = figure_named("throughput_trace");
  EXPECT_THAT(figure.script, HasSubstr("fill volume / cache size"));
  EXPECT_THAT(figure.data, HasSubstr("memory,0.100000,10.000000\nmemory,0.200000,12.000000"));
}

TEST_F(ReportTest, TheTraceIsDrawnOverTimeWhereTheFillIsNotKnown) {
  for (const auto& cell : results_.cells) {
    std::ofstream(folder_ / ("cells/" + cell.name + "/trace.csv"))
        << kTraceHeader << "\n1,,10,10,1,1,1,50,50,0,0,0,run\n2,,10,12,1,1,1,50,50,0,0,0,run\n";
  }
  const auto figure = figure_named("throughput_trace");
  EXPECT_THAT(figure.script, HasSubstr("time since the start, s"));
  EXPECT_THAT(figure.data, HasSubstr("memory,1.000000,10.000000\nmemory,2.000000,12.000000"));
}

TEST_F(ReportTest, APercentileOfTooFewResponsesIsNotShown) {
  for (auto& run : results_.cells[0].runs) {
    run["good"] = 1000;
    run["hits"] = 50;
  }
  const auto all = response_percentiles(results_.cells[0], ResponsePart::kAll);
  EXPECT_EQ(all[4], 5.0) << "99.9 % of 1000";
  EXPECT_EQ(all[5], std::nullopt) << "99.99 % of 1000";
  const auto hits = response_percentiles(results_.cells[0], ResponsePart::kHits);
  EXPECT_EQ(hits[2], 3.0) << "95 % of 50";
  EXPECT_EQ(hits[3], std::nullopt) << "99 % of 50";
}

TEST_F(ReportTest, CellsWithoutResultAreNotDrawn) {
  results_.cells.push_back(fabricated_cell("none", {}));
  for (const auto& figure : make_figures(folder_.path(), results_, summarise(results_))) {
    EXPECT_THAT(figure.script, Not(HasSubstr("none/"))) << figure.name;
    EXPECT_THAT(figure.data, Not(HasSubstr("none"))) << figure.name;
  }
  EXPECT_TRUE(make_figures(folder_.path(), fabricated_results({fabricated_cell("none", {})}),
                           summarise(fabricated_results({fabricated_cell("none", {})})))
                  .empty());
}

TEST_F(ReportTest, WritesEveryFile) {
  const bool has_gnuplot = testing_support::command_exists("gnuplot");
  const auto files = write_report(folder_.path(), results_);
  ASSERT_TRUE(files) << files.error().text;
  for (const auto* name :
       {"summary.csv", "summary.txt", "report.html", "figures/throughput.gp",
        "figures/throughput.csv", "figures/throughput_trace.gp", "figures/throughput_trace.csv",
        "figures/response_time_percentiles.gp"}) {
    EXPECT_FALSE(text_of(folder_ / name).empty()) << name;
  }
  EXPECT_EQ(text_of(folder_ / "summary.txt"), files->table);
  if (!has_gnuplot) GTEST_SKIP() << "gnuplot is not installed";
  for (const auto* name :
       {"throughput", "throughput_trace", "response_time_percentiles",
        "hit_response_time_percentiles", "miss_response_time_percentiles", "hit_ratio"}) {
    EXPECT_THAT(text_of(folder_ / ("figures/" + std::string(name) + ".svg")), HasSubstr("</svg>"));
    EXPECT_THAT(text_of(folder_ / ("figures/" + std::string(name) + ".png")), HasSubstr("PNG"));
  }
  EXPECT_THAT(text_of(files->page), AllOf(HasSubstr("<svg"), Not(HasSubstr("<?xml"))));
}

TEST_F(ReportTest, WithoutGnuplotTheScriptsAreThereAndTheLackIsSaid) {
  hide_gnuplot();
  const auto files = write_report(folder_.path(), results_);
  ASSERT_TRUE(files) << files.error().text;
  EXPECT_THAT(files->table, HasSubstr("gnuplot is not installed"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "figures/throughput.gp"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "figures/throughput.svg"));
  if (page_files().chart_library.text.empty()) {
    EXPECT_THAT(text_of(files->page), HasSubstr("Pictures were not drawn"));
  }
}

TEST_F(ReportTest, ThePageIsSelfContainedAndEscaped) {
  auto& cell = results_.cells[0];
  cell.scheme = "<b>\"bold\" & 'more'</b>";
  cell.runs[0]["warnings"] = boost::json::array{"</script><script>alert(1)</script>"};
  cell.runs[0]["mount_option_outcomes"] =
      boost::json::array{{{"option", "<i>o"}, {"outcome", "<i>w"}, {"became", "<i>b"}}};
  cell.runs[0]["per_request"] = {{"<i>key", 1.0}};
  results_.skipped.push_back({"x", "</ul><img src=http://elsewhere/>"});
  results_.experiment["<i>path"] = "<i>value";
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("&lt;b&gt;&quot;bold&quot; &amp; &#39;more&#39;&lt;/b&gt;"));
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("<script>alert")), Not(HasSubstr("<b>\"")), Not(HasSubstr("<img")),
                  Not(HasSubstr("src=\"http")), Not(HasSubstr("<i>"))));
  EXPECT_THAT(text, HasSubstr("A &lt;CPU&gt; &amp; more"));
  EXPECT_THAT(text, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("script-src 'unsafe"))));
}

TEST_F(ReportTest, DataOfChartsCannotLeaveItsElement) {
  const std::string json = json_for_page("{\"a\":\"</script><!--<script>&\"}");
  EXPECT_THAT(json, AllOf(Not(HasSubstr("<")), Not(HasSubstr(">")), Not(HasSubstr("&"))));
  EXPECT_EQ(boost::json::parse(json).at("a").as_string(), "</script><!--<script>&");
}

TEST_F(ReportTest, ChartsAreDrawnFromTheSameFiguresAsTheTable) {
  const auto data = chart_data(folder_.path(), results_, summarise(results_));
  const auto& cell = data.at("cells").at(0);
  EXPECT_EQ(cell.at("name").as_string(), "memory");
  EXPECT_EQ(cell.at("throughput").at("median").as_double(), 202.5);
  EXPECT_EQ(boost::json::serialize(cell.at("by_fill")), "[[1E-1,1E1],[2E-1,1.2E1]]");
  EXPECT_EQ(boost::json::serialize(cell.at("by_time")), "[[1E0,1E1],[2E0,1.2E1]]");
  EXPECT_EQ(boost::json::serialize(cell.at("times").at("hit")), "[1E0,2E0,3E0,4E0,5E0,5.5E0]");
}

TEST_F(ReportTest, ALibraryOfChartsIsKeptWithItsLicense) {
  if (page_files().chart_library.text.empty()) GTEST_SKIP() << "libjs-chart.js is not installed";
  const std::string text = page();
  EXPECT_THAT(text, AllOf(HasSubstr("Released under the MIT License"), HasSubstr("<canvas"),
                          HasSubstr("id=\"report-data\""), Not(HasSubstr("sourceMappingURL"))));
}

TEST_F(ReportTest, WithoutALibraryOfChartsTheFiguresAreStatic) {
  figures_.push_back({figure_named("throughput_trace"), "<svg id='drawn'></svg>"});
  const std::string text = page(without_chart_library());
  EXPECT_THAT(text, AllOf(HasSubstr("libjs-chart.js"), HasSubstr("<svg id='drawn'>"),
                          Not(HasSubstr("<canvas")), Not(HasSubstr("id=\"report-data\""))));
  figures_.back().svg.clear();
  EXPECT_THAT(page(without_chart_library()), HasSubstr("Pictures were not drawn"));
}

TEST_F(ReportTest, OutcomesOfMountOptionsAreCountedOverTheRuns) {
  auto& cell = results_.cells[1];
  for (auto& run : cell.runs) {
    run["mount_options_in_force"] = "rw,noatime";
    run["mount_option_outcomes"] =
        boost::json::array{{{"option", "noatime"}, {"outcome", "effective"}, {"became", nullptr}}};
  }
  EXPECT_THAT(page(), HasSubstr("<td>noatime</td><td>effective</td><td>-</td><td class=\"n\">6</td>"
                                "<td>rw,noatime</td>"));
  for (auto& run : cell.runs) run.erase("mount_option_outcomes");
  EXPECT_THAT(page(), Not(HasSubstr("What became of the mount options")));
}

TEST(HtmlReport, OnlyPlainPicturesAreTakenIn) {
  EXPECT_EQ(svg_for_page("<?xml version='1.0'?>\n<svg a='1'><g/></svg>\n"),
            "<svg a='1'><g/></svg>");
  EXPECT_EQ(svg_for_page("<svg><script>x</script></svg>"), "");
  EXPECT_EQ(svg_for_page("</svg><svg>"), "");
  EXPECT_EQ(svg_for_page(""), "");
}

TEST(Figures, QuotesForGnuplot) {
  EXPECT_EQ(gnuplot_quoted("it's\nhere"), "'it''s here'");
}

}  // namespace
}  // namespace workload
