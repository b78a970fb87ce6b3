// Which cells an experiment has, which of them are skipped and why, and in which order they run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/effective_configuration.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"

namespace workload {

/// A row of `cacheoff-proxy --list-schemes`.
struct SchemeRow {
  std::string name;
  bool persistent = false;
  bool needs_path = false;
  bool takes_device = false;  ///< Its path may be a block device.
  std::string summary;
};

/// Reads the tab-separated list; the Problem names the line that is wrong.
Expected<std::vector<SchemeRow>> parse_scheme_list(std::string_view text);

/// One combination that is run again and again.
struct CellPlan {
  std::string name;  ///< Unique; letters, digits and `.=-` only, so a folder's name too.
  std::string scheme;
  std::string filesystem;     ///< Empty for a scheme that keeps nothing on a filesystem.
  std::string mount_options;  ///< Empty for the default.
  bool needs_path = false;
  unsigned disks = 0;          ///< Cache directories; 0 where the scheme needs no path.
  std::string scheme_options;  ///< Added to --cache-dir; may be empty.
  std::string event_method;    ///< Of the proxy; empty where the cell has none.
  /// Name of the set of options that it has; kBaseVariant for what they are compared with, empty
  /// where nothing of the cell is varied.
  std::string variant;
  std::string variant_of;  ///< Name of the cell that is its base; empty for a base.
  /// Of its system, by name: what the variant has in the place of the base's.
  std::map<std::string, std::string> variant_options;
  /// Set by configure_variants(); empty where nothing of the cell is varied.
  EffectiveConfiguration configuration;
};

/// Whether the cell's proxy is another program than the ordinary one, for its event method.
bool is_of_variant(const CellPlan& cell);

/// A cell that is not run.
struct SkippedCell {
  std::string name;
  std::string reason;
};

/// A cell's run in its place in the order.
struct PlannedRun {
  size_t cell = 0;     ///< Index of the cell.
  unsigned round = 0;  ///< From 1; the cell's run of that round.
};

/// All that will be done.
struct Plan {
  std::vector<CellPlan> cells;
  std::vector<SkippedCell> skipped;
  std::vector<PlannedRun> order;  ///< Rounds one after the other, each with every cell once.
};

/// Why this machine or this user can't run a cell; empty where it can.
using CellCheck = std::function<std::string(const CellPlan& cell)>;

/// Lays the experiment out. A scheme that needs no path is one cell, whatever the filesystems and
/// disks; `here` and `raw` take no mount options. Behind each cell come its variants. No disks at
/// all is the scheme `none`. Cells that can't be are skipped with the reason, those that `check`
/// has something against too. A Problem where a scheme is unknown or no cell is left.
Expected<Plan> make_plan(const ExperimentOptions& options, const std::vector<SchemeRow>& schemes,
                         const CellCheck& check);

/// The order of `rounds` rounds over so many cells; shuffled within each round by the seed, or as
/// listed.
std::vector<PlannedRun> run_order(size_t cells, unsigned rounds, uint64_t seed, bool random);

/// The workload's seed in a round: the same for all cells of the round, so that they do the same
/// work, another in each round, so that the spread over runs includes the workload's own.
uint64_t seed_of_round(uint64_t seed, unsigned round);

/// A `--cache-dir` of a cell, for a cache of that size in `folder`.
std::string cache_dir_argument(const CellPlan& cell, const std::string& folder,
                               uint64_t cache_size_bytes);

}  // namespace workload
