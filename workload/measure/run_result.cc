#include "workload/measure/run_result.h"

#include <array>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "workload/measure/statistics.h"

namespace workload {
namespace {

constexpr double kNanosecondsPerMs = 1e6;

constexpr std::array<std::pair<std::string_view, double>, 6> kPercentiles{
    {{"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p999", 99.9}, {"max", 100}}};

constexpr std::array<ErrorKind, kErrorKindCount> kErrorKinds{
    ErrorKind::kConnect, ErrorKind::kRefused,     ErrorKind::kReset,
    ErrorKind::kTimeout, ErrorKind::kTruncated,   ErrorKind::kWrongBody,
    ErrorKind::kStale,   ErrorKind::kWrongStatus, ErrorKind::kProtocol};

boost::json::value number_or_null(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

double duration_s(const RunResult& result) {
  return std::chrono::duration<double>(result.duration).count();
}

/// Events a second; nothing where no time passed.
std::optional<double> rate_of(uint64_t count, const RunResult& result) {
  if (result.duration.count() <= 0) return std::nullopt;
  return static_cast<double>(count) / duration_s(result);
}

std::optional<double> blocked_ms_mean(const Tally& total) {
  if (total.sent == 0) return std::nullopt;
  return static_cast<double>(total.blocked_ns) / static_cast<double>(total.sent) /
         kNanosecondsPerMs;
}

void add_rates(boost::json::object& json, const RunResult& result) {
  const Tally& total = result.total;
  json["throughput_rps"] = number_or_null(rate_of(total.good, result));
  json["offered_rps"] = number_or_null(rate_of(total.offered, result));
  json["sent_rps"] = number_or_null(rate_of(total.sent, result));
  json["completed_rps"] = number_or_null(rate_of(total.completed, result));
  json["offered"] = total.offered;
  json["sent"] = total.sent;
  json["completed"] = total.completed;
  json["good"] = total.good;
  json["aborted"] = total.aborted;
  json["aborted_hits"] = total.aborted_hits;
  json["cut"] = total.cut;
  json["cut_shared"] = total.cut_shared;
  json["requests"] = total.sent;
  json["unfinished"] = total.sent - std::min(total.sent, total.completed);
  json["blocked_ms_mean"] = number_or_null(blocked_ms_mean(total));
}

void add_hit_ratios(boost::json::object& json, const RunResult& result) {
  const Tally& total = result.total;
  json["hit_ratio_percent"] = number_or_null(total.hit_ratio_percent());
  json["byte_hit_ratio_percent"] = number_or_null(total.byte_hit_ratio_percent());
  json["hit_ratio_all_percent"] = number_or_null(total.hit_ratio_all_percent());
  json["offered_hit_ratio_percent"] = number_or_null(total.offered_hit_ratio_percent());
  json["offered_byte_hit_ratio_percent"] = number_or_null(total.offered_byte_hit_ratio_percent());
  json["attainable_hit_ratio_percent"] = number_or_null(total.attainable_hit_ratio_percent());
  json["attainable_byte_hit_ratio_percent"] =
      number_or_null(total.attainable_byte_hit_ratio_percent());
  json["stored_hit_ratio_percent"] = number_or_null(total.stored_hit_ratio_percent());
  json["range_hit_ratio_percent"] = number_or_null(total.range_hit_ratio_percent());
  json["ideal_hit_ratio_percent"] = number_or_null(result.ideal_hit_ratio_percent);
  json["ideal_byte_hit_ratio_percent"] = number_or_null(result.ideal_byte_hit_ratio_percent);
  json["basic_requests"] = total.basic;
  json["basic_hits"] = total.basic_hits;
  json["hits"] = total.hits;
  json["reload_hits"] = total.reload_hits;
  json["validated_hits"] = total.validated_hits;
  json["shared_hits"] = total.shared_hits;
  json["ranges"] = total.ranges;
  json["range_hits"] = total.range_hits;
  json["ranges_whole"] = total.ranges_whole;
}

boost::json::object errors_to_json(const Tally& total) {
  boost::json::object errors;
  for (ErrorKind kind : kErrorKinds) errors[name_of(kind)] = total.errors_of(kind);
  return errors;
}

std::string cell(const std::optional<double>& value, int decimals, std::string_view unit) {
  if (!value) return "-";
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(decimals);
  text << *value << unit;
  return text.str();
}

std::optional<double> in_ms(const std::optional<uint64_t>& value_ns) {
  if (!value_ns) return std::nullopt;
  return static_cast<double>(*value_ns) / kNanosecondsPerMs;
}

std::string times_line(const Histogram& times) {
  std::string line;
  const auto add = [&line](std::string_view name, const std::optional<double>& value) {
    line += (line.empty() ? "" : "  ") + std::string(name) + " " + cell(value, 3, " ms");
  };
  const std::optional<double> mean_ns = times.mean_ns();
  add("mean", mean_ns ? std::optional<double>(*mean_ns / kNanosecondsPerMs) : std::nullopt);
  for (const auto& [name, percent] : kPercentiles) add(name, in_ms(times.percentile_ns(percent)));
  return line;
}

/// Writes a file whole, or says why it is not.
template <class Write>
std::optional<std::string> write_file(const std::filesystem::path& path, const Write& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  out.close();
  if (out) return std::nullopt;
  const int reason = errno;
  return path.string() + ": " + (reason != 0 ? std::strerror(reason) : "cannot be written");
}

}  // namespace

void take_measurements(RunResult& result, const RunRecorder& recorder) {
  result.total = recorder.total;
  result.response_time = recorder.response_time;
  result.hit_response_time = recorder.hit_response_time;
  result.miss_response_time = recorder.miss_response_time;
  result.responses_by_status = recorder.responses_by_status;
  // A last row that was cut short would add noise of its own.
  const Series& series = recorder.series;
  std::vector<double> rates;
  for (size_t index = 0; index < series.size(); ++index) {
    if (series.length_of(index) < series.interval()) continue;
    const double length_s = std::chrono::duration<double>(series.interval()).count();
    rates.push_back(static_cast<double>(series.row(index).good) / length_s);
  }
  result.steady.reset();
  // Nothing that came back is no steady throughput, and no unsteady one either.
  if (rates.size() < kSamplesForSteadyMin || result.total.good == 0) return;
  const SteadyState state = detect_steady_state(rates);
  result.steady = state.steady;
  if (!state.steady) {
    result.warnings.push_back(
        "throughput was not steady: over the part that comes closest it changed by " +
        cell(state.slope_percent, 1, " %"));
  }
}

boost::json::object response_time_to_json(const Histogram& histogram) {
  boost::json::object json;
  const std::optional<double> mean_ns = histogram.mean_ns();
  json["mean"] = mean_ns ? boost::json::value(*mean_ns / kNanosecondsPerMs) : nullptr;
  for (const auto& [name, percent] : kPercentiles) {
    json[name] = number_or_null(in_ms(histogram.percentile_ns(percent)));
  }
  return json;
}

boost::json::object run_to_json(const RunResult& result) {
  boost::json::object json;
  add_rates(json, result);
  json["response_time_ms"] = response_time_to_json(result.response_time);
  json["hit_response_time_ms"] = response_time_to_json(result.hit_response_time);
  json["miss_response_time_ms"] = response_time_to_json(result.miss_response_time);
  add_hit_ratios(json, result);
  boost::json::object statuses;
  for (const auto& [status, count] : result.responses_by_status) {
    statuses[std::to_string(status)] = count;
  }
  json["responses_by_status"] = std::move(statuses);
  json["errors"] = errors_to_json(result.total);
  json["wrong_bodies"] = result.total.errors_of(ErrorKind::kWrongBody);
  json["first_error"] = result.first_error;
  json["bytes_received"] = result.total.received_bytes;
  json["fill_bytes"] = result.total.fill_bytes;
  json["cache_size_bytes"] =
      result.cache_size_bytes == 0 ? nullptr : boost::json::value(result.cache_size_bytes);
  json["duration_s"] = duration_s(result);
  json["steady"] = result.steady ? boost::json::value(*result.steady) : nullptr;
  json["seed"] = result.seed;
  json["threads"] = result.threads;
  json["generator"] = {{"cpu_s", result.generator.cpu_s},
                       {"event_loop_lag_ms_max", result.generator.event_loop_lag_ms_max},
                       {"cpu_percent", result.generator.cpu_percent},
                       {"connections", result.generator.connections},
                       {"stale_connection_retries", result.generator.stale_connection_retries}};
  boost::json::array warnings;
  for (const std::string& warning : result.warnings) warnings.emplace_back(warning);
  json["warnings"] = std::move(warnings);
  return json;
}

std::optional<std::string> write_run_files(const std::filesystem::path& folder,
                                           const RunResult& result, const RunRecorder& recorder,
                                           storage::WallTime start,
                                           const boost::json::object& extra) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return folder.string() + ": " + error.message();
  boost::json::object json = run_to_json(result);
  for (const auto& entry : extra) json[entry.key()] = entry.value();
  auto failed = write_file(folder / "run.json",
                           [&](std::ostream& out) { out << boost::json::serialize(json) << '\n'; });
  if (failed) return failed;
  failed = write_file(folder / "trace.csv", [&](std::ostream& out) {
    write_trace_csv(out, recorder.series, result.cache_size_bytes);
  });
  if (failed) return failed;
  return write_file(folder / "latency.hlog", [&](std::ostream& out) {
    recorder.latency.write(out, start, result.duration);
  });
}

std::string run_to_table(const RunResult& result) {
  const Tally& total = result.total;
  std::ostringstream out;
  out << "throughput      " << cell(rate_of(total.good, result), 1, " good responses/s") << " over "
      << cell(duration_s(result), 1, " s") << " (offered "
      << cell(rate_of(total.offered, result), 1, "/s") << ", sent " << total.sent << ", completed "
      << total.completed << ", good " << total.good << ")\n"
      << "response time   " << times_line(result.response_time) << '\n'
      << "  of hits       " << times_line(result.hit_response_time) << '\n'
      << "  of misses     " << times_line(result.miss_response_time) << '\n'
      << "hit ratio       " << cell(total.hit_ratio_percent(), 2, " %") << " (offered "
      << cell(total.offered_hit_ratio_percent(), 2, " %") << ", ideal "
      << cell(result.ideal_hit_ratio_percent, 2, " %") << ", of all requests "
      << cell(total.hit_ratio_all_percent(), 2, " %") << ")\n"
      << "byte hit ratio  " << cell(total.byte_hit_ratio_percent(), 2, " %") << " (ideal "
      << cell(result.ideal_byte_hit_ratio_percent, 2, " %") << ")\n";
  if (total.ranges > 0) {
    out << "ranges          " << total.ranges << ", of them hits "
        << cell(total.range_hit_ratio_percent(), 2, " %");
    if (total.ranges_whole > 0) out << ", answered with the whole object " << total.ranges_whole;
    out << '\n';
  }
  if (total.aborted + total.cut > 0) {
    out << "broken off      " << total.aborted << " by robots, " << total.cut
        << " by the origin, all as intended\n";
  }
  out << "errors          " << total.error_count();
  for (ErrorKind kind : kErrorKinds) {
    if (total.errors_of(kind) > 0) out << "  " << name_of(kind) << ' ' << total.errors_of(kind);
  }
  out << '\n';
  if (!result.first_error.empty()) out << "first error     " << result.first_error << '\n';
  out << "generator       " << cell(result.generator.cpu_percent, 0, " % CPU") << ", event loop at "
      << "most " << cell(result.generator.event_loop_lag_ms_max, 1, " ms late") << '\n';
  for (const std::string& warning : result.warnings) out << "warning: " << warning << '\n';
  return out.str();
}

}  // namespace workload
