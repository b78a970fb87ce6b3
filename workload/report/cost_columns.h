// What the requests of each cell cost, as columns of the tables and of summary.csv.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/report/results.h"

namespace workload {

/// One figure of a cell's runs.
struct CostColumn {
  std::string_view path;       ///< In a run of results.json.
  std::string_view csv_title;  ///< In summary.csv.
  std::string_view title;      ///< In the tables.
  double unit = 1;             ///< The tables show the figure divided by it.
};

/// In the order of the columns.
inline constexpr std::array<CostColumn, 11> kCostColumns{{
    {"per_request.cpu_us", "cpu_us_per_request", "cpu_us", 1},
    {"per_request.context_switches", "context_switches_per_request", "ctxsw", 1},
    {"per_request.page_faults", "page_faults_per_request", "faults", 1},
    {"per_request.disk_reads", "disk_reads_per_request", "reads", 1},
    {"per_request.disk_writes", "disk_writes_per_request", "writes", 1},
    {"per_request.disk_read_bytes", "disk_read_bytes_per_request", "rd_KiB", 1024},
    {"per_request.disk_write_bytes", "disk_write_bytes_per_request", "wr_KiB", 1024},
    {"disk_write_amplification", "disk_write_amplification", "ampl", 1},
    {"page_cache_hit_percent", "page_cache_hit", "cache_%", 1},
    {"memory.peak_bytes", "memory_peak_bytes", "mem_MiB", 1024.0 * 1024.0},
    {"per_request.response_bytes", "response_bytes_per_request", "re_KiB", 1024},
}};

/// Medians over the runs that count, in the order and units of kCostColumns without dividing;
/// nothing where no run says.
std::array<std::optional<double>, kCostColumns.size()> cell_costs(const CellResult& cell);

/// Fields of the tables for what cell_costs() gave.
std::vector<std::string> cost_fields(
    const std::array<std::optional<double>, kCostColumns.size()>& costs);

}  // namespace workload
