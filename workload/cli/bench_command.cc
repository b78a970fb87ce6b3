// `cacheoff bench`: reads the options, runs the experiment, writes the report, prints the table.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <exception>
#include <filesystem>
#include <iostream>

#include "storage/base/own_program.h"
#include "workload/cli/command.h"
#include "workload/compare/effects_report.h"
#include "workload/experiment/experiment.h"
#include "workload/experiment/machine_check.h"
#include "workload/experiment/options_file.h"
#include "workload/experiment/static_options.h"
#include "workload/filesystem/run_user.h"
#include "workload/filesystem/scratch_folder.h"
#include "workload/model/workload_file.h"
#include "workload/report/printable_text.h"
#include "workload/report/report.h"

namespace workload {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kUsage =
    "usage: cacheoff bench [EXPERIMENT.toml] [options]\n\n"
    "Runs every cell of schemes x filesystems x mount options x numbers of disks and writes a\n"
    "result folder with table, figures and report. Options override the file. Cells that need "
    "root\n"
    "are left out where an ordinary user starts it.\n\noptions (default):\n";
constexpr std::string_view kExamples =
    "\nexamples:\n"
    "  cacheoff bench --quick --out results/first\n"
    "  cacheoff bench --scheme memory,ufs --filesystem here,tmpfs --mount default --mount noatime "
    "\\\n"
    "      --cache-size 4G --until duration=120s --repeat 6 --out results/ufs\n"
    "  cacheoff bench --scheme ufs,coss --filesystem ext2,ext4,xfs,btrfs --mount default "
    "--mount noatime \\\n"
    "      --disks 1,2 --cache-size 4G --out results/filesystems\n"
    "  cacheoff bench workload/experiment/plans/appendix-d1.toml --short --out results/d1\n"
    "  cacheoff bench workload/experiment/plans/nginx-options.toml --out results/options\n"
    "  cacheoff bench --clean-up\n"
    "  cacheoff bench --scheme ufs --trace access.log --cache-size 1G --out results/replay\n"
    "  cacheoff bench --scheme ufs,squid:ufs,nginx,varnish:file --filesystem ext4 --memory 512M "
    "\\\n"
    "      --out results/proxies\n"
    "  cacheoff bench --scheme static:nginx,static:lighttpd,static:origin --filesystem ext4,xfs "
    "\\\n"
    "      --file-size 57244 --load ab=10,requests=100000 --out results/static\n"
    "[scheme-options], [proxy-options], [system-options.NAME], [[exclude]], and [vary.SYSTEM] and\n"
    "[[variant]], which vary options, can stand in the file alone: see docs/experiments.md,\n"
    "docs/systems.md and docs/option-experiments.md.\n";

/// An option as it was given, its values in order.
struct GivenOption {
  std::string name;
  std::vector<std::string> values;
};

struct CommandLine {
  std::string file;
  std::vector<GivenOption> options;
  bool help = false;
};

void print_help(std::ostream& out) {
  out << kUsage;
  for (const auto& row : option_table()) {
    std::string left = "  --" + std::string(row.name);
    if (!row.argument.empty()) left += " " + std::string(row.argument);
    left.resize(std::max<size_t>(left.size() + 2, 28), ' ');
    out << left << row.help << '\n';
  }
  out << kExamples;
}

Expected<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  po::options_description known;
  known.add_options()("help,h", "");
  for (const auto& row : option_table()) {
    if (row.argument.empty()) {
      known.add_options()(std::string(row.name).c_str(), "");
    } else {
      known.add_options()(std::string(row.name).c_str(), po::value<std::string>(), "");
    }
  }
  CommandLine line;
  try {
    const auto parsed =
        po::command_line_parser(arguments)
            .options(known)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .run();
    for (const auto& option : parsed.options) {
      if (option.string_key.empty()) {
        if (!line.file.empty()) return usage_problem("more than one EXPERIMENT.toml is given");
        line.file = option.value.front();
      } else if (option.string_key == "help") {
        line.help = true;
      } else {
        const std::string value = option.value.empty() ? "true" : option.value.front();
        const auto same = std::find_if(line.options.begin(), line.options.end(), [&](auto& given) {
          return given.name == option.string_key;
        });
        if (same == line.options.end()) {
          line.options.push_back({option.string_key, {value}});
        } else {
          same->values.push_back(value);
        }
      }
    }
  } catch (const po::error& error) {
    return usage_problem(error.what());
  }
  return line;
}

/// Asks the command line for an option's last value; empty where it is not given.
std::string given_value(const CommandLine& line, std::string_view name) {
  for (const auto& option : line.options) {
    if (option.name == name) return option.values.back();
  }
  return {};
}

