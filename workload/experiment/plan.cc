#include "workload/experiment/plan.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "storage/base/event_method.h"
#include "storage/base/random.h"
#include "workload/experiment/place_options.h"
#include "workload/experiment/webproxy_run.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

/// Of a cell's name: the options can be many.
constexpr size_t kVariantPartMax = 48;

bool is_beside_base(const CellPlan& cell) {
  return !cell.variant.empty() && cell.variant != kBaseVariant;
}

/// Keeps what is harmless in a file name, a script and a page.
std::string name_part(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '=' || c == '-';
    out += plain ? c : '-';
  }
  return out;
}

std::string cell_name(const CellPlan& cell) {
  std::string name = name_part(cell.scheme);
  if (!cell.filesystem.empty()) name += "-" + name_part(cell.filesystem);
  if (!cell.mount_options.empty()) name += "-" + name_part(cell.mount_options);
  std::string end = cell.disks > 1 ? "-" + std::to_string(cell.disks) + "disks" : "";
  if (is_of_variant(cell)) end += "-" + name_part(cell.event_method);
  if (is_beside_base(cell)) end += "-" + name_part(cell.variant).substr(0, kVariantPartMax);
  return name.substr(0, 80 - end.size()) + end;
}

std::string unique_name(std::set<std::string>& taken, const CellPlan& cell) {
  const std::string base = cell_name(cell);
  std::string name = base;
  for (int number = 2; !taken.insert(name).second; ++number) {
    name = base + "-" + std::to_string(number);
  }
  return name;
}

bool is_excluded(const CellPlan& cell, const ExperimentOptions& options) {
  return std::any_of(
      options.exclusions.begin(), options.exclusions.end(), [&](const Exclusion& exclusion) {
        const std::string mount = cell.mount_options.empty() ? "default" : cell.mount_options;
        return (exclusion.scheme.empty() || exclusion.scheme == cell.scheme) &&
               (exclusion.filesystem.empty() || exclusion.filesystem == cell.filesystem) &&
               (exclusion.mount_options.empty() || exclusion.mount_options == mount);
      });
}

std::string known_names(const std::vector<SchemeRow>& schemes) {
  std::string names;
  for (const auto& row : schemes) names += (names.empty() ? "" : ", ") + row.name;
  return names;
}

Expected<void> check_combination(const ExperimentOptions& options,
                                 const std::vector<SchemeRow>& schemes) {
  const auto find_scheme = [&](const std::string& name) {
    return std::any_of(schemes.begin(), schemes.end(),
                       [&](const SchemeRow& row) { return row.name == name; });
  };
  for (const auto& name : options.schemes) {
    if (!find_scheme(name)) {
      return usage_problem("--scheme '" + name + "': no such scheme; there are " +
                           known_names(schemes));
    }
  }
  for (const auto& [name, text] : options.scheme_options) {
    if (!find_scheme(name)) {
      return usage_problem("scheme-options." + name + ": no such scheme; there are " +
                           known_names(schemes));
    }
  }
  const bool mounts_any = std::any_of(options.filesystems.begin(), options.filesystems.end(),
                                      [](const auto& name) { return is_mounted_filesystem(name); });
  for (const auto& mount : options.mounts) {
    if (!mount.empty() && !mounts_any) {
      return usage_problem("--mount '" + mount +
                           "': only a filesystem that cacheoff mounts takes options; add "
                           "--filesystem tmpfs, ext4 or another of those");
    }
  }
  return {};
}

/// Why there can't be such a cell on any machine; empty where there can.
std::string why_never(const CellPlan& cell, const SchemeRow& row,
                      const ExperimentOptions& options) {
  if (cell.filesystem == "raw" && !row.takes_device) {
    return cell.scheme + " keeps files, and can't use a block device as it is";
  }
  if (cell.filesystem == "here" && cell.disks > 1) {
    return "the folder as it is lies on one device; several disks need tmpfs, raw or a filesystem "
           "that is made on each";
  }
  const bool on_device = cell.filesystem != "here" && cell.filesystem != "tmpfs";
  if (on_device && !options.device_paths.empty() && cell.disks > options.device_paths.size()) {
    return "--device-path names only " + std::to_string(options.device_paths.size()) +
           (options.device_paths.size() == 1 ? " device" : " devices");
  }
  return {};
}

/// The cells of a scheme that keeps something on a filesystem, in the order of the table.
std::vector<CellPlan> cells_on_filesystems(const CellPlan& model,
                                           const ExperimentOptions& options) {
  std::vector<CellPlan> cells;
  CellPlan cell = model;
  for (const auto& filesystem : options.filesystems) {
    cell.filesystem = filesystem;
    const std::vector<std::string> no_options{""};
    for (const auto& mount : is_mounted_filesystem(filesystem) ? options.mounts : no_options) {
      cell.mount_options = mount;
      for (const unsigned disks : options.disks) {
        cell.disks = disks;
        if (disks > 0) cells.push_back(cell);
      }
    }
  }
  return cells;
}

std::vector<CellVariant> variants_of_cell(const CellPlan& cell, const ExperimentOptions& options) {
  if (is_webproxy(cell.scheme)) return {};
  return variants_of(options.variation, system_in_variation(cell.scheme), cell.scheme);
}

