#include <cmath>
#include <set>
#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/compare/ab_reports.h"
#include "workload/compare/comparison_text.h"

namespace testing_support {
namespace {

void run(std::string_view input) {
  const auto reports = workload::parse_ab_reports(input, "f.csv");
  if (!reports) {
    require(reports.error().usage, "a bad file is the user's");
    require(reports.error().text.find('\n') == std::string::npos, "a reason is one line");
    return;
  }
  require(reports->size() <= 10'000, "rows are bounded");
  for (const auto& report : *reports) {
    require(report.requests > 0 && report.document_bytes > 0, "counts are above 0");
    require(std::isfinite(report.requests_per_second) && report.requests_per_second > 0,
            "a rate is a number above 0");
    require(report.server.size() <= 200, "texts are bounded");
  }
  const auto comparison = workload::compare_ab_reports(*reports, {});
  if (!comparison) return;
  const std::string text = workload::comparison_text(*comparison, false);
  require(text.find('\x1b') == std::string::npos, "nothing foreign reaches a terminal");
  require(text.find("nan") == std::string::npos || input.find("nan") != std::string::npos,
          "no figure is nan");
  workload::comparison_csv(*comparison);
}

}  // namespace

FuzzTarget ab_reports_target() {
  return {"ab_reports",
          run,
          {"# c\noperating_system,server,workers,event_method,document_bytes,concurrency,requests,"
           "seconds,requests_per_second,total_transferred,html_transferred,median_ms,max_ms\n"
           "a,\"b, \"\"c\"\"\",1,poll,500,10,1000,2.5,400,525000,500000,2,18\n"
           "d,e,,,500,10,1000,,410.5,,,,\nd,e,,,500,10,1000,,411,,125000,0,\n",
           "server,operating_system\n\"\"\"\n"}};
}

}  // namespace testing_support
