// report.html: one page that holds everything and opens offline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/report/figures.h"
#include "workload/report/results.h"
#include "workload/report/summary.h"

namespace workload {

/// A figure with the picture that was drawn; `svg` is empty where it was not.
struct DrawnFigure {
  Figure figure;
  std::string svg;
};

/// The page: table, figures, what limited each cell, warnings, skipped cells, environment and
/// experiment. No scripts and nothing loaded from elsewhere; all text is escaped.
std::string html_report(const Results& results, const std::vector<SummaryRow>& rows,
                        const std::vector<DrawnFigure>& figures);

/// A whole page in the look of all pages; `body` is HTML already, `title` is not.
std::string html_document(std::string_view title, const std::string& body);

/// Text as HTML shows it: `&`, `<`, `>` and both quotes become entities, other control characters
/// than tabs and line breaks become spaces.
std::string html_escape(std::string_view text);

/// An SVG file as a part of a page: without its XML declaration and document type. Empty where the
/// text is no SVG, or where it holds a script.
std::string svg_for_page(std::string_view svg);

}  // namespace workload
