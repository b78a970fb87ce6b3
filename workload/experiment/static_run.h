// One run of a static server: it serves one file from the cell's filesystem, `cacheoff ab` asks.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "workload/experiment/expected.h"
#include "workload/experiment/runner.h"

namespace workload {

/// Lines of a file of any size; nothing where it can't be read.
std::optional<uint64_t> count_lines(const std::filesystem::path& file);

/// As run_cell() does, for a cell whose scheme is_static_scheme().
Expected<boost::json::object> run_static_cell(const RunRequest& request,
                                              const ExperimentOptions& options,
                                              const Programs& programs, StopSignals& stop);

}  // namespace workload
