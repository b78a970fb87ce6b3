// Parts of report.html that are made of the runs' own records.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "workload/report/results.h"
#include "workload/report/summary.h"

namespace workload {

/// What a request cost, a row a cell; empty where no run says anything.
std::string costs_section(const std::vector<SummaryRow>& rows, const Results& results);

/// Response times as a table: percentiles of hits and of misses, a row a cell and part. Empty where
/// there are none.
std::string percentiles_table(const std::vector<SummaryRow>& rows, const Results& results);

/// What became of the mount options that were asked for; empty where none were.
std::string mount_options_section(const std::vector<SummaryRow>& rows, const Results& results);

/// All values of an object by their paths, as a table that can be folded away.
std::string object_section(std::string_view title, const boost::json::object& object, bool open);

}  // namespace workload
