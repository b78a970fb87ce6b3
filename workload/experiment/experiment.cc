#include "workload/experiment/experiment.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ostream>

#include "storage/base/units.h"
#include "workload/experiment/environment.h"
#include "workload/experiment/progress.h"
#include "workload/experiment/tmpfs_mount.h"
#include "workload/report/figures.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr auto kAskTimeMax = std::chrono::seconds(30);
/// What starting, stopping and clearing up take beside the load itself.
constexpr double kOverheadPerRunS = 1.0;

std::filesystem::path run_folder(const std::filesystem::path& out, const CellPlan& cell,
                                 unsigned round) {
  return out / "cells" / cell.name / "runs" / std::to_string(round);
}

CellResult empty_result(const CellPlan& cell, const ExperimentOptions& options) {
  CellResult result;
  result.name = cell.name;
  result.system = "cacheoff-proxy";
  result.scheme = cell.scheme;
  result.filesystem = cell.filesystem;
  result.mount_options = cell.mount_options;
  result.device = "native";
  result.disks = cell.needs_path ? 1 : 0;
  // What fill ratios refer to, also where nothing is kept.
  result.cache_size_bytes = options.cache_size_bytes;
  return result;
}

/// Copies the trace and the response times of the run that stands for the cell.
Expected<void> publish_representative(const std::filesystem::path& out, const CellPlan& plan,
                                      const CellResult& cell) {
  const auto* run = representative_run(cell);
  if (run == nullptr) return {};
  const auto folder = run_folder(out, plan, static_cast<unsigned>(count_at(*run, "run")));
  for (const char* name : {"trace.csv", "latency.hlog"}) {
    std::error_code failure;
    std::filesystem::copy_file(folder / name, out / "cells" / plan.name / name,
                               std::filesystem::copy_options::overwrite_existing, failure);
    if (failure) {
      return run_problem("can't copy '" + (folder / name).string() + "': " + failure.message());
    }
  }
  return {};
}

constexpr std::string_view kScratchPrefix = "cacheoff-scratch-";

/// Removes what runners left in a folder that were killed and could not clear up themselves.
void remove_stale_scratch(const std::filesystem::path& directory) {
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(directory, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kScratchPrefix, 0) != 0) continue;
    const auto pid = storage::parse_count(std::string_view(name).substr(kScratchPrefix.size()));
    if (!pid || *pid == 0 || *pid > INT32_MAX) continue;
    const bool is_gone = kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
    if (is_gone) std::filesystem::remove_all(entry.path(), failure);
  }
}

/// The experiment under way.
class Experiment {
 public:
  Experiment(const ExperimentInputs& inputs, const Plan& plan, StopSignals& stop)
      : inputs_(inputs),
        options_(inputs.options),
        plan_(plan),
        stop_(stop),
        out_(options_.out),
        progress_(*inputs.progress, inputs.progress_is_terminal, plan.order.size(),
                  estimated_s(options_, plan)) {}

  Expected<ExperimentEnd> perform() {
    if (auto done = open_folder(); !done) return done.error();
    auto done = run_all();
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
    if (!done) return done.error();
    end_.any_failed = std::any_of(
        end_.results.cells.begin(), end_.results.cells.end(), [](const CellResult& cell) {
          const bool all_count =
              std::all_of(cell.runs.begin(), cell.runs.end(),
                          [](const auto& run) { return text_at(run, "failure").empty(); });
          return cell.runs.empty() || !cell.failed_runs.empty() || !all_count;
        });
    return std::move(end_);
  }

 private:
  Expected<void> open_folder();
  Expected<void> describe_cell(const CellPlan& cell) const;
  Expected<void> run_all();
  Expected<void> one_run(const PlannedRun& planned);
  Expected<void> save(bool finished);

  const ExperimentInputs& inputs_;
  const ExperimentOptions& options_;
  const Plan& plan_;
  StopSignals& stop_;
  std::filesystem::path out_;
  std::filesystem::path scratch_;
  Progress progress_;
  ExperimentEnd end_;
};

