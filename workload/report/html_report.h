// report.html: one page that holds everything and opens offline.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "workload/report/figures.h"
#include "workload/report/page_files.h"
#include "workload/report/results.h"
#include "workload/report/summary.h"

namespace workload {

/// A figure with the picture that was drawn; `svg` is empty where it was not.
struct DrawnFigure {
  Figure figure;
  std::string svg;
};

/// What the page is about; it must outlive the call that takes it.
struct PageContent {
  const Results& results;
  const std::vector<SummaryRow>& rows;
  const std::vector<DrawnFigure>& figures;
  const boost::json::object& chart_data;  ///< See chart_data().
  std::string_view addition = {};         ///< HTML that stands behind the table.
};

/// The page: table, charts, percentiles, what limited each cell, what a request cost, what the
/// stores did, outcomes of mount options, warnings, skipped cells, experiment and environment. All
/// text of the results is escaped, nothing is loaded from elsewhere, and only the scripts of
/// `files` may run. Where these have no chart library the static figures stand in its place, and
/// the page says so.
std::string html_report(const PageContent& content, const PageFiles& files = page_files());

/// A whole page in the look of all pages; `body` is HTML already, `title` is not.
std::string html_document(std::string_view title, const std::string& body,
                          const PageFiles& files = page_files());

/// An SVG file as a part of a page: without its XML declaration and document type. Empty where the
/// text is no SVG, or where it holds a script.
std::string svg_for_page(std::string_view svg);

}  // namespace workload
