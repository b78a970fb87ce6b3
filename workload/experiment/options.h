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

#include "workload/experiment/expected.h"

namespace workload {

/// When a run ends.
struct Goal {
  enum class Kind { kDuration, kRequests, kFill };
  Kind kind = Kind::kDuration;
  double value = 0;  ///< Seconds, requests, or multiples of the cache size; positive.
  std::string text;  ///< As given: `duration=60s`.
};

/// Reads `duration=60s`, `requests=100000`, `fill=2.0`.
Expected<Goal> parse_goal(std::string_view text);

/// Checks `best-effort=N` or `robots=N` (N from 1 to 100000) and gives it back.
Expected<std::string> parse_load(std::string_view text);

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
  std::string directory;                ///< Empty: the result folder.
  uint64_t cache_size_bytes = 1ULL << 30;
  std::string workload = "polymix4";
  std::string trace;  ///< Empty: the workload.
  std::string load = "best-effort=64";
  double time_scale = 20;
  Goal until{Goal::Kind::kDuration, 60, "duration=60s"};
  unsigned repeat = 6;
  uint64_t seed = 1;
  bool random_order = true;
  std::string out;  ///< Empty: results/ with the date and time.
  bool resume = false;
  bool dry_run = false;
  /// By scheme: what is added to its --cache-dir, e.g. `l1=16,l2=64`. From the file only.
  std::map<std::string, std::string> scheme_options;
  std::vector<Exclusion> exclusions;  ///< From the file only.
  /// Names of the options that were set, rather than left at their default.
  std::vector<std::string> given;
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

/// The values of `cacheoff bench --quick`: a small comparison of about three minutes. With
/// `can_mount`, ufs runs on a tmpfs too.
ExperimentOptions quick_options(bool can_mount);

/// The options that define the work, by name, as `results.json` keeps them.
boost::json::object options_to_json(const ExperimentOptions& options);

/// Reads back what options_to_json() made; the Problem names the key that is wrong.
Expected<ExperimentOptions> options_from_json(const boost::json::object& experiment);

/// Name of the first option in which two experiments differ in the work that a run does (the
/// number of runs, their order and the places may differ); empty where none does.
std::string first_difference(const ExperimentOptions& left, const ExperimentOptions& right);

}  // namespace workload