Expected<void> Experiment::open_folder() {
  std::error_code failure;
  std::filesystem::create_directories(out_ / "cells", failure);
  if (failure)
    return run_problem("--out '" + out_.string() + "': can't be written: " + failure.message());
  const std::filesystem::path directory =
      options_.directory.empty() ? out_ : std::filesystem::path(options_.directory);
  remove_stale_scratch(directory);
  scratch_ = std::filesystem::absolute(directory) /
             (std::string(kScratchPrefix) + std::to_string(getpid()));
  std::filesystem::create_directories(scratch_, failure);
  if (failure) {
    return usage_problem("--directory '" + directory.string() +
                         "': can't be written: " + failure.message());
  }
  spread_subfolders(scratch_);
  EnvironmentInputs about;
  about.directory = std::filesystem::canonical(directory, failure);
  about.out = std::filesystem::canonical(out_, failure);
  about.command = inputs_.command;
  if (const auto version = output_of({inputs_.programs.proxy.string(), "--version"}, kAskTimeMax)) {
    about.proxy_version = version->substr(0, version->find('\n'));
  }
  about.gnuplot_version = gnuplot_version();
  Results& results = end_.results;
  results.seed = options_.seed;
  results.environment = collect_environment(about);
  if (options_.resume) {
    if (auto earlier = read_json_object(out_ / "environment.json")) {
      results.environment = continue_environment(std::move(*earlier), results.environment);
    }
  }
  results.experiment = options_to_json(options_);
  results.warnings = environment_warnings(results.environment);
  for (const auto& cell : plan_.cells) {
    results.cells.push_back(empty_result(cell, options_));
    if (auto done = describe_cell(cell); !done) return done;
  }
  for (const auto& skipped : plan_.skipped) {
    results.skipped.push_back({skipped.name, skipped.reason});
  }
  return write_file(out_ / "environment.json", to_pretty_json(results.environment));
}

Expected<void> Experiment::describe_cell(const CellPlan& cell) const {
  const auto folder = out_ / "cells" / cell.name;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  const boost::json::object about{
      {"name", cell.name},
      {"scheme", cell.scheme},
      {"filesystem", cell.filesystem},
      {"mount_options", cell.mount_options},
      {"cache_dir", cache_dir_argument(cell, "CACHE_FOLDER", options_.cache_size_bytes)}};
  return write_file(folder / "configuration.json", to_pretty_json(about));
}

Expected<void> Experiment::save(bool finished) {
  for (auto& cell : end_.results.cells) {
    cell.unfinished = !finished && cell.runs.size() + cell.failed_runs.size() < options_.repeat;
  }
  return write_file(out_ / "results.json", to_pretty_json(results_to_json(end_.results)));
}

Expected<void> Experiment::run_all() {
  if (auto done = save(false); !done) return done;
  for (const auto& planned : plan_.order) {
    if (stop_.received() != 0) break;
    if (auto done = one_run(planned); !done) return done;
    if (end_.stopped) break;
    if (auto done = save(false); !done) return done;
  }
  progress_.finish();
  end_.stopped = end_.stopped || stop_.received() != 0;
  for (size_t i = 0; i < plan_.cells.size(); ++i) {
    auto done = publish_representative(out_, plan_.cells[i], end_.results.cells[i]);
    if (!done) return done;
  }
  return save(!end_.stopped);
}

