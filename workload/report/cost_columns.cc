#include "workload/report/cost_columns.h"

#include "workload/measure/statistics.h"
#include "workload/report/summary.h"

namespace workload {

std::array<std::optional<double>, kCostColumns.size()> cell_costs(const CellResult& cell) {
  std::array<std::optional<double>, kCostColumns.size()> costs;
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i] = median_of(run_values(cell, kCostColumns[i].path));
  }
  return costs;
}

std::vector<std::string> cost_fields(
    const std::array<std::optional<double>, kCostColumns.size()>& costs) {
  std::vector<std::string> fields;
  for (size_t i = 0; i < costs.size(); ++i) {
    auto cost = costs[i];
    if (cost) *cost /= kCostColumns[i].unit;
    fields.push_back(figure_text(cost));
  }
  return fields;
}

}  // namespace workload
