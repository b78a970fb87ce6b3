#include "workload/experiment/run_cost.h"

#include <algorithm>

#include "workload/report/json_text.h"

namespace workload {
namespace {

/// The requests that the proxy had while the load was on, warm-up included; by the robots' account
/// where the proxy keeps no log.
double requests_of(const boost::json::object& record) {
  const uint64_t logged =
      count_at(record, "access_log.requests") + count_at(record, "access_log.aborted");
  return static_cast<double>(logged > 0 ? logged : count_at(record, "requests"));
}

/// A part of a whole, or nothing where either is unknown or there is no whole.
std::optional<double> divided(const std::optional<double>& part, double whole) {
  if (!part || !(whole > 0)) return std::nullopt;
  return *part / whole;
}

/// The share of the bytes that the I/O engine read which no device had to give.
std::optional<double> page_cache_hit_share(const boost::json::object& record,
                                           const ProgramCounters& counters) {
  const auto engine_bytes = number_at(record, "storage.io_read_bytes");
  if (counters.reads_directly || !counters.proxy || !counters.proxy->read_bytes) {
    return std::nullopt;
  }
  const uint64_t device_bytes =
      *counters.proxy->read_bytes + counters.helper.read_bytes.value_or(0);
  const auto missed = divided(static_cast<double>(device_bytes), engine_bytes.value_or(0));
  if (!missed) return std::nullopt;
  // Read-ahead and metadata can make a device read more than anybody asked for.
  return std::max(0.0, 1 - *missed);
}

}  // namespace

void add_run_costs(boost::json::object& record, const ProgramCounters& counters,
                   std::optional<uint64_t> measured_requests) {
  // Where the proxy's counters are not known, nor are those of what it has started.
  const auto helper = counters.proxy ? std::optional(counters.helper) : std::nullopt;
  record["context_switches"] = {{"proxy", switches_to_json(counters.proxy)},
                                {"load", switches_to_json(counters.load)},
                                {"origin", switches_to_json(counters.origin)},
                                {"helper", switches_to_json(helper)}};
  record["page_faults"] = {{"proxy", faults_to_json(counters.proxy)},
                           {"load", faults_to_json(counters.load)},
                           {"origin", faults_to_json(counters.origin)},
                           {"helper", faults_to_json(helper)}};
  auto hit_percent = measured_requests ? std::nullopt : page_cache_hit_share(record, counters);
  if (hit_percent) *hit_percent *= 100;
  record["page_cache_hit_percent"] = json_number(hit_percent);
  const auto written = number_at(record, "disk.write_bytes");
  const double published_bytes =
      measured_requests ? 0 : number_at(record, "storage.published_bytes").value_or(0);
  record["disk_write_amplification"] = json_number(divided(written, published_bytes));

  const double requests =
      measured_requests ? static_cast<double>(*measured_requests) : requests_of(record);
  record["counted_requests"] = static_cast<uint64_t>(requests);
  std::optional<double> cpu_us = number_at(record, "cpu_s.proxy");
  if (cpu_us) cpu_us = (*cpu_us + number_at(record, "cpu_s.helper").value_or(0)) * 1e6;
  std::optional<double> switches;
  std::optional<double> faults;
  if (counters.proxy) {
    ProcessCounters both = *counters.proxy;
    both += counters.helper;
    switches = static_cast<double>(both.voluntary_switches + both.involuntary_switches);
    faults = static_cast<double>(both.minor_faults + both.major_faults);
  }
  record["per_request"] = {
      {"cpu_us", json_number(divided(cpu_us, requests))},
      {"context_switches", json_number(divided(switches, requests))},
      {"page_faults", json_number(divided(faults, requests))},
      {"disk_reads", json_number(divided(number_at(record, "disk.reads"), requests))},
      {"disk_writes", json_number(divided(number_at(record, "disk.writes"), requests))},
      {"disk_read_bytes", json_number(divided(number_at(record, "disk.read_bytes"), requests))},
      {"disk_write_bytes", json_number(divided(written, requests))},
      {"response_bytes", json_number(divided(number_at(record, "bytes_received"),
                                             number_at(record, "completed").value_or(0)))}};
}

}  // namespace workload
