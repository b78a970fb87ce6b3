// A comparison as text, CSV and JSON.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "workload/compare/comparison.h"

namespace workload {

/// compare.txt: the sides, their environment (`*` marks lines that differ), what was refused or
/// ignored, a line a cell and figure with its verdict, cells on one side only, and notes. `colours`
/// (ANSI) are for a terminal. Text of files is shown without control characters.
std::string comparison_text(const Comparison& comparison, bool colours);

/// compare.csv: a row a cell and figure; what is not known is an empty field.
std::string comparison_csv(const Comparison& comparison);

/// compare.json; docs/compare.md has the keys.
boost::json::object comparison_json(const Comparison& comparison);

/// A number as a field of CSV; empty for nothing.
std::string csv_number(const std::optional<double>& value);

/// `{median,low,high,n}`.
boost::json::object estimate_json(const Estimate& estimate);

/// `1.050 [1.041, 1.062]`, or without the interval, or `-`.
std::string ratio_text(const Estimate& ratio);

}  // namespace workload
