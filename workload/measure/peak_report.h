// What the peak finder found, for run.json and for people.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "workload/measure/peak_finder.h"

namespace workload {

/// `peak` of run.json; docs/measurement.md says what each key is.
boost::json::object peak_to_json(const PeakFinder& finder, std::string_view generator_limit);

/// What was found, what set the limit, how sure it is, and what would help where nothing was found.
std::string peak_sentence(const PeakFinder& finder, std::string_view generator_limit);

}  // namespace workload
