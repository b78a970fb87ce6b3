#include "workload/report/request_cost.h"

#include <algorithm>
#include <functional>
#include <set>

#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr double kMicrosecondsPerS = 1e6;
constexpr double kBytesPerKiB = 1024;
constexpr double kBytesPerMiB = 1024 * 1024;
/// Columns for keys that nobody here knows.
constexpr size_t kUnknownCostsMax = 12;

/// A figure that a run says itself, or that is made of a count of the whole run.
struct KnownCost {
  std::string_view title;
  std::string_view stated;   ///< Path of the figure a request; empty: nobody states it.
  std::string_view counted;  ///< Path of the count to be divided by the requests; may be empty.
  double unit = 1;
};

constexpr std::array<KnownCost, 12> kKnownCosts{{
    {"disk reads", "per_request.disk_reads", "disk.reads"},
    {"disk writes", "per_request.disk_writes", "disk.writes"},
    {"disk operations", "disk.operations_per_request", ""},
    {"read, KiB", "per_request.disk_read_bytes", "disk.read_bytes", kBytesPerKiB},
    {"written, KiB", "per_request.disk_write_bytes", "disk.write_bytes", kBytesPerKiB},
    {"file operations", "storage.io_per_request", ""},
    {"context switches", "per_request.context_switches", ""},
    {"page faults", "per_request.page_faults", ""},
    {"disk write amplification", "disk_write_amplification", ""},
    {"page cache hits, %", "page_cache_hit_percent", ""},
    {"most memory, MiB", "memory.peak_bytes", "", kBytesPerMiB},
    {"response, KiB", "per_request.response_bytes", "", kBytesPerKiB},
}};

/// Of the whole run, warm-up included.
std::optional<double> all_requests(const boost::json::object& run) {
  const uint64_t logged =
      count_at(run, "access_log.requests") + count_at(run, "access_log.aborted");
  const uint64_t requests = logged > 0 ? logged : count_at(run, "requests");
  return requests > 0 ? std::optional(static_cast<double>(requests)) : std::nullopt;
}

using RunFigure = std::function<std::optional<double>(const boost::json::object& run)>;

std::optional<double> median_over_runs(const CellResult& cell, const RunFigure& figure) {
  std::vector<double> values;
  for (const auto* run : counting_runs(cell)) {
    if (const auto value = figure(*run)) values.push_back(*value);
  }
  return median_of(values);
}

std::optional<double> quotient(std::optional<double> count, std::optional<double> requests) {
  if (!count || !requests) return std::nullopt;
  return *count / *requests;
}

std::optional<double> known_cost(const boost::json::object& run, const KnownCost& cost) {
  auto value = number_at(run, cost.stated);
  if (!value && !cost.counted.empty())
    value = quotient(number_at(run, cost.counted), counted_requests(run));
  if (value) *value /= cost.unit;
  return value;
}

/// The keys of `per_request` that have no column of their own.
std::set<std::string> unknown_keys(const std::vector<const CellResult*>& cells) {
  // The CPU time of proxy and helper together is there by process.
  std::set<std::string> known{"cpu_us"};
  for (const auto& cost : kKnownCosts) {
    if (cost.stated.starts_with("per_request.")) known.emplace(cost.stated.substr(12));
  }
  std::set<std::string> keys;
  for (const auto* cell : cells) {
    for (const auto* run : counting_runs(*cell)) {
      const auto* figures = find_json(*run, "per_request");
      if (figures == nullptr || !figures->is_object()) continue;
      for (const auto& figure : figures->get_object()) {
        const std::string key(figure.key());
        if (known.contains(key) || keys.size() >= kUnknownCostsMax) continue;
        if (figure.value().is_number()) keys.insert(key);
      }
    }
  }
  return keys;
}

}  // namespace

std::optional<double> counted_requests(const boost::json::object& run) {
  const auto counted = number_at(run, "counted_requests");
  return counted && *counted > 0 ? counted : all_requests(run);
}

std::optional<double> cpu_us_per_request(const CellResult& cell, std::string_view process) {
  const std::string path = "cpu_s." + std::string(process);
  return median_over_runs(cell, [&](const boost::json::object& run) {
    auto time = quotient(number_at(run, path),
                         process == "load" ? all_requests(run) : counted_requests(run));
    if (time) *time *= kMicrosecondsPerS;
    return time;
  });
}

std::vector<RequestCost> request_costs(const std::vector<const CellResult*>& cells) {
  std::vector<RequestCost> costs;
  const auto add = [&](std::string title, const auto& value_of) {
    RequestCost cost{std::move(title), {}};
    for (const auto* cell : cells) cost.values.push_back(value_of(*cell));
    const bool said = std::any_of(cost.values.begin(), cost.values.end(),
                                  [](const auto& value) { return value.has_value(); });
    if (said) costs.push_back(std::move(cost));
  };
  for (const std::string_view process : kProcesses) {
    add("CPU of " + std::string(process) + ", µs",
        [&](const CellResult& cell) { return cpu_us_per_request(cell, process); });
  }
  for (const auto& known : kKnownCosts) {
    add(std::string(known.title), [&](const CellResult& cell) {
      return median_over_runs(
          cell, [&](const boost::json::object& run) { return known_cost(run, known); });
    });
  }
  for (const auto& key : unknown_keys(cells)) {
    add(key,
        [&](const CellResult& cell) { return median_of(run_values(cell, "per_request." + key)); });
  }
  return costs;
}

}  // namespace workload
