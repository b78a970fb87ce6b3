// One run of one cell: three programs started, measured and stopped, and what they left behind.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <optional>
#include <string>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/filesystem/run_user.h"
#include "workload/filesystem/scratch_folder.h"
#include "workload/model/workload.h"

namespace workload {

/// Paths of the programs that a run starts.
struct Programs {
  std::filesystem::path cacheoff;
  std::filesystem::path proxy;
  std::filesystem::path webproxy{};  ///< Of the cells that are no cache, see is_webproxy().

  /// cacheoff-disk, beside them; it may be missing, as it is built only where libfuse3 is.
  std::filesystem::path disk() const { return cacheoff.parent_path() / "cacheoff-disk"; }
};

/// Everything about a run but the cell.
struct RunRequest {
  CellPlan cell;
  unsigned round = 1;
  Workload workload;             ///< What the options name.
  std::filesystem::path folder;  ///< Of this run's files; made, and must be new.
  /// The cache lives below, in a folder or mount of its own, removed at the end; see
  /// spread_subfolders(). Never null.
  ScratchFolder* scratch = nullptr;
  std::optional<RunUser> user{};  ///< Whom the programs run as; nothing is the caller.
};

/// Runs the cell once. The run's record (docs/experiments.md says its keys) is returned and was
/// written to `folder`/result.json as the last of its files: where that is, the run was finished. A
/// Problem where the run gave no result, or where `stop` received a signal. Whatever happens, the
/// programs are gone afterwards, what was mounted is unmounted, and caches, devices and images are
/// gone.
///
/// Blocks the calling thread for the length of the run.
Expected<boost::json::object> run_cell(const RunRequest& request, const ExperimentOptions& options,
                                       const Programs& programs, StopSignals& stop);

/// Asks ext filesystems to put each new folder below `folder` into another part of the disk, as
/// they do for the folders of different users. Without it a run's cache gets the inodes that the
/// run before just freed, and ext4 searches its way round those for minutes (measured: three times
/// the CPU time a request). Other filesystems are left as they are.
void spread_subfolders(const std::filesystem::path& folder);

/// Name of the file that marks a finished run.
inline constexpr const char* kRunRecordFile = "result.json";

}  // namespace workload
