#include "workload/report/chart_data.h"

#include <algorithm>

#include "workload/report/json_text.h"
#include "workload/report/request_cost.h"
#include "workload/report/response_percentiles.h"

namespace workload {
namespace {

/// Points of a line over the longest run.
constexpr double kTraceParts = 60;

boost::json::array line_of(const std::vector<CellTrace>& traces, const std::string& name) {
  boost::json::array line;
  const auto trace = std::find_if(traces.begin(), traces.end(),
                                  [&](const CellTrace& known) { return known.name == name; });
  if (trace == traces.end()) return line;
  for (const auto& point : trace->points) {
    line.push_back(boost::json::array{json_number(point.place), json_number(point.throughput_rps)});
  }
  return line;
}

boost::json::array times_of(const CellResult& cell, ResponsePart part) {
  boost::json::array times;
  for (const auto& time : response_percentiles(cell, part)) times.push_back(json_number(time));
  return times;
}

}  // namespace

std::vector<CellTrace> cell_traces(const std::filesystem::path& folder,
                                   const std::vector<SummaryRow>& rows, TraceAxis axis) {
  std::vector<CellTrace> traces;
  double longest = 0;
  for (const auto& row : rows) {
    auto points = read_trace_points(folder / "cells" / row.name / "trace.csv", axis);
    if (points.empty() || !(points.back().place > 0)) continue;
    longest = std::max(longest, points.back().place);
    traces.push_back({row.name, std::move(points)});
  }
  for (auto& trace : traces) trace.points = average_points(trace.points, longest / kTraceParts);
  return traces;
}

boost::json::object chart_data(const std::filesystem::path& folder, const Results& results,
                               const std::vector<SummaryRow>& rows) {
  boost::json::array percentiles;
  for (const auto& percentile : kShownPercentiles) {
    percentiles.push_back({{"label", percentile.label}, {"percent", percentile.percent}});
  }
  const auto by_time = cell_traces(folder, rows, TraceAxis::kTime);
  const auto by_fill = cell_traces(folder, rows, TraceAxis::kFill);
  boost::json::array cells;
  for (const auto& row : rows) {
    const CellResult* cell = find_cell(results, row.name);
    if (cell == nullptr) continue;
    boost::json::array cpu_us;
    for (const auto process : kProcesses) {
      cpu_us.push_back(json_number(cpu_us_per_request(*cell, process)));
    }
    cells.push_back({{"name", row.name},
                     {"throughput",
                      {{"median", json_number(row.throughput_rps.median)},
                       {"low", json_number(row.throughput_rps.low)},
                       {"high", json_number(row.throughput_rps.high)}}},
                     {"by_time", line_of(by_time, row.name)},
                     {"by_fill", line_of(by_fill, row.name)},
                     {"times",
                      {{"all", times_of(*cell, ResponsePart::kAll)},
                       {"hit", times_of(*cell, ResponsePart::kHits)},
                       {"miss", times_of(*cell, ResponsePart::kMisses)}}},
                     {"cpu_us", std::move(cpu_us)}});
  }
  return {{"percentiles", std::move(percentiles)},
          {"processes", boost::json::array(kProcesses.begin(), kProcesses.end())},
          {"cells", std::move(cells)}};
}

}  // namespace workload
