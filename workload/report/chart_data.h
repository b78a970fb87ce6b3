// What the charts of report.html are drawn from.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <vector>

#include "workload/report/results.h"
#include "workload/report/summary.h"
#include "workload/report/trace_points.h"

namespace workload {

/// The trace of one cell as a line.
struct CellTrace {
  std::string name;
  std::vector<TracePoint> points;
};

/// Traces of the cells that have one, in the order of `rows`, as means over sixtieths of the
/// longest: single intervals are mostly noise.
std::vector<CellTrace> cell_traces(const std::filesystem::path& folder,
                                   const std::vector<SummaryRow>& rows, TraceAxis axis);

/// `percentiles[]{label,percent}`, `processes[]`, and in the order of `rows` `cells[]{name,
/// throughput{median,low,high}, by_time[][x,y], by_fill[][x,y], times{all[],hit[],miss[]},
/// cpu_us[]}`; figures that are not known are null.
boost::json::object chart_data(const std::filesystem::path& folder, const Results& results,
                               const std::vector<SummaryRow>& rows);

}  // namespace workload
