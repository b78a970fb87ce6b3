#include "workload/experiment/storage_account.h"

#include <charconv>
#include <cmath>

#include "workload/report/json_text.h"

namespace workload {
namespace {

using Samples = std::map<std::string, double, std::less<>>;

constexpr std::string_view kStore = "cacheoff_storage_";

/// The value of a label in `name{label="value",...}`; empty where it is missing.
std::string_view label_of(std::string_view sample, std::string_view label) {
  const std::string key = std::string(label) + "=\"";
  for (size_t at = sample.find(key); at != std::string_view::npos; at = sample.find(key, at + 1)) {
    if (sample[at - 1] != '{' && sample[at - 1] != ',') continue;
    const std::string_view rest = sample.substr(at + key.size());
    return rest.substr(0, rest.find('"'));
  }
  return {};
}

bool is_named(std::string_view sample, std::string_view name) {
  return sample.starts_with(kStore) && sample.substr(kStore.size()).starts_with(name) &&
         (sample.size() == kStore.size() + name.size() ||
          sample[kStore.size() + name.size()] == '{');
}

/// The sum of all samples of that name, or of those that have `value` for `label`.
std::optional<double> sum_of(const Samples& samples, std::string_view name,
                             std::string_view label = {}, std::string_view value = {}) {
  std::optional<double> sum;
  for (const auto& [sample, amount] : samples) {
    if (!is_named(sample, name)) continue;
    if (!label.empty() && label_of(sample, label) != value) continue;
    sum = sum.value_or(0) + amount;
  }
  return sum;
}

boost::json::value count_or_null(const std::optional<double>& count) {
  if (!count || !(*count >= 0) || *count > 1e18) return nullptr;
  return static_cast<uint64_t>(*count);
}

/// Counts by the value of a label, without those that are 0.
boost::json::object counts_by(const Samples& samples, std::string_view name,
                              std::string_view label) {
  boost::json::object out;
  for (const auto& [sample, amount] : samples) {
    const std::string_view value = label_of(sample, label);
    if (!is_named(sample, name) || value.empty() || amount <= 0) continue;
    const auto sum = sum_of(samples, name, label, value);
    out[value] = count_or_null(sum);
  }
  return out;
}

}  // namespace

std::map<std::string, double, std::less<>> parse_metrics(std::string_view page) {
  Samples samples;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(page.size(), line.size() + 1));
    const size_t space = line.rfind(' ');
    if (line.empty() || line.front() == '#' || space == std::string_view::npos || space == 0) {
      continue;
    }
    double value = 0;
    const char* const end = line.data() + line.size();
    const auto read = std::from_chars(line.data() + space + 1, end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) continue;
    samples[std::string(line.substr(0, space))] = value;
  }
  return samples;
}

std::optional<boost::json::object> account_storage(std::string_view page) {
  const Samples samples = parse_metrics(page);
  if (!sum_of(samples, "operations_total")) return std::nullopt;
  const auto all = samples.find("cacheoff_proxy_requests_all_total");
  const auto published = sum_of(samples, "published_bytes_total");
  const auto written = sum_of(samples, "io_bytes_total", "operation", "write");
  const auto calls = sum_of(samples, "io_operations_total");
  boost::json::object out;
  out["operations"] = counts_by(samples, "operations_total", "operation");
  out["declined"] = counts_by(samples, "declines_total", "reason");
  out["aborted"] = count_or_null(sum_of(samples, "aborts_total"));
  out["published"] = count_or_null(sum_of(samples, "commits_total", "result", "published"));
  out["published_bytes"] = count_or_null(published);
  out["evictions"] = count_or_null(sum_of(samples, "evictions_total"));
  out["objects"] = count_or_null(sum_of(samples, "objects"));
  out["io_operations"] = counts_by(samples, "io_operations_total", "operation");
  out["io_read_bytes"] = count_or_null(sum_of(samples, "io_bytes_total", "operation", "read"));
  out["io_written_bytes"] = count_or_null(written);
  out["write_amplification"] = json_number(
      written && published && *published > 0 ? std::optional(*written / *published) : std::nullopt);
  out["io_per_request"] = json_number(calls && all != samples.end() && all->second > 0
                                          ? std::optional(*calls / all->second)
                                          : std::nullopt);
  return out;
}

}  // namespace workload
