#include "workload/experiment/experiment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>

#include "storage/base/units.h"
#include "workload/client/goal.h"
#include "workload/experiment/cell_description.h"
#include "workload/experiment/environment.h"
#include "workload/experiment/machine_check.h"
#include "workload/experiment/memory_limit.h"
#include "workload/experiment/place_options.h"
#include "workload/experiment/progress.h"
#include "workload/experiment/proxy_options.h"
#include "workload/experiment/static_options.h"
#include "workload/experiment/variation_check.h"
#include "workload/experiment/webproxy_run.h"
#include "workload/experiment/work_digest.h"
#include "workload/filesystem/cache_places.h"
#include "workload/filesystem/run_user.h"
#include "workload/filesystem/scratch_folder.h"
#include "workload/report/figures.h"
#include "workload/report/json_text.h"
#include "workload/system/cell_configuration.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

constexpr auto kAskTimeMax = std::chrono::seconds(30);
/// What starting, stopping and clearing up take beside the load itself.
constexpr double kOverheadPerRunS = 1.0;
/// And making, mounting, unmounting and removing a disk.
constexpr double kOverheadPerDiskS = 0.5;

std::filesystem::path run_folder(const std::filesystem::path& out, const CellPlan& cell,
                                 unsigned round) {
  return out / "cells" / cell.name / "runs" / std::to_string(round);
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

/// Whether a record is that of a run of that round, and whole: it is a file, and may be anything.
bool is_finished_run(const boost::json::object& record, unsigned round, uint64_t seed) {
  const auto* valid = record.if_contains("valid");
  return count_at(record, "run") == round &&
         count_at(record, "seed") == seed_of_round(seed, round) && valid != nullptr &&
         valid->is_bool() && record.contains("failure") && number_at(record, "requests") &&
         !text_at(record, "limited_by").empty();
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
    scratch_.reset();
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
  Expected<void> open_scratch(const std::filesystem::path& directory);
  Expected<void> choose_user(const std::filesystem::path& directory);
  Expected<void> describe_cell(const CellPlan& cell) const;
  Expected<void> run_all();
  Expected<void> one_run(const PlannedRun& planned);
  Expected<void> save(bool finished);

  const ExperimentInputs& inputs_;
  const ExperimentOptions& options_;
  const Plan& plan_;
  StopSignals& stop_;
  std::filesystem::path out_;
  std::optional<ScratchFolder> scratch_;
  RunUserChoice user_;
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
  if (auto done = open_scratch(directory); !done) return done;
  if (auto done = choose_user(directory); !done) return done;
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
  auto& versions = results.environment["versions"].as_object();
  for (const auto& [system, version] : system_versions(options_.schemes)) {
    versions[system] = version.empty() ? boost::json::value() : boost::json::value(version);
  }
  results.environment["programs_run_as"] = {
      {"user", user_.user ? boost::json::value(user_.user->name) : boost::json::value()},
      {"reason", user_.reason.empty() ? boost::json::value() : boost::json::value(user_.reason)}};
  const bool modelled = std::any_of(plan_.cells.begin(), plan_.cells.end(), [&](const auto& cell) {
    return is_on_modelled_disks(cell, options_);
  });
  if (modelled) {
    results.environment["modelled_disk"] = {{"profile", options_.device_profile->name},
                                            {"time_scale", device_time_scale(options_)},
                                            {"program", inputs_.programs.disk().string()}};
  }
  if (options_.resume) {
    if (auto earlier = read_json_object(out_ / "environment.json")) {
      results.environment = continue_environment(std::move(*earlier), results.environment);
    }
  }
  results.experiment = options_to_json(options_);
  auto work = describe_work(options_, inputs_.workload);
  if (!work) return work.error();
  results.work = std::move(*work);
  if (options_.resume) {
    // Runs that are kept must have been of this work: a file of the same name may have changed.
    const auto earlier = read_results(out_);
    if (earlier && !earlier->work.empty() && earlier->work != results.work) {
      return usage_problem("--resume: the workload or trace in '" + out_.string() +
                           "' was another, under the same name; choose another --out");
    }
  }
  results.warnings = environment_warnings(results.environment);
  const bool keeps_files = std::any_of(plan_.cells.begin(), plan_.cells.end(),
                                       [](const CellPlan& cell) { return cell.needs_path; });
  auto in_memory =
      page_cache_warning(options_.memory, free_memory_bytes(), options_.cache_size_bytes);
  const bool is_warned = keeps_files && !ab_load_of(options_) && !in_memory.empty();
  if (is_warned) results.warnings.push_back(std::move(in_memory));
  for (const auto& cell : plan_.cells) {
    results.cells.push_back(empty_result(cell, options_));
    if (auto done = describe_cell(cell); !done) return done;
  }
  keep_varied_settings(results.cells);
  for (const auto& skipped : plan_.skipped) {
    results.skipped.push_back({skipped.name, skipped.reason});
  }
  return write_file(out_ / "environment.json", to_pretty_json(results.environment));
}

Expected<void> Experiment::open_scratch(const std::filesystem::path& directory) {
  const CleanUp done = clean_up_leftovers({directory, out_});
  for (const auto& line : done.removed) {
    *inputs_.progress << "removed what a killed run left: " << line << '\n';
  }
  for (const auto& line : done.failures) *inputs_.progress << "warning: " << line << '\n';
  auto scratch = ScratchFolder::make(directory);
  if (!scratch) return usage_problem("--directory " + scratch.error().text);
  scratch_.emplace(std::move(*scratch));
  spread_subfolders(scratch_->path());
  return {};
}

Expected<void> Experiment::choose_user(const std::filesystem::path& directory) {
  std::vector<NeededAccess> needed{{inputs_.programs.cacheoff, R_OK | X_OK},
                                   {inputs_.programs.proxy, R_OK | X_OK},
                                   {std::filesystem::absolute(directory), X_OK},
                                   {std::filesystem::absolute(out_ / "cells"), X_OK}};
  if (std::any_of(plan_.cells.begin(), plan_.cells.end(),
                  [](const CellPlan& cell) { return is_webproxy(cell.scheme); })) {
    needed.push_back({inputs_.programs.webproxy, R_OK | X_OK});
  }
  if (!options_.trace.empty()) {
    needed.push_back({std::filesystem::absolute(options_.trace), R_OK});
  }
  std::error_code failure;
  if (std::filesystem::is_regular_file(options_.workload, failure)) {
    needed.push_back({std::filesystem::absolute(options_.workload), R_OK});
  }
  auto chosen = choose_run_user(options_.user, needed);
  if (!chosen) return chosen.error();
  user_ = std::move(*chosen);
  return {};
}

Expected<void> Experiment::describe_cell(const CellPlan& cell) const {
  const auto folder = out_ / "cells" / cell.name;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  boost::json::object about = cell_description(cell, options_);
  const auto file = folder / "configuration.json";
  if (is_on_modelled_disks(cell, options_)) {
    const auto earlier = options_.resume ? read_json_object(file) : boost::json::object();
    if (earlier && earlier->contains("device_profile") &&
        earlier->at("device_profile") != about["device_profile"]) {
      return usage_problem("--device '" + options_.device +
                           "': says another disk than when the experiment began; choose another "
                           "--out");
    }
  }
  return write_file(file, to_pretty_json(about));
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
  request.scratch = &*scratch_;
  request.user = user_.user;
  if (options_.resume) {
    auto kept = read_json_object(request.folder / kRunRecordFile);
    if (kept && is_finished_run(*kept, planned.round, options_.seed)) {
      result.runs.push_back(std::move(*kept));
      progress_.skip_run();
      return {};
    }
  }
  std::error_code failure;
  std::filesystem::remove_all(request.folder, failure);
  progress_.begin_run(cell.name, planned.round, options_.repeat);
  const auto options = options_of_scheme(options_, cell.scheme);
  auto record = run_cell(request, options, inputs_.programs, stop_);
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

/// `, ext4 on a loop device of 1.6G`.
std::string describe_place(const CellPlan& cell, const ExperimentOptions& options) {
  std::string what;
  if (cell.filesystem == "tmpfs") {
    what = "a tmpfs of its own";
  } else if (const uint64_t size = device_size_of_cell(cell, options.cache_size_bytes); size > 0) {
    const std::string name = device_name(cell, options);
    const std::string on = is_on_modelled_disks(cell, options)
                               ? "a modelled " + name + " of " + storage::format_size(size)
                           : options.device_paths.empty()
                               ? "a loop device of " + storage::format_size(size)
                               : name;
    what = cell.filesystem == "raw" ? on : cell.filesystem + " on " + on;
  } else {
    return {};
  }
  return " (" + what + (cell.disks > 1 ? ", " + std::to_string(cell.disks) + " times)" : ")");
}

/// What the cells need on the disk at a time, and what is there.
std::string describe_space(const ExperimentOptions& options, const Plan& plan) {
  uint64_t most = 0;
  for (const auto& cell : plan.cells) {
    const uint64_t device = device_size_of_cell(cell, options.cache_size_bytes);
    const bool on_images = device > 0 && options.device_paths.empty();
    if (cell.filesystem == "here") most = std::max(most, options.cache_size_bytes);
    if (on_images) most = std::max(most, device * cell.disks);
  }
  if (most == 0) return "space: none on a disk\n";
  std::filesystem::path folder = options.directory.empty() ? options.out : options.directory;
  std::error_code failure;
  folder = std::filesystem::absolute(folder, failure);
  // The result folder may not be there yet.
  while (!std::filesystem::exists(folder, failure) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  const auto space = std::filesystem::space(folder, failure);
  return "space: at most " + storage::format_size(most) + " at a time" +
         (failure ? "" : " of " + storage::format_size(space.available) + " free") + " in " +
         folder.string() +
         (!failure && most > space.available ? ": not enough, so that runs will fail\n" : "\n");
}

std::string describe_privileges(const ExperimentOptions& options, const Plan& plan) {
  const bool root_cells = std::any_of(
      plan.cells.begin(), plan.cells.end(),
      [](const CellPlan& cell) { return !cell.filesystem.empty() && cell.filesystem != "here"; });
  std::string text = "privileges: ";
  const bool limited = options.memory.any() && !plan.cells.empty();
  text += root_cells ? "root, to mount and for devices" : limited ? "root" : "none";
  if (limited) {
    text += std::string(root_cells ? ", and" : ",") + " to limit " +
            (options.memory.page_cache_bytes > 0 ? "the page cache to " : "memory to ") +
            storage::format_size(options.memory.page_cache_max_bytes()) +
            " (a cgroup for each run)";
  }
  const bool modelled = std::any_of(plan.cells.begin(), plan.cells.end(), [&](const auto& cell) {
    return is_on_modelled_disks(cell, options);
  });
  if (modelled) text += "; FUSE and cacheoff-disk, for modelled disks";
  if (geteuid() == 0) {
    text += "; the programs run as " +
            (options.user.empty() ? std::string("an ordinary user where one can reach the folders")
                                  : "the user " + options.user);
  }
  return text + "\n";
}

}  // namespace

Expected<Plan> plan_experiment(const ExperimentOptions& options, const Programs& programs,
                               StopSignals* stop) {
  auto text = output_of({programs.proxy.string(), "--list-schemes"}, kAskTimeMax);
  if (!text) return text.error();
  auto schemes = parse_scheme_list(*text);
  if (!schemes) return schemes.error();
  if (std::any_of(options.schemes.begin(), options.schemes.end(), is_webproxy)) {
    std::error_code failure;
    if (!std::filesystem::exists(programs.webproxy, failure)) {
      return run_problem("'" + programs.webproxy.string() + "' is missing; build it first");
    }
    auto more = output_of({programs.webproxy.string(), "--list-schemes"}, kAskTimeMax);
    if (!more) return more.error();
    auto rows = parse_scheme_list(*more);
    if (!rows) return rows.error();
    schemes->insert(schemes->end(), rows->begin(), rows->end());
  }
  const auto others = system_scheme_rows();
  schemes->insert(schemes->end(), others.begin(), others.end());
  if (auto checked = check_system_options(options); !checked) return checked.error();
  auto grounds = grounds_here();
  if (options.variation.any()) {
    auto listed = output_of({programs.proxy.string(), "--list-options"}, kAskTimeMax);
    if (!listed) return listed.error();
    auto rows = parse_proxy_options(*listed);
    if (!rows) return rows.error();
    grounds.proxy_options = std::move(*rows);
    auto checked = check_variation(options, grounds.proxy_options);
    if (!checked) return checked.error();
  }
  MachineCheck machine(options, programs.disk(), stop);
  auto plan =
      make_plan(options, *schemes, [&](const CellPlan& cell) { return machine.why_not(cell); });
  if (stop != nullptr && stop->received() != 0) return run_problem("stopped by a signal");
  if (plan) configure_variants(*plan, options, grounds);
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
  if (options.expected_run_s > 0) {
    return options.expected_run_s * static_cast<double>(plan.order.size());
  }
  double sum_s = 0;
  for (const auto& run : plan.order) {
    const CellPlan& cell = plan.cells[run.cell];
    const auto length_s = options_of_scheme(options, cell.scheme).run_length_s();
    if (!length_s) return std::nullopt;
    const bool has_devices = device_size_of_cell(cell, options.cache_size_bytes) > 0;
    sum_s += *length_s + kOverheadPerRunS + (has_devices ? cell.disks * kOverheadPerDiskS : 0);
  }
  return sum_s;
}

std::string describe_plan(const ExperimentOptions& options, const Plan& plan) {
  std::string out;
  for (const auto& cell : plan.cells) {
    out += "cell " + cell.name + ": " +
           (is_other_system(cell.scheme)
                ? std::string(system_of_scheme(cell.scheme).summary)
                : cache_dir_argument(cell, "FOLDER",
                                     cache_share_bytes(cell, options.cache_size_bytes))) +
           describe_place(cell, options) + describe_variant(cell, plan) + "\n";
  }
  for (const auto& cell : plan.skipped) out += "skipped " + cell.name + ": " + cell.reason + "\n";
  out += std::to_string(plan.order.size()) + (plan.order.size() == 1 ? " run" : " runs") +
         ", seed " + std::to_string(options.seed);
  if (const auto length_s = estimated_s(options, plan)) {
    std::string error;
    const auto goal = parse_goal(options.goal(), error);
    const bool others = goal && (goal->requests || goal->fill);
    out +=
        std::string(others && options.expected_run_s == 0 ? ", at most about " : ", about ") +
        storage::format_duration(std::chrono::nanoseconds(static_cast<int64_t>(*length_s * 1e9)));
  } else {
    out += ", for as long as the goal takes";
  }
  return out + "\n" + describe_space(options, plan) + describe_privileges(options, plan);
}

}  // namespace workload
