#include "workload/ab/additions.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "workload/measure/interval_log.h"
#include "workload/measure/statistics.h"

namespace workload::ab {

namespace {

constexpr double kBusyPercent = 90;
constexpr uint64_t kBootstrapSeed = 1;

std::string decimals(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string hexadecimal(uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

/// Keeps what a peer said to one line of printable characters.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

std::string line(const std::string& label, const std::string& text) {
  std::string out = "+ " + label;
  out.resize(std::max<size_t>(out.size() + 1, 24), ' ');
  return out + text + '\n';
}

std::string bodies_text(const Measurement& run) {
  if (!run.first_body) return "no response was whole";
  const auto& tally = run.tally;
  const std::string first = "the first has " + std::to_string(run.first_body->size_bytes) +
                            " bytes, XXH3 " + hexadecimal(run.first_body->xxh3);
  if (tally.other_length + tally.other_content == 0) return "all alike; " + first;
  return std::to_string(tally.other_length) + " of another length, " +
         std::to_string(tally.other_content) + " of its length with other content; " + first;
}

std::string times_text(const Histogram& times) {
  if (times.empty()) return "no response was good";
  constexpr std::array<double, 6> kShown{50, 90, 95, 99, 99.9, 99.99};
  std::string out;
  for (const double percent : kShown) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "p%g %.3f  ", percent,
                  static_cast<double>(*times.percentile_ns(percent)) / 1e6);
    out += text.data();
  }
  return out + "max " + decimals(static_cast<double>(*times.max_ns()) / 1e6, 3) + " ms";
}

std::string failures_text(const Tally& tally) {
  return std::to_string(tally.truncated) + " cut short, " + std::to_string(tally.surplus) +
         " longer than announced, " + std::to_string(tally.timeouts) + " timed out" +
         (tally.first_failure.empty() ? "" : "; the first: " + printable(tally.first_failure));
}

std::string generator_text(const Measurement& run) {
  std::string out = decimals(run.cpu_s(), 3) + " s of CPU";
  if (run.tally.complete > 0) {
    out += ", " + decimals(run.cpu_s() * 1e6 / static_cast<double>(run.tally.complete), 2) +
           " us a request";
  }
  return out + "; its busiest thread ran or waited for a CPU " +
         decimals(run.busiest_percent(), 0) + " % of the time";
}

std::vector<double> rates_of(std::span<const Measurement> runs,
                             double (Measurement::*rate)() const) {
  std::vector<double> rates;
  for (const auto& run : runs) rates.push_back((run.*rate)());
  return rates;
}

std::string interval_text(std::span<const Measurement> runs) {
  const auto estimate =
      estimate_median(rates_of(runs, &Measurement::requests_per_s), kBootstrapSeed);
  std::string out = "median of " + std::to_string(runs.size()) + " runs " +
                    decimals(estimate.median.value_or(0), 2) + " requests a second, ";
  if (!estimate.low || !estimate.high) {
    return out + "no interval: " + std::to_string(estimate.runs_missing) + " more runs are needed";
  }
  return out + "95 % interval " + decimals(*estimate.low, 2) + " to " + decimals(*estimate.high, 2);
}

boost::json::object times_to_json(const TimeSamples& times) {
  boost::json::object json;
  const auto ms = [](double ns) { return ns / 1e6; };
  json["n"] = times.count();
  if (times.count() == 0) return json;
  json["min"] = ms(static_cast<double>(times.min_ns()));
  json["mean"] = ms(times.mean_ns());
  json["deviation"] = ms(times.deviation_ns());
  json["p50"] = ms(static_cast<double>(times.percentile_ns(50)));
  json["max"] = ms(static_cast<double>(times.max_ns()));
  return json;
}

boost::json::object good_times_to_json(const Histogram& times) {
  boost::json::object json;
  const auto mean_ns = times.mean_ns();
  json["mean"] = mean_ns ? boost::json::value(*mean_ns / 1e6) : nullptr;
  const auto add = [&](const char* name, double percent) {
    const auto ns = times.percentile_ns(percent);
    json[name] = ns ? boost::json::value(static_cast<double>(*ns) / 1e6) : nullptr;
  };
  add("p50", 50);
  add("p90", 90);
  add("p95", 95);
  add("p99", 99);
  add("p999", 99.9);
  add("p9999", 99.99);
  add("max", 100);
  return json;
}

boost::json::object failures_to_json(const Tally& tally) {
  const auto of = [&](Failure failure) { return tally.failures[static_cast<size_t>(failure)]; };
  return {{"connect", of(Failure::kConnect)}, {"receive", of(Failure::kReceive)},
          {"length", of(Failure::kLength)},   {"exceptions", of(Failure::kException)},
          {"truncated", tally.truncated},     {"surplus", tally.surplus},
          {"timeouts", tally.timeouts},       {"write_errors", tally.write_errors},
          {"first", tally.first_failure}};
}

/// `[elapsed_s, complete, good]` each.
boost::json::array progress_to_json(const Measurement& run) {
  boost::json::array rows;
  for (const auto& sample : run.progress) {
    rows.push_back(boost::json::array{sample.elapsed_s, sample.complete, sample.good});
  }
  return rows;
}

boost::json::object run_to_json(const Options& options, const Measurement& run) {
  const auto& tally = run.tally;
  boost::json::object json;
  json["requests"] = tally.complete;
  json["good"] = tally.good;
  json["failed"] = tally.failed();
  json["failures"] = failures_to_json(tally);
  json["non_2xx"] = tally.not_2xx;
  auto& classes = json["responses_by_class"].emplace_object();
  for (size_t at = 1; at < tally.by_class.size(); ++at) {
    if (tally.by_class[at] > 0) classes[std::to_string(at) + "xx"] = tally.by_class[at];
  }
  json["duration_s"] = run.duration_s;
  json["requests_per_s"] = run.requests_per_s();
  json["good_per_s"] = run.good_per_s();
  json["bytes_received"] = tally.received_bytes;
  json["body_bytes"] = tally.body_bytes;
  json["bytes_sent"] = tally.sent_bytes;
  json["keep_alive"] = tally.kept_alive;
  json["connections"] = tally.connections;
  json["stale_retries"] = tally.stale_retries;
  if (run.first_body) {
    json["first_body"] = {{"bytes", run.first_body->size_bytes},
                          {"xxh3", hexadecimal(run.first_body->xxh3)}};
  }
  json["other_length"] = tally.other_length;
  json["other_content"] = tally.other_content;
  json["good_time_ms"] = good_times_to_json(tally.good_times);
  if (!tally.good_times.empty()) {
    json["good_time_histogram"] = encode_histogram(tally.good_times);
  }
  json["progress"] = progress_to_json(run);
  json["connect_ms"] = times_to_json(tally.connect);
  json["processing_ms"] = times_to_json(tally.processing);
  json["waiting_ms"] = times_to_json(tally.waiting);
  json["total_ms"] = times_to_json(tally.total);
  json["generator_cpu_s"] = run.cpu_s();
  json["generator_busy_percent"] = run.busiest_percent();
  json["ended_by"] = !run.broken_off.empty() ? "failure"
                     : run.interrupted       ? "signal"
                     : run.out_of_time       ? "time"
                                             : "requests";
  boost::json::array warnings;
  for (const auto& warning : warnings_of(options, run)) warnings.emplace_back(warning);
  json["warnings"] = std::move(warnings);
  return json;
}

boost::json::object estimate_to_json(const Estimate& estimate) {
  const auto number = [](const std::optional<double>& value) {
    return value ? boost::json::value(*value) : boost::json::value(nullptr);
  };
  return {{"median", number(estimate.median)},
          {"low", number(estimate.low)},
          {"high", number(estimate.high)},
          {"n", estimate.n}};
}

}  // namespace

std::vector<std::string> warnings_of(const Options& options, const Measurement& run) {
  const auto& tally = run.tally;
  std::vector<std::string> warnings;
  // A shorter run is all start-up.
  constexpr double kDurationMinS = 0.1;
  if (run.duration_s >= kDurationMinS && run.busiest_percent() >= kBusyPercent) {
    warnings.emplace_back(
        "the generator was at its limit: the rate is a lower bound of what the server can do, and "
        "times hold its own waiting");
  }
  if (tally.good == 0) {
    warnings.emplace_back("no response was good: the rates above say nothing about the document");
  } else if (tally.not_2xx > 0) {
    warnings.emplace_back("the rates above count responses that were not 2xx");
  }
  const auto length = tally.failures[static_cast<size_t>(Failure::kLength)];
  if (length > tally.truncated + tally.surplus) {
    warnings.emplace_back(
        "bodies of another length count as failed, as in ApacheBench; -l allows a document that "
        "changes");
  }
  if (options.keep_alive && tally.kept_alive == 0 && tally.complete > 0) {
    warnings.emplace_back("-k had no effect: the server closed every connection");
  }
  if (options.requests_from_t && !run.out_of_time && run.broken_off.empty() && !run.interrupted) {
    warnings.emplace_back(
        "-t sets -n to 50000, which ended the run before its time; an -n behind "
        "-t allows more");
  }
  if (run.interrupted) warnings.emplace_back("a signal ended the run early");
  return warnings;
}

size_t median_run(std::span<const Measurement> runs) {
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return runs[left].requests_per_s() < runs[right].requests_per_s();
  });
  return order[(order.size() - 1) / 2];
}

