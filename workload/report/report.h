// Everything that is drawn from a result folder's data.
#pragma once

#include <filesystem>
#include <string>

#include "workload/experiment/expected.h"
#include "workload/report/results.h"

namespace workload {

/// What was written.
struct ReportFiles {
  std::string table;  ///< Content of summary.txt.
  std::filesystem::path page;
};

/// What others have to say of the same results.
struct ReportAddition {
  std::string text;  ///< Behind the tables of summary.txt.
  std::string html;  ///< A section of report.html.
};

/// Writes summary.csv, summary.txt, figures/ and report.html into the folder from the results and
/// the cells' data that lie there. Without gnuplot the scripts are written, and summary and page
/// say that there are no pictures.
Expected<ReportFiles> write_report(const std::filesystem::path& folder, const Results& results,
                                   const ReportAddition& addition = {});

}  // namespace workload
