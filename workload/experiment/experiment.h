// An experiment from its plan to its result folder.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/experiment/runner.h"
#include "workload/report/results.h"

namespace workload {

/// What an experiment needs besides its options.
struct ExperimentInputs {
  ExperimentOptions options;  ///< With `out` set.
  Workload workload;          ///< What the options name.
  Programs programs;
  std::vector<std::string> command;  ///< The command line, for the environment.
  std::ostream* progress = nullptr;  ///< Gets the seed, a line a run and the time left.
  bool progress_is_terminal = false;
};

/// How it ended.
struct ExperimentEnd {
  Results results;
  bool stopped = false;     ///< A signal came; what was finished is in the folder.
  bool any_failed = false;  ///< A run failed, or a cell has no result.
};

/// Asks the proxy for its schemes and lays the experiment out; filesystems are tried as root. A
/// Problem too where `stop` (may be null) received a signal; nothing is left behind then.
Expected<Plan> plan_experiment(const ExperimentOptions& options, const Programs& programs,
                               StopSignals* stop = nullptr);

/// Runs the plan and writes `results.json`, `environment.json` and `cells/` as it goes (summaries
/// and figures are drawn by write_report()). With `resume`, runs that the folder holds are kept.
/// A Problem where the folder can't be used; failed runs are rows of the results.
Expected<ExperimentEnd> run_experiment(const ExperimentInputs& inputs, const Plan& plan,
                                       StopSignals& stop);

/// The options that a folder's experiment was run with, for --resume.
Expected<ExperimentOptions> stored_options(const std::filesystem::path& folder);

/// Seconds that the plan will take, at most where a goal has more than a duration; nothing where it
/// has none and nobody said what a run takes.
std::optional<double> estimated_s(const ExperimentOptions& options, const Plan& plan);

/// What --dry-run prints: cells, skipped cells, runs, estimated time and what needs root.
std::string describe_plan(const ExperimentOptions& options, const Plan& plan);

}  // namespace workload
