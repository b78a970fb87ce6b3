#include "workload/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "tests/support/fabricated_results.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/measure/series.h"
#include "workload/report/figures.h"
#include "workload/report/html_report.h"
#include "workload/report/json_text.h"

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

  void hide_gnuplot() { setenv("PATH", folder_.path().c_str(), 1); }

  std::string path_ = getenv("PATH") == nullptr ? "" : getenv("PATH");

  TempDir folder_;
  Results results_ =
      fabricated_results({fabricated_cell("memory", {200, 201, 202, 203, 204, 205}),
                          fabricated_cell("ufs-here", {100, 101, 102, 103, 104, 105})});
};

TEST_F(ReportTest, FiguresHaveScriptsAndData) {
  const auto figures = make_figures(folder_.path(), results_, summarise(results_));
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_THAT(figures[0].script,
              AllOf(HasSubstr("strcol(1) eq 'memory'"), HasSubstr("strcol(1) eq 'ufs-here'")));
  EXPECT_THAT(figures[0].data, HasSubstr("cell,place,throughput\nmemory,1.000000,10.000000\n"));
  EXPECT_THAT(figures[1].data, HasSubstr("percentile,memory,ufs-here\n1,1.000000,1.000000\n"));
  EXPECT_THAT(figures[2].data, HasSubstr("1,memory,202.5"));
}

TEST_F(ReportTest, AFillIsDrawnOverItsRatio) {
  results_.experiment["until"] = "fill=2.0";
  const auto figures = make_figures(folder_.path(), results_, summarise(results_));
  EXPECT_THAT(figures[0].script, HasSubstr("fill traffic"));
  EXPECT_THAT(figures[0].data, HasSubstr("memory,0.100000,10.000000\nmemory,0.200000,12.000000"));
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
  for (const auto* name : {"throughput", "throughput_trace", "response_time_percentiles"}) {
    EXPECT_THAT(text_of(folder_ / ("figures/" + std::string(name) + ".svg")), HasSubstr("</svg>"));
    EXPECT_THAT(text_of(folder_ / ("figures/" + std::string(name) + ".png")), HasSubstr("PNG"));
  }
  const std::string page = text_of(files->page);
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), Not(HasSubstr("<?xml")), Not(HasSubstr("<script"))));
}

TEST_F(ReportTest, WithoutGnuplotTheScriptsAreThereAndTheLackIsSaid) {
  hide_gnuplot();
  const auto files = write_report(folder_.path(), results_);
  ASSERT_TRUE(files) << files.error().text;
  EXPECT_THAT(files->table, HasSubstr("gnuplot is not installed"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "figures/throughput.gp"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "figures/throughput.svg"));
  EXPECT_THAT(text_of(files->page), HasSubstr("Pictures were not drawn"));
}

TEST_F(ReportTest, ThePageIsSelfContainedAndEscaped) {
  auto& cell = results_.cells[0];
  cell.scheme = "<b>\"bold\" & 'more'</b>";
  cell.runs[0]["warnings"] = boost::json::array{"<script>alert(1)</script>"};
  results_.skipped.push_back({"x", "</ul><img src=http://elsewhere/>"});
  const std::string page = html_report(results_, summarise(results_), {});
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&quot;bold&quot; &amp; &#39;more&#39;&lt;/b&gt;"));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<b>\"")),
                          Not(HasSubstr("<img")), Not(HasSubstr("src=\"http"))));
  EXPECT_THAT(page, HasSubstr("A &lt;CPU&gt; &amp; more"));
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