Expected<void> apply_all(ExperimentOptions& options, const CommandLine& line) {
  options.short_form = given_value(line, "short") == "true";
  if (options.short_form && line.file.empty()) {
    return usage_problem("--short: needs an EXPERIMENT.toml with a table [short]");
  }
  if (!line.file.empty()) {
    if (auto done = apply_options_file(options, line.file); !done) return done;
  }
  for (const auto& given : line.options) {
    if (auto done = set_option(options, given.name, given.values); !done) return done;
  }
  return {};
}

/// Options of a new experiment: defaults or the quick ones, then the file, then the command line.
Expected<ExperimentOptions> new_options(const CommandLine& line) {
  bool quick = given_value(line, "quick") == "true";
  if (!quick && !line.file.empty()) {
    auto asked = file_asks_for_quick(line.file);
    if (!asked) return asked.error();
    quick = *asked;
  }
  ExperimentOptions options = quick ? quick_options() : ExperimentOptions{};
  if (auto done = apply_all(options, line); !done) return done.error();
  return options;
}

/// Options of an experiment that goes on: what the folder holds, and nothing that changes the work.
Expected<ExperimentOptions> resumed_options(const CommandLine& line, const std::string& out) {
  auto stored = stored_options(out);
  if (!stored) {
    std::error_code failure;
    const bool has_runs = std::filesystem::exists(std::filesystem::path(out) / "cells", failure);
    return usage_problem("--resume: " + stored.error().text +
                         (has_runs ? " (each finished run is below '" + out +
                                         "/cells' nonetheless; choose another --out)"
                                   : ""));
  }
  ExperimentOptions options = *stored;
  if (auto done = apply_all(options, line); !done) return done.error();
  const std::string different = first_difference(*stored, options);
  if (!different.empty()) {
    return usage_problem("--resume: the experiment in '" + out + "' was run with another --" +
                         different + "; leave the option out or choose another --out");
  }
  return options;
}

std::string default_out() {
  const time_t now = ::time(nullptr);
  tm parts{};
  localtime_r(&now, &parts);
  char name[64];
  strftime(name, sizeof name, "results/bench-%Y%m%d-%H%M%S", &parts);
  return name;
}

Expected<void> check_places(const ExperimentOptions& options) {
  if (auto fit = check_options(options); !fit) return fit;
  std::error_code failure;
  const std::filesystem::path out = options.out;
  if (std::filesystem::exists(out, failure) && !std::filesystem::is_directory(out, failure)) {
    return usage_problem("--out '" + options.out + "': is no folder");
  }
  const bool holds_result = std::filesystem::exists(out / "results.json", failure) ||
                            std::filesystem::exists(out / "cells", failure);
  if (holds_result && !options.resume) {
    return usage_problem("--out '" + options.out +
                         "': holds a result already; choose another folder or add --resume");
  }
  for (const auto& [option, folder] : {std::pair<const char*, std::string>{"--out", options.out},
                                       {"--directory", options.directory}}) {
    // Caches lie below, and a --cache-dir of the proxy has its parts between commas.
    if (folder.find(',') != std::string::npos) {
      return usage_problem(std::string(option) + " '" + folder + "': must hold no comma");
    }
  }
  if (!options.directory.empty() && !std::filesystem::is_directory(options.directory, failure)) {
    return usage_problem("--directory '" + options.directory + "': is no folder");
  }
  if (!options.trace.empty() && !std::filesystem::is_regular_file(options.trace, failure)) {
    return usage_problem("--trace '" + options.trace + "': is no file");
  }
  return {};
}

Expected<Workload> find_workload(const ExperimentOptions& options) {
  std::string error;
  auto workload = load_workload(options.workload, error);
  if (!workload) return usage_problem("--workload: " + error);
  return *workload;
}

Expected<ExperimentOptions> resolve_options(const CommandLine& line) {
  auto options = new_options(line);
  if (!options) return options;
  if (options->resume) {
    if (options->out.empty()) return usage_problem("--resume needs --out, the folder to go on in");
    options = resumed_options(line, options->out);
    if (!options) return options;
  }
  if (options->out.empty()) options->out = default_out();
  if (auto done = check_places(*options); !done) return done.error();
  if (ab_load_of(*options)) options->cache_size_bytes = static_place_bytes(*options);
  return options;
}

Expected<Programs> find_programs() {
  std::error_code failure;
  Programs programs;
  programs.cacheoff = storage::own_program();
  if (programs.cacheoff.empty()) return run_problem("can't find the program itself");
  programs.proxy = programs.cacheoff.parent_path() / "cacheoff-proxy";
  programs.webproxy = programs.cacheoff.parent_path() / "cacheoff-webproxy";
  if (!std::filesystem::exists(programs.proxy, failure)) {
    return run_problem("'" + programs.proxy.string() + "' is missing; build it first");
  }
  return programs;
}

int complain(const Problem& problem) {
  // It may hold what a result folder says.
  std::cerr << "cacheoff bench: " << printable(problem.text) << '\n';
  return problem.usage ? kExitUsage : kExitFailed;
}

