#include "workload/experiment/ab_record.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>

#include "workload/ab/options.h"
#include "workload/client/goal.h"
#include "workload/experiment/static_page.h"
#include "workload/measure/interval_log.h"
#include "workload/measure/run_result.h"
#include "workload/measure/series.h"
#include "workload/measure/statistics.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

/// Keys of a run that only a cache, or robots, have a figure for: 0 would be one.
constexpr std::array<const char*, 20> kKeysWithoutFigure{"hit_ratio_all_percent",
                                                         "basic_requests",
                                                         "basic_hits",
                                                         "hits",
                                                         "reload_hits",
                                                         "validated_hits",
                                                         "shared_hits",
                                                         "ranges",
                                                         "range_hits",
                                                         "ranges_whole",
                                                         "aborted",
                                                         "aborted_hits",
                                                         "cut",
                                                         "cut_shared",
                                                         "fill_bytes",
                                                         "responses_by_status",
                                                         "hit_response_time_ms",
                                                         "miss_response_time_ms",
                                                         "first_byte_time_ms",
                                                         "waiting_time_ms"};
/// The same of its generator.
constexpr std::array<const char*, 5> kGeneratorKeysWithoutFigure{
    "event_loop_lag_ms_max", "event_loop_lag_ms", "start_lateness_ms", "ports_exhausted",
    "descriptors_exhausted"};
/// A thread that ran or waited for a CPU for so much of the time is the limit; `cacheoff ab` warns
/// of it in the same case.
constexpr double kAbBusyPercent = 90;
constexpr double kAbShortestRunS = 0.1;

Expected<boost::json::object> first_run_of(const boost::json::object& ab_json) {
  const auto* runs = ab_json.if_contains("runs");
  const auto* array = runs == nullptr ? nullptr : runs->if_array();
  if (array == nullptr || array->empty() || !array->front().is_object()) {
    return run_problem("cacheoff ab wrote no run");
  }
  return array->front().get_object();
}

/// Errors by kind, so that each request has one. What `ab` has no kind for is what is left.
void count_errors(const boost::json::object& run, bool first_is_right, Tally& total) {
  const auto set = [&](ErrorKind kind, uint64_t count) {
    total.errors[static_cast<size_t>(kind) - 1] = count;
  };
  const uint64_t connect = count_at(run, "failures.connect");
  const uint64_t receive = count_at(run, "failures.receive");
  // A timeout is also among those that got no connection or no response.
  const uint64_t timeouts = std::min(count_at(run, "failures.timeouts"), connect + receive);
  const uint64_t late_responses = std::min(timeouts, receive);
  const uint64_t truncated = count_at(run, "failures.truncated");
  const uint64_t surplus = count_at(run, "failures.surplus");
  const uint64_t exceptions = count_at(run, "failures.exceptions");
  uint64_t other = count_at(run, "other_length") + count_at(run, "other_content");
  uint64_t good = count_at(run, "good");
  good -= std::min(good, count_at(run, "other_content"));
  if (!first_is_right) other += std::exchange(good, 0);
  set(ErrorKind::kConnect, connect - (timeouts - late_responses));
  set(ErrorKind::kReset, receive - late_responses);
  set(ErrorKind::kTimeout, timeouts);
  set(ErrorKind::kTruncated, truncated);
  set(ErrorKind::kProtocol, surplus + exceptions);
  set(ErrorKind::kWrongBody, other);
  const uint64_t known = good + total.error_count();
  set(ErrorKind::kWrongStatus, total.completed - std::min(total.completed, known));
  total.good = good;
}

/// What happened between two samples of the progress.
struct ProgressRow {
  double end_s = 0;
  double length_s = 0;
  double complete = 0;
  double good = 0;
};

