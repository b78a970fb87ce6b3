// One run of a cell that is no cache: files read and written on the cell's filesystem, without
// HTTP, so that what the filesystem costs by itself stands beside the schemes.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/runner.h"
#include "workload/experiment/verdict.h"

namespace workload {

/// `limited_by` of such a run where the event loop of its program, or for an engine without
/// threads the program, used 90 % of a CPU.
inline constexpr std::string_view kLimitedByProcess = "process_cpu";
/// And where nothing was busy: calls waited inside the filesystem (locks, journal, write-back).
inline constexpr std::string_view kLimitedByFilesystem = "filesystem";

/// Whether a scheme's name stands for the pattern: `webproxy`, or `webproxy:ENGINE`.
bool is_webproxy(std::string_view scheme);

/// The command line of cacheoff-webproxy for a cell, and what of the options it can't follow.
struct WebproxyCommand {
  std::vector<std::string> words;
  std::vector<std::string> warnings;  ///< One line each.
};

/// `folders` are the cell's places, the files of the run go to the folder `out`. Loads without a
/// number of robots without pause (`best-effort=N`) become filebench's own number of threads.
WebproxyCommand webproxy_command(const std::filesystem::path& program, const CellPlan& cell,
                                 const ExperimentOptions& options,
                                 const std::vector<std::string>& folders, uint64_t seed,
                                 const std::string& out);

/// What limited the run: `disk`, `process_cpu`, `machine_cpu` or `filesystem`.
/// `loop_cpu_share` is CPU time of the event loop's thread over wall time.
std::string_view webproxy_limit(const RunObservation& seen, double loop_cpu_share);

/// As run_cell() does, for such a cell.
Expected<boost::json::object> run_webproxy_cell(const RunRequest& request,
                                                const ExperimentOptions& options,
                                                const Programs& programs, StopSignals& stop);

}  // namespace workload
