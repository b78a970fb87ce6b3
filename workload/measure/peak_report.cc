#include "workload/measure/peak_report.h"

#include <cmath>
#include <optional>
#include <sstream>

namespace workload {
namespace {

boost::json::value or_null(const std::optional<double>& value) {
  return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

/// Four digits, or all before the point.
std::string number(double value) {
  const double size = std::abs(value);
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
  text << value;
  return text.str();
}

std::string window_of(const PeakFinderOptions& options) {
  return "the window of " + number(options.window_min_ms) + " to " + number(options.window_max_ms) +
         " ms";
}

std::string loads_of(const PeakSummary& summary) {
  if (!summary.load_mean_rps) return "nothing was measured";
  return "measured at " + number(*summary.load_low_rps) + " to " + number(*summary.load_high_rps) +
         " requests/s";
}

std::string system_sentence(const PeakFinder& finder, const PeakSummary& summary,
                            std::string_view generator_limit) {
  const PeakFinderOptions& options = finder.options();
  std::string text;
  if (summary.rate_at_target_rps) {
    text = number(*summary.rate_at_target_rps) + " requests/s at a mean response time of " +
           number(summary.target_ms) + " ms, the middle of " + window_of(options);
  } else if (summary.failing) {
    text = "requests fail before the response time reaches " + window_of(options);
  } else {
    text = "no rate can be told for " + window_of(options) +
           ": the measured response times did not cross its middle";
  }
  if (generator_limit.empty()) {
    text += ". The limit was the system under test. ";
  } else {
    text += ". The load generator was short of something itself (" + std::string(generator_limit) +
            "), so the system under test may carry more. ";
  }
  text += summary.settled ? "Settled: " : "Not settled, so less sure: ";
  return text + loads_of(summary) + ".";
}

}  // namespace

boost::json::object peak_to_json(const PeakFinder& finder, std::string_view generator_limit) {
  const PeakSummary summary = finder.summary();
  const PeakFinderOptions& options = finder.options();
  boost::json::object json;
  json["limit"] = name_of(summary.limit);
  json["settled"] = summary.settled;
  json["window_ms"] = {options.window_min_ms, options.window_max_ms};
  json["target_ms"] = summary.target_ms;
  json["sample_s"] = options.sample_s;
  json["start_rps"] = options.start_rps;
  json["max_rps"] = options.max_rps;
  json["step_percent"] = options.step * 100;
  json["rate_at_target_rps"] = or_null(summary.rate_at_target_rps);
  json["load_rps"] = {{"mean", or_null(summary.load_mean_rps)},
                      {"low", or_null(summary.load_low_rps)},
                      {"high", or_null(summary.load_high_rps)}};
  json["base_response_time_ms"] = or_null(summary.base_response_time_ms);
  json["failing"] = summary.failing;
  json["note"] = peak_sentence(finder, generator_limit);
  json["overloads"] = summary.overloads;
  boost::json::array samples;
  for (const PeakPoint& point : finder.points()) {
    const PeakSample& sample = point.sample;
    samples.push_back({{"load_rps", sample.offered_rps},
                       {"length_s", sample.length_s},
                       {"response_time_ms", or_null(sample.response_time_ms)},
                       {"response_time_error_ms", or_null(sample.error_ms)},
                       {"judged_ms", point.judged_ms},
                       {"good", sample.good},
                       {"failed", sample.failed},
                       {"unfinished", sample.unfinished},
                       {"overload", point.overload},
                       {"draining", point.draining},
                       {"measured", sample.measured}});
  }
  json["samples"] = std::move(samples);
  return json;
}

std::string peak_sentence(const PeakFinder& finder, std::string_view generator_limit) {
  const PeakSummary summary = finder.summary();
  const PeakFinderOptions& options = finder.options();
  if (summary.limit == PeakLimit::kSystem) {
    return system_sentence(finder, summary, generator_limit);
  }
  if (summary.limit == PeakLimit::kOffered) {
    return "more than " + number(options.max_rps) +
           " requests/s, the greatest load that was offered: the response time did not pass " +
           window_of(options) + ". The limit was the offered load, not the system; raise max=.";
  }
  if (summary.base_response_time_ms) {
    return "none found: at no load does the response time fall into " + window_of(options) +
           "; it is " + number(*summary.base_response_time_ms) +
           " ms and half the load did not lower it. Choose a window above that (window=A..B).";
  }
  return "none found: the run ended while the load was still searched for, at " +
         number(finder.rate_rps()) +
         " requests/s. Let it run longer (--until), or begin nearer (start=RATE).";
}

}  // namespace workload
