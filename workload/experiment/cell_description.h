// What is written down of a cell before it has run.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/report/results.h"

namespace workload {

/// What the cell's caches lie on: `native`, the modelled disk's profile by its name, or the real
/// devices by their paths.
std::string device_name(const CellPlan& cell, const ExperimentOptions& options);

/// The cell's result before its first run.
CellResult empty_result(const CellPlan& cell, const ExperimentOptions& options);

/// Leaves of the cells' configurations what differs among a base and its variants.
void keep_varied_settings(std::vector<CellResult>& cells);

/// The cell's configuration.json.
boost::json::object cell_description(const CellPlan& cell, const ExperimentOptions& options);

/// For --dry-run, behind a cell: which variant it is, and whether that is the very configuration of
/// its base or of a variant before it; empty where nothing of it is varied.
std::string describe_variant(const CellPlan& cell, const Plan& plan);

}  // namespace workload
