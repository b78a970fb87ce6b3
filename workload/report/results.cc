#include "workload/report/results.h"

#include <algorithm>

#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr size_t kCellsMax = 10'000;
constexpr size_t kRunsMax = 10'000;

boost::json::object estimate_to_json(const Estimate& estimate) {
  return {{"median", json_number(estimate.median)},
          {"low", json_number(estimate.low)},
          {"high", json_number(estimate.high)},
          {"n", estimate.n}};
}

bool counts(const boost::json::object& run) {
  const auto* failure = run.if_contains("failure");
  return failure == nullptr || failure->is_null();
}

boost::json::array texts_to_json(const std::vector<std::string>& texts) {
  boost::json::array out;
  for (const auto& text : texts) out.emplace_back(text);
  return out;
}

boost::json::object cell_to_json(const CellResult& cell) {
  boost::json::object out;
  out["name"] = cell.name;
  out["system"] = cell.system;
  out["scheme"] = cell.scheme;
  out["filesystem"] = cell.filesystem;
  out["mount_options"] = cell.mount_options;
  out["event_method"] = cell.event_method.empty() ? nullptr : boost::json::value(cell.event_method);
  if (!cell.variant.empty()) {
    out["variant"] = cell.variant;
    out["variant_of"] = cell.variant_of.empty() ? nullptr : boost::json::value(cell.variant_of);
    out["configuration"] = configuration_to_json(cell.configuration);
  }
  out["device"] = cell.device;
  out["disks"] = cell.disks;
  out["cache_size_bytes"] =
      cell.cache_size_bytes == 0 ? nullptr : boost::json::value(cell.cache_size_bytes);
  out["throughput_rps"] = estimate_to_json(cell_estimate(cell, "throughput_rps"));
  out["response_time_ms"] = estimate_to_json(cell_estimate(cell, "response_time_ms.mean"));
  out["hit_ratio_percent"] = estimate_to_json(cell_estimate(cell, "hit_ratio_percent"));
  out["byte_hit_ratio_percent"] = estimate_to_json(cell_estimate(cell, "byte_hit_ratio_percent"));
  const auto* shown = representative_run(cell);
  out["representative_run"] =
      shown == nullptr ? nullptr : boost::json::value(count_at(*shown, "run"));
  boost::json::array failed;
  for (const auto& run : cell.failed_runs) {
    failed.push_back({{"run", run.run}, {"reason", run.reason}});
  }
  out["failed_runs"] = std::move(failed);
  out["unfinished"] = cell.unfinished;
  boost::json::array runs;
  for (const auto& run : cell.runs) runs.emplace_back(run);
  out["runs"] = std::move(runs);
  return out;
}

/// Reads members of one object and remembers the first that is wrong.
class MemberReader {
 public:
  MemberReader(const boost::json::object& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  std::string text(std::string_view key) {
    const auto* value = object_.if_contains(key);
    if (value != nullptr && value->is_string()) return std::string(value->get_string());
    complain(key, "must be a string");
    return {};
  }

  uint64_t count(std::string_view key) {
    const auto* value = object_.if_contains(key);
    if (value != nullptr &&
        (value->is_uint64() || (value->is_int64() && value->get_int64() >= 0))) {
      return value->is_uint64() ? value->get_uint64() : static_cast<uint64_t>(value->get_int64());
    }
    complain(key, "must be a whole number");
    return 0;
  }

  std::vector<boost::json::object> objects(std::string_view key, size_t count_max) {
    const auto* value = object_.if_contains(key);
    const auto* array = value == nullptr ? nullptr : value->if_array();
    std::vector<boost::json::object> out;
    if (array == nullptr || array->size() > count_max) {
      complain(key, "must be a list of objects");
      return out;
    }
    for (const auto& element : *array) {
      if (!element.is_object()) {
        complain(key, "must be a list of objects");
        return out;
      }
      out.push_back(element.get_object());
    }
    return out;
  }

  boost::json::object object(std::string_view key) {
    const auto* value = object_.if_contains(key);
    if (value != nullptr && value->is_object()) return value->get_object();
    complain(key, "must be an object");
    return {};
  }

  void complain(std::string_view key, std::string_view what) {
    if (problem_.empty()) problem_ = where_ + std::string(key) + " " + std::string(what);
  }

  const std::string& problem() const { return problem_; }

 private:
  const boost::json::object& object_;
  std::string where_;
  std::string problem_;
};

Expected<CellResult> cell_from_json(const boost::json::object& json, const std::string& where) {
  MemberReader reader(json, where);
  CellResult cell;
  cell.name = reader.text("name");
  cell.system = reader.text("system");
  cell.scheme = reader.text("scheme");
  cell.filesystem = reader.text("filesystem");
  cell.mount_options = reader.text("mount_options");
  cell.event_method = text_at(json, "event_method");  // older results have none
  cell.variant = text_at(json, "variant");            // only where options were varied
  cell.variant_of = text_at(json, "variant_of");
  if (const auto* lines = json.if_contains("configuration"); lines && lines->is_array()) {
    cell.configuration = configuration_from_json(lines->get_array());
  }
  cell.device = reader.text("device");
  cell.disks = reader.count("disks");
  const auto* cache_size = json.if_contains("cache_size_bytes");
  const bool has_cache = cache_size == nullptr || !cache_size->is_null();
  if (has_cache) cell.cache_size_bytes = reader.count("cache_size_bytes");
  cell.runs = reader.objects("runs", kRunsMax);
  for (const auto& row : reader.objects("failed_runs", kRunsMax)) {
    cell.failed_runs.push_back(
        {static_cast<unsigned>(count_at(row, "run")), text_at(row, "reason")});
  }
  if (const auto* unfinished = json.if_contains("unfinished")) {
    cell.unfinished = unfinished->is_bool() && unfinished->get_bool();
  }
  if (!is_cell_name(cell.name)) reader.complain("name", "is no name of a cell");
  if (!reader.problem().empty()) return run_problem(reader.problem());
  return cell;
}

}  // namespace