int run_and_report(const ExperimentInputs& inputs, const Plan& plan, StopSignals& stop) {
  if (plan.cells.empty()) {
    return complain(run_problem("every cell is skipped, so there is nothing to run: " +
                                plan.skipped.front().name + ": " + plan.skipped.front().reason));
  }
  auto end = run_experiment(inputs, plan, stop);
  if (!end) return complain(end.error());
  const auto effects = write_effects(inputs.options.out, end->results);
  if (!effects) return complain(effects.error());
  const auto report = write_report(inputs.options.out, end->results, *effects);
  if (!report) return complain(report.error());
  std::cout << report->table << "report: " << report->page.string() << std::endl;
  if (end->stopped) {
    std::cerr << "cacheoff bench: stopped by a signal; go on with: cacheoff bench --resume --out "
              << inputs.options.out << '\n';
    return kExitFailed;
  }
  return end->any_failed ? kExitFailed : kExitSuccess;
}

/// Removes what killed runs left. Result folders have their scratch folders inside.
int clean_up(const ExperimentOptions& options) {
  std::vector<std::filesystem::path> directories{"."};
  if (!options.directory.empty()) directories.emplace_back(options.directory);
  if (!options.out.empty()) directories.emplace_back(options.out);
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("results", failure), end; !failure && entry != end;
       entry.increment(failure)) {
    directories.push_back(entry->path());
  }
  const CleanUp done = clean_up_leftovers(directories);
  for (const auto& line : done.removed) std::cout << "removed " << line << '\n';
  for (const auto& line : done.failures) std::cerr << "cacheoff bench: " << line << '\n';
  if (done.removed.empty() && done.failures.empty()) std::cout << "nothing was left over\n";
  return done.failures.empty() ? kExitSuccess : kExitFailed;
}

/// Sees whether the devices of --device-path may be used, and asks whether all that they hold may
/// be lost, where that was not said already.
Expected<void> prepare_devices(const ExperimentOptions& options) {
  // An ordinary user's cells on devices are skipped.
  if (options.device_paths.empty() || !needs_root(options) || geteuid() != 0) return {};
  if (auto checked = check_devices(options); !checked) return checked;
  if (options.yes || options.dry_run) return {};
  std::string names;
  for (const auto& path : options.device_paths) names += (names.empty() ? "" : ", ") + path;
  if (isatty(STDIN_FILENO) != 1) {
    return usage_problem("--device-path: all that is on " + names +
                         " will be lost; add --yes if it may be");
  }
  std::cerr << "All that is on " << names << " will be lost. Type yes to go on: " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "yes") return usage_problem("--device-path: not confirmed; nothing was done");
  return {};
}

int bench(const std::vector<std::string>& arguments) {
  const auto line = parse_command_line(arguments);
  if (!line) {
    return complain(usage_problem(line.error().text + " (see 'cacheoff bench --help')"));
  }
  if (line->help) {
    print_help(std::cout);
    return kExitSuccess;
  }
  const auto given = new_options(*line);
  if (!given) return complain(given.error());
  if (auto usable = check_state_folder(); !usable) return complain(usable.error());
  if (given->clean_up) return clean_up(*given);
  auto options = resolve_options(*line);
  if (!options) return complain(options.error());
  const auto workload = find_workload(*options);
  if (!workload) return complain(workload.error());
  auto programs = find_programs();
  if (!programs) return complain(programs.error());
  if (auto ready = prepare_devices(*options); !ready) return complain(ready.error());
  if (!options->user.empty()) {
    // What it must reach is not there yet.
    if (auto known = choose_run_user(options->user, {}); !known) return complain(known.error());
  }
  StopSignals stop;
  const auto plan = plan_experiment(*options, *programs, &stop);
  if (!plan) return complain(plan.error());
  if (auto room = check_device_sizes(*options, *plan); !room) return complain(room.error());
  if (options->dry_run) {
    std::cout << describe_plan(*options, *plan);
    return kExitSuccess;
  }
  std::error_code failure;
  std::filesystem::create_directories(options->out, failure);
  if (failure) {
    return complain(usage_problem("--out '" + options->out +
                                  "': can't be made a folder: " + failure.message()));
  }
  ExperimentInputs inputs;
  inputs.options = std::move(*options);
  inputs.workload = *workload;
  inputs.programs = std::move(*programs);
  inputs.command = arguments;
  inputs.command.insert(inputs.command.begin(), {"cacheoff", "bench"});
  inputs.progress = &std::cerr;
  inputs.progress_is_terminal = isatty(STDERR_FILENO) == 1;
  std::cerr << describe_plan(inputs.options, *plan) << "results go to " << inputs.options.out
            << std::endl;
  return run_and_report(inputs, *plan, stop);
}

}  // namespace

int run_bench_command(const std::vector<std::string>& arguments) {
  try {
    return bench(arguments);
  } catch (const std::exception& error) {
    std::cerr << "cacheoff bench: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
