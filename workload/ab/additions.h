// What ApacheBench's report leaves out, in lines that begin with '+'.
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <vector>

#include "workload/ab/options.h"
#include "workload/ab/run.h"

namespace workload::ab {

/// Why the figures of a run may not mean what they seem to, a line each.
std::vector<std::string> warnings_of(const Options& options, const Measurement& run);

/// The index of the run whose rate is the median (the lower one of two); `runs` is not empty.
size_t median_run(std::span<const Measurement> runs);

/// The lines for `runs[shown]`, the run that the report is of, and over all runs. With `-w` they
/// stand in `<pre>`.
std::string additions_text(const Options& options, std::span<const Measurement> runs, size_t shown);

/// Everything, for --json.
boost::json::object runs_to_json(const Options& options, std::span<const Measurement> runs,
                                 size_t shown);

}  // namespace workload::ab