std::string additions_text(const Options& options, std::span<const Measurement> runs,
                           size_t shown) {
  const auto& run = runs[shown];
  const auto& tally = run.tally;
  std::string out = "\n";
  if (options.html) out += "<pre>\n";
  if (runs.size() > 1) {
    out += line("runs", "the report above is of run " + std::to_string(shown + 1) + " of " +
                            std::to_string(runs.size()) + ", the median one");
    out += line("rate", interval_text(runs));
  }
  out += line("good (2xx and whole)", std::to_string(tally.good) + " of " +
                                          std::to_string(tally.complete) + ", " +
                                          decimals(run.good_per_s(), 2) + " a second");
  out += line("times of good ones", times_text(tally.good_times));
  out += line("bodies", bodies_text(run));
  if (tally.failed() > 0) out += line("failures", failures_text(tally));
  out += line("connections", std::to_string(tally.connections) + " opened, " +
                                 std::to_string(tally.stale_retries) +
                                 " kept ones found closed and replaced");
  out += line("generator", generator_text(run));
  for (const auto& warning : warnings_of(options, run)) out += line("warning:", warning);
  if (options.html) out += "</pre>\n";
  return out;
}

boost::json::object runs_to_json(const Options& options, std::span<const Measurement> runs,
                                 size_t shown) {
  boost::json::object json;
  json["cacheoff_version"] = CACHEOFF_VERSION;
  json["url"] = options.url.whole;
  json["method"] = options.method;
  json["concurrency"] = options.concurrency;
  json["threads"] = options.threads;
  json["keep_alive"] = options.keep_alive;
  json["server"] = printable(runs[shown].server);
  json["requests_per_s"] = estimate_to_json(
      estimate_median(rates_of(runs, &Measurement::requests_per_s), kBootstrapSeed));
  json["good_per_s"] =
      estimate_to_json(estimate_median(rates_of(runs, &Measurement::good_per_s), kBootstrapSeed));
  json["shown_run"] = shown;
  boost::json::array all;
  for (const auto& run : runs) all.push_back(run_to_json(options, run));
  json["runs"] = std::move(all);
  return json;
}

}  // namespace workload::ab