/// The schemes asked for, and `none` where a cell without disks was asked for.
std::vector<std::string> schemes_of(const ExperimentOptions& options) {
  std::vector<std::string> schemes = options.schemes;
  const bool wants_none =
      std::find(options.disks.begin(), options.disks.end(), 0U) != options.disks.end();
  if (wants_none && std::find(schemes.begin(), schemes.end(), "none") == schemes.end()) {
    schemes.insert(schemes.begin(), "none");
  }
  return schemes;
}

}  // namespace

bool is_of_variant(const CellPlan& cell) {
  return !cell.event_method.empty() && cell.event_method != storage::own_event_method();
}

Expected<std::vector<SchemeRow>> parse_scheme_list(std::string_view text) {
  std::vector<SchemeRow> rows;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    SchemeRow row;
    std::string persistent;
    std::string needs_path;
    std::getline(fields, row.name, '\t');
    std::getline(fields, persistent, '\t');
    std::getline(fields, needs_path, '\t');
    std::getline(fields, row.summary, '\t');
    // Only newer proxies say it.
    std::string takes_device = "0";
    std::getline(fields, takes_device);
    const auto is_flag = [](const std::string& field) { return field == "0" || field == "1"; };
    if (row.name.empty() || !is_flag(persistent) || !is_flag(needs_path) ||
        !is_flag(takes_device)) {
      return run_problem("cacheoff-proxy --list-schemes printed an unreadable line: '" + line +
                         "'");
    }
    row.persistent = persistent == "1";
    row.needs_path = needs_path == "1";
    row.takes_device = takes_device == "1";
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return run_problem("cacheoff-proxy --list-schemes printed no scheme");
  return rows;
}

Expected<Plan> make_plan(const ExperimentOptions& options, const std::vector<SchemeRow>& schemes,
                         const CellCheck& check) {
  if (auto checked = check_combination(options, schemes); !checked) return checked.error();
  Plan plan;
  std::set<std::string> taken;
  const auto add_one = [&](CellPlan& cell, const SchemeRow& row) {
    cell.name = unique_name(taken, cell);
    std::string reason = why_never(cell, row, options);
    if (reason.empty()) reason = check(cell);
    if (reason.empty()) {
      plan.cells.push_back(cell);
    } else {
      plan.skipped.push_back({cell.name, reason});
    }
  };
  const auto add = [&](CellPlan cell, const SchemeRow& row) {
    if (is_excluded(cell, options)) return;
    const auto variants = variants_of_cell(cell, options);
    if (!variants.empty()) cell.variant = kBaseVariant;
    add_one(cell, row);
    for (const auto& variant : variants) {
      CellPlan other = cell;
      other.variant = variant.name;
      other.variant_of = cell.name;
      other.variant_options = variant.options;
      if (variant.scheme_options) other.scheme_options = *variant.scheme_options;
      add_one(other, row);
    }
  };
  for (const auto& name : schemes_of(options)) {
    const auto row = std::find_if(schemes.begin(), schemes.end(),
                                  [&](const SchemeRow& known) { return known.name == name; });
    if (row == schemes.end()) return usage_problem("--disks 0: there is no scheme " + name);
    CellPlan cell;
    cell.scheme = name;
    cell.needs_path = row->needs_path;
    if (const auto extra = options.scheme_options.find(name);
        extra != options.scheme_options.end()) {
      cell.scheme_options = extra->second;
    }
    // Only our own proxy's is ours to choose.
    const bool is_own = !is_webproxy(name) && !is_other_system(name);
    const std::vector<std::string> without{""};
    for (const auto& method : is_own ? options.event_methods : without) {
      cell.event_method = method;
      if (!row->needs_path) {
        add(cell, *row);
        continue;
      }
      for (const auto& placed : cells_on_filesystems(cell, options)) add(placed, *row);
    }
  }
  if (plan.cells.empty() && plan.skipped.empty()) {
    return usage_problem("every cell is excluded; nothing is left to run");
  }
  plan.order = run_order(plan.cells.size(), options.repeat, options.seed, options.random_order);
  return plan;
}

std::vector<PlannedRun> run_order(size_t cells, unsigned rounds, uint64_t seed, bool random) {
  std::vector<PlannedRun> order;
  for (unsigned round = 1; round <= rounds; ++round) {
    const auto begin = static_cast<std::ptrdiff_t>(order.size());
    for (size_t cell = 0; cell < cells; ++cell) order.push_back({cell, round});
    if (!random) continue;
    storage::Random dice = storage::Random(seed).fork(round);
    for (size_t left = cells; left > 1; --left) {
      std::swap(order[static_cast<size_t>(begin) + left - 1],
                order[static_cast<size_t>(begin) + dice.below(left)]);
    }
  }
  return order;
}

uint64_t seed_of_round(uint64_t seed, unsigned round) {
  return seed + round - 1;
}

std::string cache_dir_argument(const CellPlan& cell, const std::string& folder,
                               uint64_t cache_size_bytes) {
  std::string argument = "scheme=" + cell.scheme;
  if (cell.needs_path) argument += ",path=" + folder;
  // `none` keeps nothing, so it has no capacity to state.
  if (cell.scheme != "none") argument += ",size=" + std::to_string(cache_size_bytes);
  if (!cell.scheme_options.empty()) argument += "," + cell.scheme_options;
  return argument;
}

}  // namespace workload
