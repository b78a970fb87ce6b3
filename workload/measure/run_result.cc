#include "workload/measure/run_result.h"

#include <array>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "storage/base/units.h"
#include "workload/measure/peak_report.h"
#include "workload/measure/statistics.h"

namespace workload {
namespace {

constexpr double kNanosecondsPerMs = 1e6;

constexpr std::array<std::pair<std::string_view, double>, 7> kPercentiles{{{"p50", 50},
                                                                           {"p90", 90},
                                                                           {"p95", 95},
                                                                           {"p99", 99},
                                                                           {"p999", 99.9},
                                                                           {"p9999", 99.99},
                                                                           {"max", 100}}};

constexpr std::array<NotSent, kNotSentCount> kNotSentReasons{
    NotSent::kQueueFull, NotSent::kWaitedOut, NotSent::kPageFailed};

constexpr std::array<ErrorKind, kErrorKindCount> kErrorKinds{
    ErrorKind::kConnect, ErrorKind::kRefused,     ErrorKind::kReset,
    ErrorKind::kTimeout, ErrorKind::kTruncated,   ErrorKind::kWrongBody,
    ErrorKind::kStale,   ErrorKind::kWrongStatus, ErrorKind::kProtocol};

boost::json::value number_or_null(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

/// Events a second; nothing where no time passed.
std::optional<double> rate_of(uint64_t count, std::chrono::nanoseconds duration) {
  if (duration.count() <= 0) return std::nullopt;
  return static_cast<double>(count) / storage::seconds_of(duration);
}

std::optional<double> blocked_ms_mean(const Tally& total) {
  if (total.sent == 0) return std::nullopt;
  return static_cast<double>(total.blocked_ns) / static_cast<double>(total.sent) /
         kNanosecondsPerMs;
}

void add_rates(boost::json::object& json, const Tally& total, std::chrono::nanoseconds duration) {
  json["throughput_rps"] = number_or_null(rate_of(total.good, duration));
  json["offered_rps"] = number_or_null(rate_of(total.offered, duration));
  json["sent_rps"] = number_or_null(rate_of(total.sent, duration));
  json["completed_rps"] = number_or_null(rate_of(total.completed, duration));
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
  boost::json::object not_sent;
  for (const NotSent reason : kNotSentReasons)
    not_sent[name_of(reason)] = total.not_sent_of(reason);
  const uint64_t accounted = total.sent + total.not_sent_count();
  not_sent["waiting_at_end"] = total.offered - std::min(total.offered, accounted);
  json["not_sent"] = std::move(not_sent);
  json["blocked_ms_mean"] = number_or_null(blocked_ms_mean(total));
}

void add_hit_ratios(boost::json::object& json, const Tally& total) {
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

/// The figures that a run and each of its phases have alike.
void add_figures(boost::json::object& json, const Measurements& measured,
                 std::chrono::nanoseconds duration) {
  const Tally& total = measured.total;
  add_rates(json, total, duration);
  json["response_time_ms"] = response_time_to_json(measured.response_time);
  json["hit_response_time_ms"] = response_time_to_json(measured.hit_response_time);
  json["miss_response_time_ms"] = response_time_to_json(measured.miss_response_time);
  json["first_byte_time_ms"] = response_time_to_json(measured.first_byte_time);
  json["waiting_time_ms"] = response_time_to_json(measured.waiting_time);
  add_hit_ratios(json, total);
  boost::json::object statuses;
  for (const auto& [status, count] : measured.responses_by_status) {
    statuses[std::to_string(status)] = count;
  }
  json["responses_by_status"] = std::move(statuses);
  json["errors"] = errors_to_json(total);
  json["wrong_bodies"] = total.errors_of(ErrorKind::kWrongBody);
  json["bytes_received"] = total.received_bytes;
  json["fill_bytes"] = total.fill_bytes;
  json["duration_s"] = storage::seconds_of(duration);
}

boost::json::value ended_by_to_json(const std::string& goal) {
  return goal.empty() ? nullptr : boost::json::value(goal);
}

boost::json::array phases_to_json(const std::vector<PhaseResult>& phases) {
  boost::json::array out;
  for (const PhaseResult& phase : phases) {
    boost::json::object json;
    json["name"] = phase.name;
    json["goal"] = phase.goal;
    json["goal_met"] = phase.goal_met;
    json["ended_by"] = ended_by_to_json(phase.ended_by);
    json["primary"] = phase.primary;
    json["start_s"] = storage::seconds_of(phase.start);
    add_figures(json, phase, phase.duration);
    out.push_back(std::move(json));
  }
  return out;
}

boost::json::array ranks_to_json(const std::vector<RankResult>& ranks) {
  boost::json::array out;
  for (const RankResult& rank : ranks) {
    out.push_back(
        {{"host", rank.host},
         {"requests", rank.requests},
         {"clock_error_ms", static_cast<double>(rank.clock_error.count()) / kNanosecondsPerMs}});
  }
  return out;
}

boost::json::object generator_to_json(const GeneratorHealth& generator) {
  boost::json::object json;
  json["cpu_s"] = generator.cpu_s;
  json["cpu_percent"] = generator.cpu_percent;
  json["cpu_percent_max"] = generator.cpu_percent_max;
  json["event_loop_lag_ms_max"] = generator.event_loop_lag_ms_max;
  json["event_loop_lag_ms"] = response_time_to_json(generator.event_loop_lag);
  json["start_lateness_ms"] = response_time_to_json(generator.start_lateness);
  json["connections"] = generator.connections;
  json["stale_connection_retries"] = generator.stale_connection_retries;
  json["ports_exhausted"] = generator.ports_exhausted;
  json["descriptors_exhausted"] = generator.descriptors_exhausted;
  json["source_addresses"] = generator.source_addresses;
  json["limit"] = generator.limit.empty() ? nullptr : boost::json::value(generator.limit);
  return json;
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

/// Nothing where so few values are there that none of them lies beyond it: a 99th percentile needs
/// a hundred.
std::optional<uint64_t> percentile_of(const Histogram& histogram, double percent) {
  const bool told =
      percent >= 100 || static_cast<double>(histogram.count()) * (100 - percent) >= 100 - 1e-9;
  return told ? histogram.percentile_ns(percent) : std::nullopt;
}

std::string times_line(const Histogram& times) {
  std::string line;
  const auto add = [&line](std::string_view name, const std::optional<double>& value) {
    line += (line.empty() ? "" : "  ") + std::string(name) + " " + cell(value, 3, " ms");
  };
  const std::optional<double> mean_ns = times.mean_ns();
  add("mean", mean_ns ? std::optional<double>(*mean_ns / kNanosecondsPerMs) : std::nullopt);
  for (const auto& [name, percent] : kPercentiles) add(name, in_ms(percentile_of(times, percent)));
  return line;
}

/// Writes a file whole, or says why it is not.
template <class Write>
std::optional<std::string> write_run_file(const std::filesystem::path& path, const Write& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  out.close();
  if (out) return std::nullopt;
  const int reason = errno;
  return path.string() + ": " + (reason != 0 ? std::strerror(reason) : "cannot be written");
}

}  // namespace

namespace {

/// `rates`: throughputs of whole intervals.
void judge_steadiness(RunResult& result, const std::vector<double>& rates) {
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

/// Throughputs of the rows that lie within [begin, end). A row that was cut short would add noise
/// of its own.
void add_rates_within(std::vector<double>& rates, const Series& series,
                      std::chrono::nanoseconds begin, std::chrono::nanoseconds end) {
  for (size_t index = 0; index < series.size(); ++index) {
    const auto row_end = series.end_of(index);
    const auto length = series.length_of(index);
    if (length < series.interval() || row_end - length < begin || row_end > end) continue;
    rates.push_back(static_cast<double>(series.row(index).good) /
                    storage::seconds_of(series.interval()));
  }
}

}  // namespace

void take_measurements(RunResult& result, const RunRecorder& recorder) {
  static_cast<Measurements&>(result) = recorder;
  std::vector<double> rates;
  add_rates_within(rates, recorder.series, std::chrono::nanoseconds(0),
                   std::chrono::nanoseconds::max());
  judge_steadiness(result, rates);
}

void take_phases(RunResult& result, std::vector<PhaseResult> phases, const Series& series) {
  static_cast<Measurements&>(result) = Measurements();
  result.duration = std::chrono::nanoseconds(0);
  std::vector<double> rates;
  for (const PhaseResult& phase : phases) {
    if (!phase.primary) continue;
    static_cast<Measurements&>(result).merge(phase);
    result.duration += phase.duration;
    add_rates_within(rates, series, phase.start, phase.start + phase.duration);
  }
  result.phases = std::move(phases);
  judge_steadiness(result, rates);
}

std::string goal_text(const PhaseGoal& goal) {
  std::string text;
  const auto add = [&text](const std::string& part) {
    text += (text.empty() ? "" : " or ") + part;
  };
  const auto since = [](const std::string& phase) {
    return phase.empty() ? std::string() : " since " + phase;
  };
  if (goal.duration) {
    add("duration=" + cell(storage::seconds_of(*goal.duration), 3, "s") + since(goal.since));
  }
  if (goal.requests) add("requests=" + std::to_string(*goal.requests) + since(goal.since));
  if (goal.fill) add("fill=" + cell(*goal.fill, 3, "") + since(goal.fill_since));
  if (goal.working_set_frozen) text += ", and the working set frozen";
  return text;
}

boost::json::object response_time_to_json(const Histogram& histogram) {
  boost::json::object json;
  const std::optional<double> mean_ns = histogram.mean_ns();
  json["mean"] = mean_ns ? boost::json::value(*mean_ns / kNanosecondsPerMs) : nullptr;
  for (const auto& [name, percent] : kPercentiles) {
    json[name] = number_or_null(in_ms(percentile_of(histogram, percent)));
  }
  return json;
}

namespace {

/// A wrong body makes the run worthless, in whichever phase it came.
uint64_t wrong_bodies_of(const RunResult& result) {
  if (result.phases.empty()) return result.total.errors_of(ErrorKind::kWrongBody);
  uint64_t count = 0;
  for (const PhaseResult& phase : result.phases) {
    count += phase.total.errors_of(ErrorKind::kWrongBody);
  }
  return count;
}

/// Whether a figure that is printed with two decimals is seen to be above another.
bool is_above(const std::optional<double>& figure, const std::optional<double>& bound) {
  return figure && bound && *figure >= *bound + 0.01;
}

}  // namespace

boost::json::object run_to_json(const RunResult& result) {
  boost::json::object json;
  add_figures(json, result, result.duration);
  json["wrong_bodies"] = wrong_bodies_of(result);
  json["ideal_hit_ratio_percent"] = number_or_null(result.ideal_hit_ratio_percent);
  json["ideal_byte_hit_ratio_percent"] = number_or_null(result.ideal_byte_hit_ratio_percent);
  json["first_error"] = result.first_error;
  json["cache_size_bytes"] =
      result.cache_size_bytes == 0 ? nullptr : boost::json::value(result.cache_size_bytes);
  json["steady"] = result.steady ? boost::json::value(*result.steady) : nullptr;
  json["ended_by"] =
      ended_by_to_json(result.phases.empty() ? std::string() : result.phases.back().ended_by);
  json["seed"] = result.seed;
  json["threads"] = result.threads;
  json["generator"] = generator_to_json(result.generator);
  if (!result.ranks.empty()) json["ranks"] = ranks_to_json(result.ranks);
  if (!result.phases.empty()) json["phases"] = phases_to_json(result.phases);
  if (result.peak) json["peak"] = peak_to_json(*result.peak, result.generator.limit);
  boost::json::array warnings;
  for (const std::string& warning : result.warnings) warnings.emplace_back(warning);
  json["warnings"] = std::move(warnings);
  return json;
}

namespace {

std::vector<PhaseSpan> spans_of(const std::vector<PhaseResult>& phases) {
  std::vector<PhaseSpan> spans;
  for (const PhaseResult& phase : phases) spans.push_back({phase.name, phase.start});
  return spans;
}

}  // namespace

std::optional<std::string> write_run_files(const std::filesystem::path& folder,
                                           const RunResult& result, const RunRecorder& recorder,
                                           storage::WallTime start,
                                           const boost::json::object& extra) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return folder.string() + ": " + error.message();
  boost::json::object json = run_to_json(result);
  for (const auto& entry : extra) json[entry.key()] = entry.value();
  auto failed = write_run_file(
      folder / "run.json", [&](std::ostream& out) { out << boost::json::serialize(json) << '\n'; });
  if (failed) return failed;
  failed = write_run_file(folder / "trace.csv", [&](std::ostream& out) {
    write_trace_csv(out, recorder.series, result.cache_size_bytes, spans_of(result.phases));
  });
  if (failed) return failed;
  return write_run_file(folder / "latency.hlog", [&](std::ostream& out) {
    // To the end of the recorded part, which may be longer than the primary phases.
    const size_t rows = recorder.series.size();
    recorder.latency.write(out, start,
                           rows > 0 ? recorder.series.end_of(rows - 1) : result.duration);
  });
}

std::string run_to_table(const RunResult& result) {
  const Tally& total = result.total;
  std::ostringstream out;
  out << "throughput      " << cell(rate_of(total.good, result.duration), 1, " good responses/s")
      << " over " << cell(storage::seconds_of(result.duration), 1, " s") << " (offered "
      << cell(rate_of(total.offered, result.duration), 1, "/s") << ", sent " << total.sent
      << ", completed " << total.completed << ", good " << total.good << ")\n"
      << "response time   " << times_line(result.response_time) << '\n'
      << "  of hits       " << times_line(result.hit_response_time) << '\n'
      << "  of misses     " << times_line(result.miss_response_time) << '\n'
      << "hit ratio       " << cell(total.hit_ratio_percent(), 2, " %") << " (offered "
      << cell(total.offered_hit_ratio_percent(), 2, " %") << ", ideal "
      << cell(result.ideal_hit_ratio_percent, 2, " %") << ", of all requests "
      << cell(total.hit_ratio_all_percent(), 2, " %") << ")\n"
      << "byte hit ratio  " << cell(total.byte_hit_ratio_percent(), 2, " %") << " (ideal "
      << cell(result.ideal_byte_hit_ratio_percent, 2, " %") << ")\n";
  if (is_above(total.hit_ratio_percent(), result.ideal_hit_ratio_percent) ||
      is_above(total.byte_hit_ratio_percent(), result.ideal_byte_hit_ratio_percent)) {
    out << "  above ideal   the ideal is of an infinite cache that was empty at the very start, "
           "warm-up included; this cache held objects before the measured part, or fetches whole "
           "objects for conditional requests\n";
  }
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
  out << "\nwrong bodies    " << wrong_bodies_of(result) << '\n';
  if (total.not_sent_count() > 0) {
    out << "never sent      " << total.not_sent_count();
    for (const NotSent reason : kNotSentReasons) {
      if (total.not_sent_of(reason) > 0) {
        out << "  " << name_of(reason) << ' ' << total.not_sent_of(reason);
      }
    }
    out << '\n';
  }
  if (result.peak)
    out << "peak            " << peak_sentence(*result.peak, result.generator.limit) << '\n';
  for (const PhaseResult& phase : result.phases) {
    if (result.phases.size() < 2) break;
    out << "phase " << phase.name << (phase.primary ? " (primary)" : "") << ": "
        << cell(rate_of(phase.total.good, phase.duration), 1, "/s") << " over "
        << cell(storage::seconds_of(phase.duration), 1, " s") << ", "
        << cell(phase.total.response_time_ms(), 3, " ms") << ", hits "
        << cell(phase.total.hit_ratio_percent(), 2, " %") << ", errors "
        << phase.total.error_count() << '\n';
  }
  if (!result.first_error.empty()) out << "first error     " << result.first_error << '\n';
  out << "generator       " << cell(result.generator.cpu_percent, 0, " % CPU") << ", event loop at "
      << "most " << cell(result.generator.event_loop_lag_ms_max, 1, " ms late") << '\n';
  for (size_t rank = 0; rank < result.ranks.size(); ++rank) {
    const RankResult& each = result.ranks[rank];
    out << "rank " << rank << "          " << each.requests << " requests from " << each.host
        << ", clock within "
        << cell(static_cast<double>(each.clock_error.count()) / kNanosecondsPerMs, 3, " ms")
        << '\n';
  }
  for (const std::string& warning : result.warnings) out << "warning: " << warning << '\n';
  return out.str();
}

}  // namespace workload