std::vector<ProgressRow> progress_rows(const boost::json::object& run) {
  std::vector<ProgressRow> rows;
  const auto* progress = run.if_contains("progress");
  const auto* array = progress == nullptr ? nullptr : progress->if_array();
  if (array == nullptr) return rows;
  std::array<double, 3> before{};
  for (const auto& sample : *array) {
    std::array<double, 3> now{};
    const auto* fields = sample.if_array();
    if (fields == nullptr || fields->size() != now.size()) return {};
    for (size_t i = 0; i < now.size(); ++i) {
      if (!(*fields)[i].is_number()) return {};
      now[i] = (*fields)[i].to_number<double>();
    }
    if (now[0] > before[0] && now[1] >= before[1] && now[2] >= before[2]) {
      rows.push_back({now[0], now[0] - before[0], now[1] - before[1], now[2] - before[2]});
    }
    before = now;
  }
  return rows;
}

/// Throughputs of rows that are not cut short.
std::vector<double> whole_rates(const std::vector<ProgressRow>& rows) {
  std::vector<double> rates;
  for (size_t i = 0; i + 1 < rows.size(); ++i) rates.push_back(rows[i].good / rows[i].length_s);
  return rates;
}

/// Times of the good responses; empty where there were none, or where the text is no histogram.
Histogram good_times(const boost::json::object& run) {
  const std::string text = text_at(run, "good_time_histogram");
  if (text.empty()) return {};
  auto decoded = decode_histogram(text);
  auto* histogram = std::get_if<Histogram>(&decoded);
  return histogram == nullptr ? Histogram() : std::move(*histogram);
}

GeneratorHealth generator_health(const boost::json::object& run, double threads,
                                 double duration_s) {
  GeneratorHealth health;
  health.cpu_s = number_at(run, "generator_cpu_s").value_or(0);
  if (duration_s > 0) health.cpu_percent = 100 * health.cpu_s / threads / duration_s;
  health.cpu_percent_max = number_at(run, "generator_busy_percent").value_or(0);
  health.connections = count_at(run, "connections");
  health.stale_connection_retries = count_at(run, "stale_retries");
  if (duration_s >= kAbShortestRunS && health.cpu_percent_max >= kAbBusyPercent) {
    health.limit = "cpu";
  }
  return health;
}

void take_warnings(const boost::json::object& run, std::vector<std::string>& warnings) {
  const auto* list = run.if_contains("warnings");
  if (list == nullptr || !list->is_array()) return;
  for (const auto& warning : list->get_array()) {
    if (warning.is_string()) warnings.emplace_back(warning.get_string());
  }
}

void judge_ab_steadiness(const std::vector<ProgressRow>& rows, RunResult& result) {
  const auto rates = whole_rates(rows);
  if (rates.size() < kSamplesForSteadyMin || result.total.good == 0) return;
  const SteadyState state = detect_steady_state(rates);
  result.steady = state.steady;
}

std::string number_text(double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.6f", number);
  return text.data();
}

/// A row of trace.csv: neither fill nor hits, and times are known of the whole run alone.
std::string trace_line(const ProgressRow& row) {
  return number_text(row.end_s) + ",," + number_text(row.complete / row.length_s) + "," +
         number_text(row.good / row.length_s) + ",,,,,," +
         std::to_string(static_cast<uint64_t>(row.complete - row.good)) + ",,,\n";
}

}  // namespace

std::vector<std::string> ab_command(const std::filesystem::path& cacheoff,
                                    const ExperimentOptions& options, const AbLoad& load,
                                    const storage::HostPort& server, const std::string& json_file) {
  std::vector<std::string> words{cacheoff.string(), "ab", "-q", "-r"};
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  std::string error;
  const auto goal = parse_goal(options.goal(), error);
  uint64_t requests = ab::kRequestsMax;
  if (goal) requests = goal->requests.value_or(requests);
  if (goal && goal->duration) add("-t", number_text(storage::seconds_of(*goal->duration)));
  // Behind -t, which brings a number of its own.
  add("-n", std::to_string(requests));
  add("-c", std::to_string(load.connections));
  if (load.keep_alive) words.emplace_back("-k");
  if (load.gzip) add("-H", "Accept-Encoding: gzip");
  if (load.threads > 1) add("--threads", std::to_string(load.threads));
  add("--json", json_file);
  words.push_back("http://" + server.text() + "/" + std::string(kStaticPageName));
  return words;
}

