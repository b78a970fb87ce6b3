// report.html in a real browser: it opens offline, shows what the results say, and obeys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "tests/support/browser.h"
#include "tests/support/fabricated_results.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/measure/series.h"
#include "workload/report/json_text.h"
#include "workload/report/page_files.h"
#include "workload/report/results.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing_support::Browser;
using testing_support::fabricated_cell;

constexpr const char* kHostile = "</script><script>document.title='taken over'</script>";
constexpr const char* kHostileImage = "<img src='http://127.0.0.1:9/x' onerror=\"alert(1)\">";

/// How many processes still run with `text` in their command line.
size_t processes_with(const std::string& text) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    const std::string line(std::istreambuf_iterator<char>(in), {});
    count += line.find(text) != std::string::npos;
  }
  return count;
}

/// Waits until it is so, or half a minute.
void wait_until(const std::function<bool()>& is_so) {
  for (int attempt = 0; attempt < 600 && !is_so(); ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

class ReportPage : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = Browser::missing(); !missing.empty()) GTEST_SKIP() << missing;
    if (workload::page_files().chart_library.text.empty()) {
      GTEST_SKIP() << "libjs-chart.js was not there when this was built";
    }
    write_results();
    const auto drawn = testing_support::run_command(
        {testing_support::program_path("cacheoff"), "report", results_.path().string()});
    ASSERT_EQ(drawn.exit_status, 0) << drawn.err;
    browser_.emplace(profile_.path());
    browser_->requested();
  }

  void TearDown() override {
    browser_.reset();
    // Its children go on their own once it has.
    wait_until([&] { return processes_with(profile_.path().string()) == 0; });
    EXPECT_EQ(processes_with(profile_.path().string()), 0U) << "a browser is left";
  }

  /// Three cells: the slowest is the quickest to respond and hostile in every text.
  void write_results() {
    auto results = testing_support::fabricated_results(
        {fabricated_cell("memory", {200, 201, 202, 203, 204, 205}),
         fabricated_cell("ufs-here", {100, 101, 102, 103, 104, 105}),
         fabricated_cell("coss-here", {50, 51, 52, 53, 54, 55})});
    auto& hostile = results.cells[2];
    hostile.mount_options = kHostile;
    for (auto& run : hostile.runs) {
      run["response_time_ms"].as_object()["mean"] = 1.25;
      run["warnings"] = boost::json::array{kHostile, kHostileImage};
      run["limited_by"] = kHostileImage;
      run["valid"] = false;
      run["per_request"] = {{kHostileImage, 1}};
    }
    results.warnings.emplace_back(kHostile);
    results.skipped.push_back({kHostile, kHostileImage});
    results.environment[kHostileImage] = kHostile;
    results.experiment["until"] = kHostileImage;
    for (const auto& cell : results.cells) {
      const auto folder = results_ / ("cells/" + cell.name);
      std::filesystem::create_directories(folder);
      std::ofstream trace(folder / "trace.csv");
      trace << workload::kTraceHeader << '\n';
      for (int second = 1; second <= 20; ++second) {
        trace << second << ',' << second * 0.1 << ",10," << 100 + second
              << ",1,1,1,50,50,0,0,0,run\n";
      }
    }
    ASSERT_TRUE(workload::write_file(results_ / "results.json",
                                     workload::to_pretty_json(workload::results_to_json(results))));
  }

  void open(unsigned width, bool mobile) {
    browser_->set_size(width, 900, mobile);
    browser_->open(results_ / "report.html");
  }

  std::string text(const std::string& script) {
    const auto value = browser_->run("return " + script);
    return value.is_string() ? std::string(value.get_string()) : boost::json::serialize(value);
  }

  /// The schemes of the rows, as they stand.
  std::string schemes() {
    return text(
        "Array.from(document.querySelectorAll('#results tbody th'), e => e.textContent).join(' ')");
  }

  void click(const std::string& selector) {
    browser_->run("document.querySelector(\"" + selector + "\").click()");
  }

  testing_support::TempDir results_;
  testing_support::TempDir profile_;
  std::optional<Browser> browser_;
};

TEST_F(ReportPage, OpensOfflineWithoutAnErrorWhateverTheResultsSay) {
  for (const unsigned width : {1280U, 390U}) {
    open(width, width < 500);
    EXPECT_EQ(text("document.title"), "cacheoff report");
    EXPECT_EQ(text("String(innerWidth)"), std::to_string(width));
    EXPECT_EQ(text("String(document.scripts.length)"), "3") << "data, library, script";
    EXPECT_EQ(text("String(document.images.length)"), "0");
    EXPECT_THAT(text("document.body.textContent"), HasSubstr(kHostile)) << "shown as it is";
    EXPECT_EQ(text("String(document.documentElement.scrollWidth <= innerWidth)"), "true")
        << text("document.documentElement.scrollWidth") << " wide at " << width;
    EXPECT_EQ(text("String(performance.getEntriesByType('resource').length)"), "0");
    EXPECT_THAT(browser_->console(), IsEmpty());
    const auto requested = browser_->requested();
    EXPECT_THAT(requested, Not(IsEmpty()));
    for (const auto& address : requested) {
      EXPECT_THAT(address, testing::AnyOf(StartsWith("file://"), StartsWith("data:")));
    }
  }
}

