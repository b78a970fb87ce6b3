// One run of one cell: three programs started, measured and stopped, and what they left behind.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/model/workload.h"

namespace workload {

/// Paths of the programs that a run starts.
struct Programs {
  std::filesystem::path cacheoff;
  std::filesystem::path proxy;
};

/// Everything about a run but the cell.
struct RunRequest {
  CellPlan cell;
  unsigned round = 1;
  Workload workload;             ///< What the options name.
  std::filesystem::path folder;  ///< Of this run's files; made, and must be new.
  /// Caches live in folders below; nothing else may be there. They stay for the caller to remove
  /// at the very end: removing a cache slows the next one down (ext4 goes round inodes that were
  /// freed in the last minutes). Earlier ones are removed only where the next would not fit.
  std::filesystem::path scratch;
};

/// Runs the cell once. The run's record (docs/experiments.md says its keys) is returned and was
/// written to `folder`/result.json as the last of its files: where that is, the run was finished. A
/// Problem where the run gave no result, or where `stop` received a signal. Whatever happens, the
/// programs are gone afterwards, a tmpfs is unmounted and the cache is removed.
///
/// Blocks the calling thread for the length of the run.
Expected<boost::json::object> run_cell(const RunRequest& request, const ExperimentOptions& options,
                                       const Programs& programs, StopSignals& stop);

/// Name of the file that marks a finished run.
inline constexpr const char* kRunRecordFile = "result.json";

}  // namespace workload