Expected<boost::json::object> ab_record(const boost::json::object& ab_json,
                                        const ExpectedBody& expected) {
  auto first_run = first_run_of(ab_json);
  if (!first_run) return first_run.error();
  boost::json::object run = std::move(*first_run);
  const double duration_s = number_at(run, "duration_s").value_or(0);
  const double threads = std::max(1.0, number_at(ab_json, "threads").value_or(1));
  RunResult result;
  Tally& total = result.total;
  total.offered = total.sent = total.completed = count_at(run, "requests");
  total.received_bytes = count_at(run, "bytes_received");
  const bool any_body = run.contains("first_body");
  const bool is_right = any_body && count_at(run, "first_body.bytes") == expected.size_bytes &&
                        text_at(run, "first_body.xxh3") == expected.xxh3;
  count_errors(run, !any_body || is_right, total);
  if (any_body && !is_right) {
    result.first_error = "the first body has " + std::to_string(count_at(run, "first_body.bytes")) +
                         " bytes, XXH3 " + text_at(run, "first_body.xxh3") + "; right would be " +
                         std::to_string(expected.size_bytes) + " bytes, XXH3 " + expected.xxh3;
  } else if (total.error_count() > 0) {
    result.first_error = text_at(run, "failures.first");
    if (result.first_error.empty()) {
      result.first_error = total.errors_of(ErrorKind::kWrongBody) > 0
                               ? "a body of the first one's length with other bytes"
                               : "a status that is no success";
    }
  }
  result.response_time = good_times(run);
  result.duration = std::chrono::nanoseconds(static_cast<int64_t>(std::max(0.0, duration_s) * 1e9));
  result.threads = static_cast<int>(threads);
  result.generator = generator_health(run, threads, duration_s);
  judge_ab_steadiness(progress_rows(run), result);
  take_warnings(run, result.warnings);
  boost::json::object record = run_to_json(result);
  for (const char* key : kKeysWithoutFigure) record[key] = nullptr;
  auto& generator = record["generator"].as_object();
  for (const char* key : kGeneratorKeysWithoutFigure) generator[key] = nullptr;
  for (const char* key : {"good_time_histogram", "progress", "warnings"}) run.erase(key);
  for (const char* key : {"url", "server", "concurrency", "threads", "keep_alive"}) {
    if (const auto* value = ab_json.if_contains(key)) {
      // How many responses kept their connection is a count of the run, of the same name.
      const std::string name = run.contains(key) ? "asked_for_" + std::string(key) : key;
      run[name] = *value;
    }
  }
  record["ab"] = std::move(run);
  return record;
}

Expected<void> write_ab_files(const boost::json::object& ab_json,
                              const std::filesystem::path& folder, storage::WallTime end) {
  const auto run = first_run_of(ab_json);
  if (!run) return run.error();
  std::string trace = std::string(kTraceHeader) + "\n";
  for (const auto& row : progress_rows(*run)) trace += trace_line(row);
  if (auto done = write_file(folder / "trace.csv", trace); !done) return done;
  const double duration_s = number_at(*run, "duration_s").value_or(0);
  std::ostringstream log;
  IntervalLogWriter writer(log, end - std::chrono::duration_cast<storage::WallTime::duration>(
                                          std::chrono::duration<double>(duration_s)));
  const Histogram times = good_times(*run);
  if (!times.empty()) writer.write("", 0, duration_s, times);
  return write_file(folder / "latency.hlog", log.str());
}

}  // namespace workload