TEST_F(ReportPage, AScriptThatIsPutInDoesNotRun) {
  const auto page = results_ / "report.html";
  auto whole = workload::read_file(page, 1 << 24);
  ASSERT_TRUE(whole);
  ASSERT_TRUE(workload::write_file(page, *whole + kHostile));
  open(1280, false);
  EXPECT_EQ(text("document.title"), "cacheoff report");
  EXPECT_THAT(browser_->console(), ElementsAre(HasSubstr("Content Security Policy")));
}

TEST_F(ReportPage, TheTableShowsTheFiguresAndSorts) {
  open(1280, false);
  const std::string cell = "document.querySelector('#results tbody tr').cells";
  EXPECT_THAT(text(cell + "[3].textContent"), StartsWith("202.5"));
  EXPECT_EQ(text(cell + "[5].dataset.value"), "55.5");
  EXPECT_EQ(schemes(), "memory ufs coss") << "highest throughput first";
  EXPECT_EQ(text("document.querySelector('#results tr.invalid .mark').textContent"), "!");
  const auto head = [](int column) {
    return "#results thead th:nth-child(" + std::to_string(column) + ") button";
  };
  click(head(4));
  EXPECT_EQ(schemes(), "coss ufs memory") << "lowest throughput first";
  click(head(1));
  EXPECT_EQ(schemes(), "coss memory ufs") << "by name";
  click(head(5));
  EXPECT_EQ(schemes(), "ufs memory coss") << "longest response time first";
  EXPECT_EQ(text("document.querySelectorAll('#results [aria-sort]').length"), "1");
  browser_->run("document.querySelector('" + head(5) + "').focus()");
  browser_->press("Enter");
  EXPECT_EQ(schemes(), "coss memory ufs") << "the same column turned round, by key";
}

TEST_F(ReportPage, CellsOfTheTraceAreSwitchedAndItsAxisChosen) {
  open(1280, false);
  const std::string chart = "Chart.getChart(document.querySelector('#chart-trace canvas'))";
  EXPECT_EQ(text(chart + ".getVisibleDatasetCount()"), "3");
  click("#chart-trace [data-cell='ufs-here']");
  EXPECT_EQ(text(chart + ".getVisibleDatasetCount()"), "2");
  EXPECT_EQ(text("document.querySelector(\"[data-cell='ufs-here']\").getAttribute('aria-pressed')"),
            "false");
  click("#chart-trace [data-cell='ufs-here']");
  EXPECT_EQ(text(chart + ".getVisibleDatasetCount()"), "3");
  EXPECT_EQ(text(chart + ".data.datasets[0].data[19].x.toFixed(3)"), "2.000") << "cache sizes";
  click("#chart-trace [data-choice='time']");
  EXPECT_EQ(text(chart + ".data.datasets[0].data[19].x.toFixed(3)"), "20.000") << "seconds";
  EXPECT_EQ(text(chart + ".data.datasets[0].data[19].y.toFixed(3)"), "120.000");
  browser_->run("document.querySelector('#chart-trace canvas').focus()");
  browser_->press("ArrowRight");
  EXPECT_THAT(text("document.querySelector('#chart-trace .readout').textContent"),
              HasSubstr("ufs-here: 101.0/s"));
  EXPECT_THAT(browser_->console(), IsEmpty());
}

TEST_F(ReportPage, TheMouseShowsTheValuesOfEachCell) {
  open(1280, false);
  browser_->run(
      "const canvas = document.querySelector('#chart-trace canvas');"
      "const box = canvas.getBoundingClientRect();"
      "canvas.dispatchEvent(new MouseEvent('mousemove', {bubbles: true,"
      "  clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));");
  const std::string tooltip =
      "Chart.getChart(document.querySelector('#chart-trace canvas')).tooltip";
  wait_until([&] { return text("String(" + tooltip + ".opacity)") == "1"; });
  EXPECT_EQ(text(tooltip + ".body.length"), "3");
  EXPECT_THAT(text(tooltip + ".title[0]"), HasSubstr("fill volume / cache size"));
  EXPECT_THAT(text(tooltip + ".body[0].lines[0]"), HasSubstr("/s"));
}

TEST_F(ReportPage, ChartsShowHitsAndMissesAndCosts) {
  open(390, true);
  const std::string chart = "Chart.getChart(document.querySelector('#chart-percentiles canvas'))";
  EXPECT_EQ(text(chart + ".data.datasets[0].data.length"), "6");
  click("#chart-percentiles [data-choice='miss']");
  EXPECT_EQ(text(chart + ".data.datasets[0].data[5].y"), "5.5E0");
  for (const char* id : {"trace", "throughput", "percentiles", "processors"}) {
    const std::string section = "document.getElementById('chart-" + std::string(id) + "')";
    EXPECT_EQ(text("String(" + section + ".hidden)"), "false") << id;
    EXPECT_NE(text("String(" + section + ".querySelector('canvas').clientHeight)"), "0") << id;
  }
  EXPECT_THAT(browser_->console(), IsEmpty());
}

}  // namespace
