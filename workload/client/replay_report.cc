#include "workload/client/replay_report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "storage/base/units.h"
#include "workload/measure/tally.h"

namespace workload {

namespace {

using traces::LogFormat;
using traces::SkipReason;

constexpr size_t kLabelWidth = 22;

std::array<SkipReason, traces::kSkipReasonCount> all_reasons() {
  std::array<SkipReason, traces::kSkipReasonCount> reasons{};
  for (size_t at = 0; at < reasons.size(); ++at) reasons[at] = static_cast<SkipReason>(at);
  return reasons;
}

std::string row(std::string_view label, const std::string& value) {
  std::string padded(label);
  padded.resize(std::max(kLabelWidth, padded.size() + 1), ' ');
  return padded + value + "\n";
}

std::string right_aligned(uint64_t number, size_t width) {
  std::string text = std::to_string(number);
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string utc_text(storage::WallTime time) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  std::array<char, 48> whole_text{};
  std::snprintf(whole_text.data(), whole_text.size(), "%s.%03d UTC", text.data(),
                static_cast<int>(ms));
  return whole_text.data();
}

std::string percent_text(std::optional<double> percent) {
  if (!percent) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %%", *percent);
  return text.data();
}

boost::json::value percent_json(std::optional<double> percent) {
  if (!percent) return nullptr;
  return *percent;
}

bool has_squid_lines(const traces::ReplayPlan& plan) {
  return plan.lines_by_format[static_cast<size_t>(LogFormat::kSquidNative)] > 0 ||
         plan.lines_by_format[static_cast<size_t>(LogFormat::kSquidLocalTime)] > 0;
}

boost::json::object order_to_json(const traces::OrderReport& order) {
  boost::json::object json;
  json["out_of_order"] = order.out_of_order;
  json["backward_steps"] = order.backward_steps;
  json["lateness_max_s"] = storage::seconds_of(order.lateness_max);
  json["first"] = order.first ? boost::json::value(utc_text(*order.first)) : nullptr;
  json["last"] = order.last ? boost::json::value(utc_text(*order.last)) : nullptr;
  return json;
}

}  // namespace

std::string_view name_of(traces::SizePolicy policy) {
  switch (policy) {
    case traces::SizePolicy::kMax:
      return "max";
    case traces::SizePolicy::kFirst:
      return "first";
    case traces::SizePolicy::kLast:
      return "last";
  }
  return "max";
}

std::string_view name_of(traces::StrippedQuery stripped) {
  switch (stripped) {
    case traces::StrippedQuery::kAsIs:
      return "as-is";
    case traces::StrippedQuery::kUnique:
      return "unique";
    case traces::StrippedQuery::kUncachable:
      return "uncachable";
  }
  return "as-is";
}

boost::json::object plan_to_json(const traces::ReplayPlan& plan,
                                 const traces::PlanOptions& options) {
  boost::json::object skipped;
  boost::json::object first;
  for (const auto reason : all_reasons()) {
    const auto& lines = plan.lines.skipped(reason);
    skipped[traces::name_of(reason)] = lines.count;
    if (lines.count == 0) continue;
    first[traces::name_of(reason)] = {{"line", lines.first_line}, {"text", lines.first_text}};
  }
  boost::json::object formats;
  for (size_t at = 0; at < traces::kLogFormatCount; ++at) {
    formats[traces::name_of(static_cast<LogFormat>(at))] = plan.lines_by_format[at];
  }
  const auto count = traces::plain_count(plan);
  boost::json::object json;
  json["lines"] = plan.lines.total();
  json["used"] = plan.lines.used();
  json["skipped"] = std::move(skipped);
  json["first_skipped"] = std::move(first);
  json["formats"] = std::move(formats);
  json["order"] = order_to_json(plan.order);
  json["last_line_without_end"] = plan.last_line_without_end;
  json["read_error"] = plan.read_error ? boost::json::value(plan.read_error->text) : nullptr;
  json["objects"] = plan.objects.size();
  json["working_set_bytes"] = plan.working_set_bytes();
  json["urls_of_changing_size"] = plan.urls_of_changing_size;
  json["requests_of_stripped_urls"] = plan.requests_of_stripped_urls;
  json["requests_of_default_size"] = plan.requests_of_default_size;
  json["requests_spread_in_second"] = plan.requests_spread_in_second;
  json["plain_hits"] = count.hits;
  json["plain_hit_ratio_percent"] = percent_json(percent_of(count.hits, count.requests));
  json["plain_byte_hit_ratio_percent"] =
      percent_json(percent_of(count.hit_body_bytes, count.body_bytes));
  json["host"] = options.host;
  json["size"] = name_of(options.size_policy);
  json["stripped_query"] = name_of(options.stripped_query);
  boost::json::array assumptions;
  for (const auto& assumption : assumptions_of(plan, options)) assumptions.emplace_back(assumption);
  json["assumptions"] = std::move(assumptions);
  return json;
}

std::string account_to_text(const traces::ReplayPlan& plan) {
  constexpr size_t kCountWidth = 10;
  std::string text = row("lines read", right_aligned(plan.lines.total(), kCountWidth));
  text += row("  used", right_aligned(plan.lines.used(), kCountWidth));
  for (const auto reason : all_reasons()) {
    const auto& lines = plan.lines.skipped(reason);
    if (lines.count == 0) continue;
    text += row("  " + std::string(traces::name_of(reason)),
                right_aligned(lines.count, kCountWidth) + "  " +
                    std::string(traces::explanation_of(reason)) + "; first: line " +
                    std::to_string(lines.first_line));
    text += row("", std::string(kCountWidth + 2, ' ') + lines.first_text);
  }
  return text;
}

std::string plan_to_text(const traces::ReplayPlan& plan, const traces::PlanOptions& options) {
  std::string formats;
  for (size_t at = 0; at < traces::kLogFormatCount; ++at) {
    if (plan.lines_by_format[at] == 0) continue;
    formats += (formats.empty() ? "" : ", ") +
               std::string(traces::name_of(static_cast<LogFormat>(at))) + " " +
               std::to_string(plan.lines_by_format[at]);
  }
  std::string text = row("formats", formats.empty() ? "-" : formats);
  const auto& order = plan.order;
  if (order.first && order.last) {
    text += row("from", utc_text(*order.first));
    text += row("to", utc_text(*order.last) + " (" +
                          storage::format_duration(*order.last - *order.first) + ")");
    text += row("out of order", std::to_string(order.out_of_order) + " lines, at most " +
                                    storage::format_duration(order.lateness_max) + " late");
  }
  const auto count = traces::plain_count(plan);
  text += row("objects", std::to_string(plan.objects.size()) + ", " +
                             storage::format_size(plan.working_set_bytes()));
  text += row("URLs of many sizes", std::to_string(plan.urls_of_changing_size) + " (size: " +
                                        std::string(name_of(options.size_policy)) + ")");
  text += row("stripped queries", std::to_string(plan.requests_of_stripped_urls) + " requests (" +
                                      std::string(name_of(options.stripped_query)) + ")");
  text +=
      row("infinite cache", "hit ratio " + percent_text(percent_of(count.hits, count.requests)) +
                                ", byte hit ratio " +
                                percent_text(percent_of(count.hit_body_bytes, count.body_bytes)));
  return text;
}

std::vector<std::string> assumptions_of(const traces::ReplayPlan& plan,
                                        const traces::PlanOptions& options) {
  std::vector<std::string> assumptions;
  if (has_squid_lines(plan)) {
    assumptions.emplace_back(
        "Squid's byte counts include the response's header; they are used as body sizes");
  }
  if (plan.urls_of_changing_size > 0) {
    assumptions.push_back(std::to_string(plan.urls_of_changing_size) +
                          " URLs change size in the log; each keeps one size (" +
                          std::string(name_of(options.size_policy)) + ")");
  }
  if (plan.requests_spread_in_second > 0) {
    assumptions.emplace_back(
        "stamps of whole seconds are starts; requests of one second are spread evenly over it");
  }
  if (plan.requests_of_stripped_urls > 0) {
    assumptions.push_back(
        "the log cut off queries: " + std::to_string(plan.requests_of_stripped_urls) +
        " requests end in a bare '?', taken " + std::string(name_of(options.stripped_query)));
  }
  if (plan.requests_of_default_size > 0) {
    assumptions.push_back(std::to_string(plan.requests_of_default_size) +
                          " requests have the default size: no line tells theirs");
  }
  if (plan.last_line_without_end) {
    assumptions.emplace_back("the last line has no line end: it may have been cut");
  }
  if (plan.read_error) assumptions.push_back(plan.read_error->text);
  return assumptions;
}

}  // namespace workload
