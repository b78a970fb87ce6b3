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

/// CPU time of a process in microseconds over the requests of the run: those of the proxy's own
/// log, else those of the robots. Median over the runs that count; nothing where none says.
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
