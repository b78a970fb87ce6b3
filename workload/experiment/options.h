// What an experiment is made of: every option of `cacheoff bench`, from the command line or a file.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/event_method.h"
#include "workload/disk/profile.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/memory_demand.h"
#include "workload/experiment/processors.h"
#include "workload/experiment/variation.h"

namespace workload {

/// Cells that are left out: those that match every field that is not empty.
struct Exclusion {
  std::string scheme;
  std::string filesystem;
  std::string mount_options;
};

/// An experiment as asked for. Names of schemes are not checked here: the proxy knows them.
struct ExperimentOptions {
  std::vector<std::string> schemes{"none", "memory", "ufs"};
  std::vector<std::string> filesystems{"here"};
  std::vector<std::string> mounts{""};  ///< Sets of mount options; empty is the default.
  std::map<std::string, std::string> mkfs_options;  ///< By filesystem: words for its mkfs.
  std::vector<unsigned> disks{1};                   ///< Numbers of cache directories.
  /// How the proxy's event loop waits; the program's own is the default.
  std::vector<std::string> event_methods{std::string(storage::own_event_method())};
  std::vector<std::string> device_paths;  ///< Real devices; empty: images.
  std::string device = "native";          ///< Or a profile's name or file.
  /// What `device` names; nothing for native. Read once, so that all runs have the same.
  std::optional<disk::DiskProfile> device_profile;
  uint64_t dirty_limit_bytes = 0;  ///< Of each device; 0 is the machine's own.
  /// Fill traffic, in cache sizes, that modelled disks take without delays; 0 is none.
  double fast_fill = 0;
  std::string directory;  ///< Empty: the result folder.
  std::string user;       ///< Whom root lets the programs run as; empty: see choose_run_user().
  uint64_t cache_size_bytes = 1ULL << 30;
  MemoryDemand memory;  ///< Of the system under test.
  std::string workload = "polymix4";
  std::string trace;  ///< Empty: the workload.
  /// As parse_load_shape() reads it, or parse_ab_load() for static servers.
  std::string load = "best-effort=64";
  uint64_t file_size_bytes = 57'244;  ///< Of the file that static servers serve.
  double time_scale = 20;
  std::string until = "duration=60s";  ///< As parse_goal() reads it; see goal().
  std::string phases;                  ///< As set_phases() reads it; empty: a goal.
  ProcessorList system_processors;     ///< Of the system under test; empty: all.
  ProcessorList load_processors;       ///< Of load generator and origin; empty: all.
  unsigned repeat = 6;
  uint64_t seed = 1;
  bool random_order = true;
  std::string out;  ///< Empty: results/ with the date and time.
  bool resume = false;
  bool dry_run = false;
  bool clean_up = false;  ///< Run nothing; remove what killed runners left.
  bool yes = false;       ///< What the devices hold may be lost without being asked.
  /// By scheme: what is added to its --cache-dir, e.g. `l1=16,l2=64`. From the file only.
  std::map<std::string, std::string> scheme_options;
  /// By scheme: the load that takes the place of `load`, e.g. a peak with another window for a
  /// scheme that never hits. From the file only.
  std::map<std::string, std::string> scheme_loads;
  /// By scheme: the goal that takes the place of `until`, e.g. a duration for a scheme that keeps
  /// nothing, so that there is no fill. From the file only.
  std::map<std::string, std::string> scheme_untils;
  /// Options of cacheoff-proxy by name, without dashes, e.g. `test-delay` = `20us`. From the file
  /// only; see is_proxy_option_free().
  std::map<std::string, std::string> proxy_options;
  /// By the name of another system under test: what replaces single parts of its generated
  /// configuration, by name. From the file only; see check_system_options().
  std::map<std::string, std::map<std::string, std::string>> system_options;
  /// What is run in several variants. From the file only, but for its mode; see check_variation().
  OptionVariation variation;
  std::vector<Exclusion> exclusions;  ///< From the file only.
  /// What a run takes on average, in seconds, where the author of the experiment says so; 0: nobody
  /// does.
  double expected_run_s = 0;
  bool short_form = false;  ///< The file's [short] table overrides it.
  /// Names of the options that were set, rather than left at their default.
  std::vector<std::string> given;

  /// Whether that option was set.
  bool was_given(std::string_view name) const;
  /// Whether the peak finder sets the load.
  bool finds_peak() const;
  /// The goal of a run: `until`, or twice the cache for the peak finder where none was given, or
  /// the requests that the load names itself.
  std::string goal() const;
  /// Seconds that each run's load is on, at most where the goal has more than a duration; nothing
  /// where it has none.
  std::optional<double> run_length_s() const;
};

/// An option by name: the same on the command line and in the file.
struct OptionRow {
  std::string_view name;      ///< `cache-size`.
  std::string_view argument;  ///< `SIZE`, for the help; empty for a switch.
  std::string_view help;
  bool repeatable = false;
  Expected<void> (*set)(ExperimentOptions& options, const std::vector<std::string>& values);
};

/// All options, in the order of the help.
std::span<const OptionRow> option_table();

/// Sets an option by name. The Problem names the option, its value and what would be right.
Expected<void> set_option(ExperimentOptions& options, std::string_view name,
                          const std::vector<std::string>& values);

/// The options as they are for a cell of that scheme: with its own load and goal, where it has
/// them.
ExperimentOptions options_of_scheme(const ExperimentOptions& options, const std::string& scheme);

/// Whether the options fit each other; with a trace, `--until` must be a number of requests and
/// `--load` must be best-effort.
Expected<void> check_options(const ExperimentOptions& options);

/// The values of `cacheoff bench --quick`: a small comparison of about four minutes; ufs runs on
/// a tmpfs too.
ExperimentOptions quick_options();

/// The options that define the work, by name, as `results.json` keeps them. With a trace, what says
/// how a workload is run stands there only where it was given.
boost::json::object options_to_json(const ExperimentOptions& options);

/// Reads back what options_to_json() made; the Problem names the key that is wrong.
Expected<ExperimentOptions> options_from_json(const boost::json::object& experiment);

/// Name of the first option in which two experiments differ in the work that a run does (the
/// number of runs, their order and the places may differ); empty where none does.
std::string first_difference(const ExperimentOptions& left, const ExperimentOptions& right);

}  // namespace workload
