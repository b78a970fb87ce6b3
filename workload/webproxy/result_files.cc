#include "workload/webproxy/result_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <variant>

#include "storage/base/units.h"
#include "workload/measure/interval_log.h"
#include "workload/measure/run_result.h"
#include "workload/measure/series.h"
#include "workload/report/json_text.h"

namespace webproxy {
namespace {

namespace json = boost::json;

/// Keys of a run that only a cache has a figure for: 0 would be one.
constexpr std::array<const char*, 11> kCacheKeys{
    "hit_ratio_all_percent", "basic_requests", "basic_hits", "hits",       "reload_hits",
    "validated_hits",        "shared_hits",    "ranges",     "range_hits", "ranges_whole",
    "responses_by_status"};

double percent_of_time(double cpu_s, const Account& account) {
  const double length_s = storage::seconds_of(account.duration());
  return length_s > 0 ? 100 * cpu_s / length_s : 0;
}

workload::RunResult to_result(const Account& account, const RunFacts& facts) {
  workload::RunResult result;
  workload::take_measurements(result, account.recorder());
  result.duration = account.duration();
  result.cache_size_bytes = facts.options.cache_size_bytes;
  result.seed = facts.options.seed;
  result.first_error = facts.first_error;
  result.warnings.insert(result.warnings.end(), facts.warnings.begin(), facts.warnings.end());
  return result;
}

json::object pattern_to_json(const Account& account, const RunFacts& facts) {
  return {{"engine", facts.engine},
          {"workers", facts.options.workers},
          {"files", facts.options.files},
          {"names", names_for(facts.options.files)},
          {"mean_file_bytes", kFileSizeMean},
          {"folders", facts.folders},
          {"reads", account.read_time().count()},
          {"creates", account.create_time().count()},
          {"deletes", account.delete_time().count()},
          {"reads_per_s", account.rate_of(account.read_time().count())},
          {"creates_per_s", account.rate_of(account.create_time().count())},
          {"deletes_per_s", account.rate_of(account.delete_time().count())},
          {"read_bytes", account.read_bytes()},
          {"written_bytes", account.written_bytes()},
          {"read_time_ms", workload::response_time_to_json(account.read_time())},
          {"create_time_ms", workload::response_time_to_json(account.create_time())},
          {"delete_time_ms", workload::response_time_to_json(account.delete_time())},
          {"cpu_s", facts.cpu_s},
          {"event_loop_cpu_percent", percent_of_time(facts.event_loop_cpu_s, account)}};
}

std::string latency_log(const Account& account, storage::WallTime start) {
  std::ostringstream out;
  const auto& series = account.recorder().series;
  workload::IntervalLogWriter writer(out, start);
  account.recorder().latency.for_each(
      [&](size_t index, const std::string& reads, const std::string& creates) {
        const auto begin = series.interval() * static_cast<int64_t>(index);
        const auto end = std::max(begin, std::min(begin + series.interval(), account.duration()));
        const double start_s = storage::seconds_of(begin);
        const double length_s = storage::seconds_of(end - begin);
        // Encoded by the log itself, so they can be decoded.
        const auto decoded = [](const std::string& text) {
          if (text.empty()) return workload::Histogram();
          return std::get<workload::Histogram>(workload::decode_histogram(text));
        };
        workload::Histogram all = decoded(reads);
        all.merge(decoded(creates));
        writer.write("", start_s, length_s, all);
        if (!reads.empty()) writer.write("read", start_s, length_s, decoded(reads));
        if (!creates.empty()) writer.write("create", start_s, length_s, decoded(creates));
      });
  return out.str();
}

}  // namespace

json::object run_to_json(const Account& account, const RunFacts& facts) {
  json::object out = workload::run_to_json(to_result(account, facts));
  for (const char* key : kCacheKeys) out[key] = nullptr;
  for (const char* key : {"hit_response_time_ms", "miss_response_time_ms", "first_byte_time_ms"}) {
    out[key] = nullptr;
  }
  // There is no generator beside what is measured.
  out["generator"] = nullptr;
  out["load"] = "best-effort=" + std::to_string(facts.options.workers);
  out["webproxy"] = pattern_to_json(account, facts);
  return out;
}

workload::Expected<void> write_result_files(const std::filesystem::path& folder,
                                            const Account& account, const RunFacts& facts) {
  std::ostringstream trace;
  workload::write_trace_csv(trace, account.recorder().series, facts.options.cache_size_bytes);
  if (auto done = workload::write_file(folder / "trace.csv", trace.str()); !done) return done;
  auto done = workload::write_file(folder / "latency.hlog", latency_log(account, facts.start));
  if (!done) return done;
  return workload::write_file(folder / "run.json",
                              workload::to_pretty_json(run_to_json(account, facts)));
}

std::string run_to_text(const Account& account, const RunFacts& facts) {
  const auto line = [&](const char* name, const workload::Histogram& times) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%-8s %10llu  %10.1f/s  mean %.3f ms  p99 %.3f ms\n",
                  name, static_cast<unsigned long long>(times.count()),
                  account.rate_of(times.count()), times.mean_ns().value_or(0) / 1e6,
                  static_cast<double>(times.percentile_ns(99).value_or(0)) / 1e6);
    return std::string(text.data());
  };
  return "engine " + facts.engine + ", " + std::to_string(facts.options.workers) + " workers, " +
         std::to_string(facts.options.files) + " files of " + storage::format_size(kFileSizeMean) +
         " on average, for " + storage::format_duration(account.duration()) + '\n' +
         line("read", account.read_time()) + line("created", account.create_time()) +
         line("deleted", account.delete_time());
}

}  // namespace webproxy
