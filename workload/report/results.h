// The results of an experiment: what `results.json` holds, read and written.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/effective_configuration.h"
#include "workload/experiment/expected.h"
#include "workload/measure/statistics.h"

namespace workload {

/// Version of the keys of results.json; a reader refuses any other.
inline constexpr uint64_t kResultsSchemaVersion = 1;

/// A run that gave no result.
struct FailedRun {
  unsigned run = 0;  ///< Its round, from 1.
  std::string reason;
};

/// The `system` of a cell that is no cache: files straight on the filesystem.
inline constexpr const char* kNoCacheSystem = "cacheoff-webproxy";

/// A cell and its runs.
struct CellResult {
  std::string name;
  std::string system;  ///< `cacheoff-proxy`, another proxy's, or kNoCacheSystem.
  std::string scheme;
  std::string filesystem;     ///< Empty where the scheme keeps nothing on a filesystem.
  std::string mount_options;  ///< Empty for the default.
  std::string event_method;   ///< Of the proxy; empty where there is none, or not known.
  /// Of an experiment that varies options: the variant's name, `base` for what the others are
  /// compared with, and empty where nothing of the cell is varied.
  std::string variant;
  std::string variant_of;  ///< Name of the cell that is its base; empty for a base.
  /// Of the system's settings those in which the base and its variants differ.
  EffectiveConfiguration configuration;
  std::string device;  ///< `native`.
  uint64_t disks = 0;  ///< Cache directories.
  /// What fill ratios refer to, also where nothing is kept; 0 of static servers, which have none.
  uint64_t cache_size_bytes = 0;
  /// Finished runs with the keys of docs/experiments.md. One whose `failure` is not null (a wrong
  /// byte, a program that failed) is shown and counted, but enters no median.
  std::vector<boost::json::object> runs;
  std::vector<FailedRun> failed_runs;
  /// Whether more runs were meant to come when this was written.
  bool unfinished = false;
};

struct SkippedResult {
  std::string name;
  std::string reason;
};

struct Results {
  uint64_t seed = 0;
  boost::json::object environment;
  boost::json::object experiment;
  boost::json::object work;           ///< See describe_work(); empty in older files.
  std::vector<std::string> warnings;  ///< About the experiment as a whole.
  std::vector<CellResult> cells;
  std::vector<SkippedResult> skipped;
};

/// The runs that enter medians (see CellResult::runs); they live as long as `cell`.
std::vector<const boost::json::object*> counting_runs(const CellResult& cell);

/// The figures of a cell's runs that count (see CellResult::runs) at a path such as
/// `response_time_ms.mean`; runs where it is null are left out.
std::vector<double> run_values(const CellResult& cell, std::string_view path);

/// Median over the runs with its interval; the same cell gives the same interval.
Estimate cell_estimate(const CellResult& cell, std::string_view path);

/// The run whose throughput is the (lower) median: the one that stands for the cell in
/// cells/NAME/trace.csv and latency.hlog. Null where no run counts.
const boost::json::object* representative_run(const CellResult& cell);

/// The cell of that name; null where there is none.
const CellResult* find_cell(const Results& results, std::string_view name);

/// The content of results.json, summaries over the runs included.
boost::json::object results_to_json(const Results& results);

/// Reads FOLDER/results.json, whoever wrote it. The Problem is one line that names the file and
/// the key that is missing or wrong. Names that could lead out of the folder are refused.
Expected<Results> read_results(const std::filesystem::path& folder);

/// The same from the parsed file; `file` is named in the Problem.
Expected<Results> results_from_json(const boost::json::object& json, const std::string& file);

/// Whether a cell's name is one: 1 to 100 letters, digits and `.=-`, not beginning with a dot.
bool is_cell_name(std::string_view name);

}  // namespace workload
