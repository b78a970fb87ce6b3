// The effects of an option experiment as text, CSV, JSON and a section of report.html.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>

#include "workload/compare/option_effects.h"
#include "workload/experiment/expected.h"
#include "workload/report/report.h"

namespace workload {

/// The table that the run of an option experiment ends in: a line a variant and figure. Text of
/// files is shown without control characters.
std::string effects_text(const OptionEffects& effects);

/// effects.csv: a row a variant and figure; what is not known is an empty field.
std::string effects_csv(const OptionEffects& effects);

/// effects.json; docs/option-experiments.md has the keys.
boost::json::object effects_json(const OptionEffects& effects);

/// The section of report.html.
std::string effects_section(const OptionEffects& effects);

/// Writes effects.csv and effects.json into the result folder and returns what belongs into its
/// report. Where nothing was varied, nothing is written and the addition is empty.
Expected<ReportAddition> write_effects(const std::filesystem::path& folder, const Results& results);

}  // namespace workload