bool is_cell_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '=' || c == '-';
         });
}

std::vector<const boost::json::object*> counting_runs(const CellResult& cell) {
  std::vector<const boost::json::object*> runs;
  for (const auto& run : cell.runs) {
    if (counts(run)) runs.push_back(&run);
  }
  return runs;
}

std::vector<double> run_values(const CellResult& cell, std::string_view path) {
  std::vector<double> values;
  for (const auto* run : counting_runs(cell)) {
    if (const auto value = number_at(*run, path)) values.push_back(*value);
  }
  return values;
}

Estimate cell_estimate(const CellResult& cell, std::string_view path) {
  constexpr uint64_t kBootstrapSeed = 1;
  return estimate_median(run_values(cell, path), kBootstrapSeed);
}

const boost::json::object* representative_run(const CellResult& cell) {
  std::vector<const boost::json::object*> ranked;
  for (const auto* run : counting_runs(cell)) {
    if (number_at(*run, "throughput_rps")) ranked.push_back(run);
  }
  if (ranked.empty()) return nullptr;
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* left, const auto* right) {
    return *number_at(*left, "throughput_rps") < *number_at(*right, "throughput_rps");
  });
  return ranked[(ranked.size() - 1) / 2];
}

const CellResult* find_cell(const Results& results, std::string_view name) {
  const auto cell = std::find_if(results.cells.begin(), results.cells.end(),
                                 [&](const CellResult& known) { return known.name == name; });
  return cell == results.cells.end() ? nullptr : &*cell;
}

boost::json::object results_to_json(const Results& results) {
  boost::json::object out;
  out["schema_version"] = kResultsSchemaVersion;
  out["cacheoff_version"] = CACHEOFF_VERSION;
  out["seed"] = results.seed;
  out["environment"] = results.environment;
  out["experiment"] = results.experiment;
  if (!results.work.empty()) out["work"] = results.work;
  out["warnings"] = texts_to_json(results.warnings);
  boost::json::array cells;
  for (const auto& cell : results.cells) cells.emplace_back(cell_to_json(cell));
  out["cells"] = std::move(cells);
  boost::json::array skipped;
  for (const auto& cell : results.skipped) {
    skipped.push_back({{"name", cell.name}, {"reason", cell.reason}});
  }
  out["skipped"] = std::move(skipped);
  return out;
}

Expected<Results> results_from_json(const boost::json::object& json, const std::string& file) {
  const auto damaged = [&](const std::string& what) {
    return run_problem("'" + file + "' is damaged: " + what);
  };
  MemberReader reader(json, "");
  const uint64_t version = reader.count("schema_version");
  if (reader.problem().empty() && version != kResultsSchemaVersion) {
    return run_problem("'" + file + "' has schema_version " + std::to_string(version) +
                       "; this cacheoff reads " + std::to_string(kResultsSchemaVersion));
  }
  Results results;
  results.seed = reader.count("seed");
  results.environment = reader.object("environment");
  results.experiment = reader.object("experiment");
  if (json.if_contains("work") != nullptr) results.work = reader.object("work");
  if (const auto* warnings = json.if_contains("warnings"); warnings && warnings->is_array()) {
    for (const auto& warning : warnings->get_array()) {
      if (warning.is_string()) results.warnings.emplace_back(warning.get_string());
    }
  }
  const auto cells = reader.objects("cells", kCellsMax);
  for (const auto& row : reader.objects("skipped", kCellsMax)) {
    results.skipped.push_back({text_at(row, "name"), text_at(row, "reason")});
  }
  if (!reader.problem().empty()) return damaged(reader.problem());
  for (size_t i = 0; i < cells.size(); ++i) {
    auto cell = cell_from_json(cells[i], "cells[" + std::to_string(i) + "].");
    if (!cell) return damaged(cell.error().text);
    if (find_cell(results, cell->name) != nullptr) {
      return damaged("two cells are named " + cell->name);
    }
    results.cells.push_back(std::move(*cell));
  }
  return results;
}

Expected<Results> read_results(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "results.json";
  auto json = read_json_object(file);
  if (!json) return json.error();
  return results_from_json(*json, file.string());
}

}  // namespace workload
