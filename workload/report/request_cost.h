// What a request cost a cell: CPU time by process, operations of the disk, and what else its runs
// say.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/report/results.h"

namespace workload {

/// The processes of a run, by their keys in `cpu_s`.
inline constexpr std::array<std::string_view, 4> kProcesses{"proxy", "helper", "load", "origin"};

/// The requests over which a run's counters of `cpu_s` (but for the load's), `disk` and `helper`
/// are: what the run says (`counted_requests`), else those of the proxy's own log, else those of
/// the robots; nothing where there were none.
std::optional<double> counted_requests(const boost::json::object& run);

/// CPU time of a process in microseconds over the counted requests; that of the load is over all
/// that the proxy logged, as its counter covers the whole load. Median over the runs that count;
/// nothing where none says.
std::optional<double> cpu_us_per_request(const CellResult& cell, std::string_view process);

/// One column of the table of costs.
struct RequestCost {
  std::string title;                          ///< With its unit; may be foreign text.
  std::vector<std::optional<double>> values;  ///< One a cell, in the order of the cells given.
};

/// The columns of which any cell says something. A run's own figures (`per_request`) go before
/// those that are derived here; figures of it that are not known by name come last, by their keys.
std::vector<RequestCost> request_costs(const std::vector<const CellResult*>& cells);

}  // namespace workload
