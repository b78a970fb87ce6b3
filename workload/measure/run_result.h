// What a run of load or replay found, and the files that say so.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/measure/histogram.h"
#include "workload/measure/peak_finder.h"
#include "workload/measure/recorder.h"
#include "workload/model/phases.h"

namespace workload {

/// The load generator's own condition during the run.
struct GeneratorHealth {
  double cpu_s = 0;                  ///< Of its threads.
  double cpu_percent = 0;            ///< Of one core for each of the run's threads.
  double cpu_percent_max = 0;        ///< Of the busiest thread.
  double event_loop_lag_ms_max = 0;  ///< Longest delay of a timer that was due.
  Histogram event_loop_lag;          ///< Of timers that were due; not known to a replay.
  Histogram start_lateness;          ///< Of requests, for the generator's own reasons.
  uint64_t connections = 0;          ///< Opened.
  /// Requests sent again because the connection, kept open from an earlier one, had been closed.
  uint64_t stale_connection_retries = 0;
  uint64_t ports_exhausted = 0;        ///< Transactions that found no local port.
  uint64_t descriptors_exhausted = 0;  ///< Transactions that found no descriptor.
  size_t source_addresses = 1;         ///< Local addresses that connections were spread over.
  /// Why the generator, not the system under test, set the figures; empty where it did not.
  std::string limit;
};

/// A phase of a run.
struct PhaseResult : Measurements {
  std::string name;
  std::string goal;
  bool primary = true;
  bool goal_met = false;  ///< It was not cut short.
  /// The goal that ended it, of one or more: `duration`, `requests` or `fill`; empty where it was
  /// cut short.
  std::string ended_by;
  std::chrono::nanoseconds start{0};  ///< Since the start of the recorded part.
  std::chrono::nanoseconds duration{0};
};

/// A process of a run that several carried.
struct RankResult {
  std::string host;
  uint64_t requests = 0;  ///< That it sent in recorded phases.
  std::chrono::nanoseconds clock_error{
      0};  ///< Its instants are so far off the first one's at most.
};

/// A run. Counts and times are those of its primary phases.
struct RunResult : Measurements {
  std::chrono::nanoseconds duration{0};  ///< Of the primary phases together.
  /// Whether throughput was steady; nothing where there were too few samples to say.
  std::optional<bool> steady;
  /// What an infinite cache that saw the whole stream makes of the basic requests of the primary
  /// phases, whatever became of them.
  std::optional<double> ideal_hit_ratio_percent;
  std::optional<double> ideal_byte_hit_ratio_percent;
  uint64_t cache_size_bytes = 0;  ///< 0: not told, so no fill ratio.
  uint64_t seed = 0;
  int threads = 1;
  std::vector<PhaseResult> phases;  ///< The recorded ones, in their order; empty for a replay.
  std::optional<PeakFinder> peak;   ///< Where the load was set by it.
  GeneratorHealth generator;
  std::vector<RankResult> ranks;  ///< In their order; empty where there was one process.
  std::vector<std::string> warnings;
  std::string first_error;  ///< One line about the first error; empty in a clean run.
};

/// Takes totals, histograms and statuses from the (merged) measurements, and judges steadiness by
/// the series' throughput: a run that was not steady gets a warning.
void take_measurements(RunResult& result, const RunRecorder& recorder);

/// The same of a run whose phases are there: of the primary ones, and the intervals within them.
void take_phases(RunResult& result, std::vector<PhaseResult> phases, const Series& series);

/// What a phase's goal is, as people write it.
std::string goal_text(const PhaseGoal& goal);

/// The run as `run.json` holds it; docs/measurement.md says what each key is. What there was none
/// of is null; no value is ever NaN or infinite.
boost::json::object run_to_json(const RunResult& result);

/// mean, p50, p90, p95, p99, p999, p9999 and max of a histogram, in milliseconds; each null where
/// it is empty, and a percentile where too few values are there for one to lie beyond it.
boost::json::object response_time_to_json(const Histogram& histogram);

/// Writes `run.json`, `trace.csv` and `latency.hlog` into `folder`, made where it is missing.
/// `extra` keys are added to run.json. Nothing where all is well, else one line that names the
/// file and the reason.
std::optional<std::string> write_run_files(const std::filesystem::path& folder,
                                           const RunResult& result, const RunRecorder& recorder,
                                           storage::WallTime start,
                                           const boost::json::object& extra = {});

/// The table at the end of a run, as text: rates, times, hit ratios, errors; `-` for nothing.
std::string run_to_table(const RunResult& result);

}  // namespace workload