Expected<void> Experiment::one_run(const PlannedRun& planned) {
  const CellPlan& cell = plan_.cells[planned.cell];
  CellResult& result = end_.results.cells[planned.cell];
  RunRequest request;
  request.cell = cell;
  request.round = planned.round;
  request.workload = inputs_.workload;
  request.folder = run_folder(out_, cell, planned.round);
  request.scratch = scratch_;
  if (options_.resume) {
    if (auto kept = read_json_object(request.folder / kRunRecordFile)) {
      result.runs.push_back(std::move(*kept));
      progress_.skip_run();
      return {};
    }
  }
  std::error_code failure;
  std::filesystem::remove_all(request.folder, failure);
  progress_.begin_run(cell.name, planned.round, options_.repeat);
  auto record = run_cell(request, options_, inputs_.programs, stop_);
  if (record) {
    progress_.end_run(figure_of(*record));
    result.runs.push_back(std::move(*record));
  } else if (stop_.received() != 0) {
    end_.stopped = true;
    std::filesystem::remove_all(request.folder, failure);
  } else {
    progress_.end_run("failed: " + record.error().text);
    result.failed_runs.push_back({planned.round, record.error().text});
  }
  return {};
}

/// Takes cells whose mount the kernel refuses out of the plan.
void try_mounts(Plan& plan, const ExperimentOptions& options) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < plan.cells.size(); ++i) {
    const CellPlan& cell = plan.cells[i];
    if (cell.filesystem != "tmpfs") {
      kept.push_back(i);
      continue;
    }
    std::error_code failure;
    const auto place = std::filesystem::temp_directory_path(failure) /
                       ("cacheoff-mount-" + std::to_string(getpid()));
    const auto mounted = TmpfsMount::mount(place, cell.mount_options);
    if (mounted) {
      kept.push_back(i);
    } else {
      plan.skipped.push_back({cell.name, mounted.error().text});
    }
  }
  if (kept.size() == plan.cells.size()) return;
  std::vector<CellPlan> cells;
  for (const size_t i : kept) cells.push_back(std::move(plan.cells[i]));
  plan.cells = std::move(cells);
  plan.order = run_order(plan.cells.size(), options.repeat, options.seed, options.random_order);
}

}  // namespace

Expected<Plan> plan_experiment(const ExperimentOptions& options, const Programs& programs) {
  auto text = output_of({programs.proxy.string(), "--list-schemes"}, kAskTimeMax);
  if (!text) return text.error();
  auto schemes = parse_scheme_list(*text);
  if (!schemes) return schemes.error();
  const bool wants_mounts = std::find(options.filesystems.begin(), options.filesystems.end(),
                                      "tmpfs") != options.filesystems.end();
  const bool can_mount = wants_mounts && geteuid() == 0 && enter_private_mounts();
  auto plan = make_plan(options, *schemes, can_mount);
  if (plan && can_mount) try_mounts(*plan, options);
  return plan;
}

Expected<ExperimentEnd> run_experiment(const ExperimentInputs& inputs, const Plan& plan,
                                       StopSignals& stop) {
  Experiment experiment(inputs, plan, stop);
  return experiment.perform();
}

Expected<ExperimentOptions> stored_options(const std::filesystem::path& folder) {
  auto results = read_results(folder);
  if (!results) return results.error();
  return options_from_json(results->experiment);
}

std::optional<double> estimated_s(const ExperimentOptions& options, const Plan& plan) {
  const auto length_s = options.run_length_s();
  if (!length_s) return std::nullopt;
  return static_cast<double>(plan.order.size()) * (*length_s + kOverheadPerRunS);
}

std::string describe_plan(const ExperimentOptions& options, const Plan& plan) {
  std::string out;
  for (const auto& cell : plan.cells) {
    out += "cell " + cell.name + ": " +
           cache_dir_argument(cell, "FOLDER", options.cache_size_bytes) +
           (cell.filesystem == "tmpfs" ? " (a mount of its own)" : "") + "\n";
  }
  for (const auto& cell : plan.skipped) out += "skipped " + cell.name + ": " + cell.reason + "\n";
  out += std::to_string(plan.order.size()) + (plan.order.size() == 1 ? " run" : " runs") +
         ", seed " + std::to_string(options.seed);
  if (const auto length_s = estimated_s(options, plan)) {
    out += ", about " + storage::format_duration(
                            std::chrono::nanoseconds(static_cast<int64_t>(*length_s * 1e9)));
  } else {
    out += ", for as long as the goal takes";
  }
  return out + "\n";
}

}  // namespace workload
