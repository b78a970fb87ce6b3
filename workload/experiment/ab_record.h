// What `cacheoff ab` found, as a run of the bench has it: `run.json`, `trace.csv`, `latency.hlog`.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/units.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/static_options.h"

namespace workload {

/// The command of a run's load. It goes on after requests that fail, and writes its figures to
/// `json_file`. `options` have the goal; see check_static_options().
std::vector<std::string> ab_command(const std::filesystem::path& cacheoff,
                                    const ExperimentOptions& options, const AbLoad& load,
                                    const storage::HostPort& server, const std::string& json_file);

/// What the first body of a run must be. That all others are as the first, `cacheoff ab` sees.
struct ExpectedBody {
  uint64_t size_bytes = 0;
  std::string xxh3;  ///< See xxh3_text().
};

/// Reads what `cacheoff ab --json` wrote (its first run) into a run's record, with the keys of
/// docs/measurement.md. What only a cache has is null. A body of another length or with other bytes
/// than the first is a wrong one, and so are all where the first is not `expected`; a status that
/// is no success is `wrong_status`. The whole of it stands in `ab`, but for the times' histogram
/// and the progress. A Problem where something is missing.
Expected<boost::json::object> ab_record(const boost::json::object& ab_json,
                                        const ExpectedBody& expected);

/// Writes `trace.csv` and `latency.hlog` of the same into a run's folder. `end` is when it was
/// read, just after the load's end.
Expected<void> write_ab_files(const boost::json::object& ab_json,
                              const std::filesystem::path& folder, storage::WallTime end);

}  // namespace workload
