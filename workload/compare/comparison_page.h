// The folder that a comparison can be written to: data, text, figure and page.
#pragma once

#include <filesystem>
#include <string>

#include "workload/compare/comparison.h"
#include "workload/experiment/expected.h"
#include "workload/report/figures.h"

namespace workload {

/// All ratios with their intervals, one below the other; without a ratio its script is empty.
Figure ratios_figure(const Comparison& comparison);

/// compare.html: sides, environment, table and figure; opens offline. `svg` may be empty.
std::string comparison_page(const Comparison& comparison, const std::string& svg);

/// Writes compare.json, compare.csv, compare.txt, compare.html and figures/ratios.* to the folder,
/// which is made where it is missing. Returns a line about pictures that could not be drawn, or
/// nothing. A Problem where a file can't be written.
Expected<std::string> write_comparison(const std::filesystem::path& folder,
                                       const Comparison& comparison);

}  // namespace workload
