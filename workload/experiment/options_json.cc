// The options of an experiment as results.json keeps them, and back.
#include <algorithm>
#include <array>
#include <charconv>

#include "workload/experiment/options.h"
#include "workload/experiment/static_options.h"
#include "workload/report/json_text.h"

namespace workload {

boost::json::object options_to_json(const ExperimentOptions& options) {
  const auto list = [](const std::vector<std::string>& values) {
    boost::json::array array;
    for (const auto& value : values) array.emplace_back(value);
    return array;
  };
  boost::json::object out;
  out["scheme"] = list(options.schemes);
  out["filesystem"] = list(options.filesystems);
  std::vector<std::string> mounts = options.mounts;
  std::replace(mounts.begin(), mounts.end(), std::string(), std::string("default"));
  out["mount"] = list(mounts);
  boost::json::array mkfs;
  for (const auto& [name, words] : options.mkfs_options) mkfs.emplace_back(name + "=" + words);
  if (!mkfs.empty()) out["mkfs"] = std::move(mkfs);
  std::vector<std::string> disks;
  for (const unsigned number : options.disks) disks.push_back(std::to_string(number));
  out["disks"] = list(disks);
  if (options.was_given("event-method")) out["event-method"] = list(options.event_methods);
  if (!options.device_paths.empty()) out["device-path"] = list(options.device_paths);
  if (options.device_profile) out["device"] = options.device;
  if (options.dirty_limit_bytes > 0) {
    out["dirty-limit"] = std::to_string(options.dirty_limit_bytes);
  }
  if (options.fast_fill > 0) {
    char ratio[32];
    out["fast-fill"] = std::string(ratio, std::to_chars(ratio, ratio + 32, options.fast_fill).ptr);
  }
  if (!options.user.empty()) out["user"] = options.user;
  if (!options.directory.empty()) out["directory"] = options.directory;
  const auto ab = ab_load_of(options);
  if (ab) {
    out["file-size"] = std::to_string(options.file_size_bytes);
  } else {
    out["cache-size"] = std::to_string(options.cache_size_bytes);
  }
  if (options.memory.any()) out["memory"] = options.memory.text();
  for (const auto& [name, processors] : {std::pair("system-cpus", &options.system_processors),
                                         std::pair("load-cpus", &options.load_processors)}) {
    if (!processors->empty()) out[name] = processors_text(*processors);
  }
  if (!options.trace.empty()) out["trace"] = options.trace;
  char scale[32];
  const std::string time_scale(scale, std::to_chars(scale, scale + 32, options.time_scale).ptr);
  for (const auto& [name, value] :
       {std::pair<const char*, std::string>{"workload", options.workload},
        {"load", options.load},
        {"time-scale", time_scale},
        {"until", options.goal()}}) {
    const std::string_view option = name;
    if (option == "until" && !options.phases.empty()) continue;
    // Static servers have no workload, and their load may say itself how long it is.
    if (ab && (option == "workload" || (option == "until" && ab->requests))) continue;
    if (options.trace.empty() || options.was_given(name)) out[name] = value;
  }
  if (!options.phases.empty()) out["phases"] = options.phases;
  out["repeat"] = std::to_string(options.repeat);
  out["seed"] = std::to_string(options.seed);
  out["order"] = options.random_order ? "random" : "listed";
  boost::json::object scheme_options;
  for (const auto& [scheme, text] : options.scheme_options) scheme_options[scheme] = text;
  out["scheme-options"] = std::move(scheme_options);
  if (!options.scheme_loads.empty()) {
    boost::json::object scheme_loads;
    for (const auto& [scheme, text] : options.scheme_loads) scheme_loads[scheme] = text;
    out["scheme-load"] = std::move(scheme_loads);
  }
  if (!options.scheme_untils.empty()) {
    boost::json::object scheme_untils;
    for (const auto& [scheme, text] : options.scheme_untils) scheme_untils[scheme] = text;
    out["scheme-until"] = std::move(scheme_untils);
  }
  if (!options.proxy_options.empty()) {
    boost::json::object proxy_options;
    for (const auto& [name, text] : options.proxy_options) proxy_options[name] = text;
    out["proxy-options"] = std::move(proxy_options);
  }
  if (!options.system_options.empty()) {
    boost::json::object systems;
    for (const auto& [system, values] : options.system_options) {
      auto& table = systems[system].emplace_object();
      for (const auto& [name, text] : values) table[name] = text;
    }
    out["system-options"] = std::move(systems);
  }
  if (options.variation.any()) {
    out["vary"] = varied_options_to_json(options.variation);
    out["variant"] = named_variants_to_json(options.variation);
    out["vary-mode"] = options.variation.crossed ? "crossed" : "one-at-a-time";
  }
  boost::json::array exclusions;
  for (const auto& exclusion : options.exclusions) {
    exclusions.push_back({{"scheme", exclusion.scheme},
                          {"filesystem", exclusion.filesystem},
                          {"mount", exclusion.mount_options}});
  }
  out["exclude"] = std::move(exclusions);
  return out;
}

Expected<ExperimentOptions> options_from_json(const boost::json::object& experiment) {
  ExperimentOptions options;
  for (const auto& member : experiment) {
    const std::string name(member.key());
    if (name == "scheme-options" || name == "scheme-load" || name == "scheme-until" ||
        name == "proxy-options") {
      const auto* table = member.value().if_object();
      if (table == nullptr) return run_problem("experiment." + name + " must be an object");
      auto& into = name == "scheme-options" ? options.scheme_options
                   : name == "scheme-load"  ? options.scheme_loads
                   : name == "scheme-until" ? options.scheme_untils
                                            : options.proxy_options;
      for (const auto& row : *table) into[row.key()] = text_at(*table, row.key());
      continue;
    }
    if (name == "system-options") {
      const auto* systems = member.value().if_object();
      if (systems == nullptr) return run_problem("experiment." + name + " must be an object");
      for (const auto& system : *systems) {
        const auto* table = system.value().if_object();
        if (table == nullptr) return run_problem("experiment." + name + " must hold objects");
        auto& into = options.system_options[system.key()];
        for (const auto& row : *table) into[row.key()] = text_at(*table, row.key());
      }
      continue;
    }
    if (name == "vary" || name == "variant") {
      auto done = name == "vary" ? read_varied_options(options.variation, member.value())
                                 : read_named_variants(options.variation, member.value());
      if (!done) return done.error();
      continue;
    }
    const auto* array = member.value().if_array();
    if (name == "exclude" && array != nullptr) {
      for (const auto& row : *array) {
        if (!row.is_object()) return run_problem("experiment.exclude must hold objects");
        const auto& fields = row.get_object();
        options.exclusions.push_back(
            {text_at(fields, "scheme"), text_at(fields, "filesystem"), text_at(fields, "mount")});
      }
      continue;
    }
    // What is for one start alone is never taken from a file of results.
    constexpr std::array<std::string_view, 6> kOfOneStart{"yes",      "resume", "dry-run",
                                                          "clean-up", "out",    "short"};
    if (std::find(kOfOneStart.begin(), kOfOneStart.end(), name) != kOfOneStart.end()) {
      return run_problem("experiment." + name + ": is no part of an experiment");
    }
    std::vector<std::string> values;
    if (array != nullptr) {
      for (const auto& value : *array) {
        if (value.is_string()) values.emplace_back(value.get_string());
      }
    } else {
      values.push_back(text_at(experiment, name));
    }
    if (auto done = set_option(options, name, values); !done) {
      return run_problem("experiment." + name + ": " + done.error().text);
    }
  }
  return options;
}

std::string first_difference(const ExperimentOptions& left, const ExperimentOptions& right) {
  // Whether there is a trace decides which other options are written out at all.
  if (left.trace != right.trace) return "trace";
  boost::json::object ours = options_to_json(left);
  boost::json::object theirs = options_to_json(right);
  for (const auto* free : {"repeat", "order", "directory"}) {
    ours.erase(free);
    theirs.erase(free);
  }
  for (const auto* side : {&ours, &theirs}) {
    const auto& other_side = side == &ours ? theirs : ours;
    for (const auto& member : *side) {
      const auto* other = other_side.if_contains(member.key());
      if (other == nullptr || *other != member.value()) return member.key();
    }
  }
  return {};
}

}  // namespace workload
