#include "workload/experiment/cell_description.h"

#include <algorithm>

#include "workload/disk/profile_file.h"
#include "workload/experiment/place_options.h"
#include "workload/experiment/static_options.h"
#include "workload/experiment/webproxy_run.h"
#include "workload/filesystem/cache_places.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

/// What a cell's system is configured by.
void add_system(const CellPlan& cell, const ExperimentOptions& options,
                boost::json::object& about) {
  boost::json::object system_options;
  for (const auto& [name, value] : options_of_cell(cell, options)) system_options[name] = value;
  if (!is_other_system(cell.scheme)) {
    about["cache_dir"] =
        cache_dir_argument(cell, "CACHE_FOLDER", cache_share_bytes(cell, options.cache_size_bytes));
    if (!system_options.empty()) about["proxy_options"] = std::move(system_options);
    return;
  }
  about["system"] = system_of_scheme(cell.scheme).system;
  about["scheme_options"] = cell.scheme_options;
  about["system_options"] = std::move(system_options);
}

/// The base that a cell is a variant of, or its own name.
const std::string& family_of(const CellResult& cell) {
  return cell.variant_of.empty() ? cell.name : cell.variant_of;
}

}  // namespace

std::string device_name(const CellPlan& cell, const ExperimentOptions& options) {
  if (is_on_modelled_disks(cell, options)) return options.device_profile->name;
  if (device_size_of_cell(cell, options.cache_size_bytes) == 0 || options.device_paths.empty()) {
    return "native";
  }
  std::string names;
  for (unsigned i = 0; i < cell.disks; ++i) {
    names += (i == 0 ? "" : ",") + options.device_paths[i];
  }
  return names;
}

CellResult empty_result(const CellPlan& cell, const ExperimentOptions& options) {
  CellResult result;
  result.name = cell.name;
  result.system =
      is_webproxy(cell.scheme) ? kNoCacheSystem : std::string(system_of_scheme(cell.scheme).system);
  result.scheme = cell.scheme;
  result.filesystem = cell.filesystem;
  result.mount_options = cell.mount_options;
  result.event_method = cell.event_method;
  result.variant = cell.variant;
  result.variant_of = cell.variant_of;
  result.configuration = cell.configuration;
  result.device = device_name(cell, options);
  result.disks = cell.disks;
  // What fill ratios refer to, also where nothing is kept.
  if (!is_static_scheme(cell.scheme)) result.cache_size_bytes = options.cache_size_bytes;
  return result;
}

void keep_varied_settings(std::vector<CellResult>& cells) {
  for (const auto& base : cells) {
    if (base.variant.empty() || !base.variant_of.empty()) continue;
    std::vector<EffectiveConfiguration*> family;
    for (auto& cell : cells) {
      if (family_of(cell) == base.name) family.push_back(&cell.configuration);
    }
    keep_differences(family);
  }
}

boost::json::object cell_description(const CellPlan& cell, const ExperimentOptions& options) {
  boost::json::object about{
      {"name", cell.name},
      {"scheme", cell.scheme},
      {"filesystem", cell.filesystem},
      {"mount_options", cell.mount_options},
      {"event_method", cell.event_method},
      {"disks", cell.disks},
      {"device_size_bytes", device_size_of_cell(cell, options.cache_size_bytes)},
      {"mkfs_options", mkfs_options_for(options, cell.filesystem)},
      {"cache_share_bytes", cache_share_bytes(cell, options.cache_size_bytes)}};
  if (is_static_scheme(cell.scheme)) about["cache_share_bytes"] = nullptr;
  add_system(cell, options, about);
  if (!cell.variant.empty()) {
    about["variant"] = cell.variant;
    about["variant_of"] = cell.variant_of.empty() ? nullptr : boost::json::value(cell.variant_of);
    boost::json::object changed;
    for (const auto& [name, value] : cell.variant_options) changed[name] = value;
    about["variant_options"] = std::move(changed);
    about["effective_configuration"] = configuration_to_json(cell.configuration);
  }
  if (is_on_modelled_disks(cell, options)) {
    about["device"] = device_name(cell, options);
    about["device_time_scale"] = device_time_scale(options);
    about["device_profile"] = disk::profile_to_toml(*options.device_profile);
  }
  return about;
}

std::string describe_variant(const CellPlan& cell, const Plan& plan) {
  if (cell.variant.empty()) return {};
  if (cell.variant_of.empty()) return ", the base";
  std::string text = ", variant " + cell.variant;
  for (const auto& other : plan.cells) {
    if (&other == &cell) break;
    if (other.name != cell.variant_of && other.variant_of != cell.variant_of) continue;
    const auto reason = why_same(other.configuration, cell.configuration);
    if (!reason) continue;
    const std::string whose =
        other.variant_of.empty() ? std::string("the base") : "variant " + other.variant;
    return text + " (the same configuration as " + whose + (reason->empty() ? "" : ": ") + *reason +
           ")";
  }
  return text;
}

}  // namespace workload
