#include "workload/compare/comparison_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "workload/compare/aligned_lines.h"
#include "workload/report/json_text.h"
#include "workload/report/printable_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr uint64_t kCompareSchemaVersion = 1;

std::string_view colour_of(const ComparisonRow& row) {
  switch (row.numbers.standing) {
    case Standing::kDifferent:
      return "\x1b[1m";
    case Standing::kTooFew:
    case Standing::kNoResult:
      return "\x1b[33m";
    case Standing::kSame:
    case Standing::kBelowFloor:
      break;
  }
  return "";
}

std::string sides_and_environment(const Comparison& comparison) {
  std::string out;
  for (size_t side = 0; side < comparison.sides.size(); ++side) {
    const auto& about = comparison.sides[side].about;
    out += side_name(side) + " = " + printable(comparison.sides[side].source) +
           (about.empty() ? "" : " (" + printable(about) + ")") + '\n';
  }
  if (comparison.environment.empty()) return out + '\n';
  std::vector<AlignedLine> lines;
  for (const auto& line : comparison.environment) {
    AlignedLine shown;
    shown.fields.push_back(std::string(line.differs ? "* " : "  ") + line.key);
    if (line.differs) {
      for (const auto& value : line.values) shown.fields.push_back(printable(value));
    } else {
      shown.fields.push_back(printable(line.values.front()));
    }
    lines.push_back(std::move(shown));
  }
  return out + "\nenvironment (* differs):\n" + align(lines) + '\n';
}

std::string rows_text(const Comparison& comparison, bool colours) {
  if (comparison.rows.empty()) return {};
  std::vector<AlignedLine> lines;
  lines.push_back({{"cell", "figure", "sides", "first", "second", "ratio", "verdict"}, {}});
  for (const auto& row : comparison.rows) {
    lines.push_back({{row.cell, std::string(row.words.title),
                      side_name(row.first) + " " + side_name(row.second),
                      figure_text(row.numbers.first.median), figure_text(row.numbers.second.median),
                      ratio_text(row.numbers.ratio), (row.valid ? "" : "! ") + row.verdict},
                     colours ? colour_of(row) : std::string_view()});
  }
  std::string out = align(lines) + '\n';
  out +=
      "medians over the runs; ratio: second side to first, with its 95 % bootstrap interval over "
      "the runs\n"
      "told apart: Holm over all " +
      std::to_string(comparison.rows.size()) + (comparison.rows.size() == 1 ? " row" : " rows") +
      ", 5 %; nothing below the noise between rounds is claimed\n";
  const bool doubts = std::any_of(comparison.rows.begin(), comparison.rows.end(),
                                  [](const auto& row) { return !row.valid; });
  if (doubts) out += "! not valid as it stands: see the notes\n";
  return out;
}

boost::json::array differences_json(const std::vector<WorkDifference>& differences) {
  boost::json::array out;
  for (const auto& difference : differences) {
    out.push_back({{"field", difference.field},
                   {"cell", difference.cell.empty() ? boost::json::value()
                                                    : boost::json::value(difference.cell)},
                   {"first", side_name(difference.first)},
                   {"second", side_name(difference.second)},
                   {"first_value", difference.first_value},
                   {"second_value", difference.second_value}});
  }
  return out;
}

boost::json::object row_json(const ComparisonRow& row) {
  return {{"cell", row.cell},
          {"figure", row.words.name},
          {"first", side_name(row.first)},
          {"second", side_name(row.second)},
          {"first_estimate", estimate_json(row.numbers.first)},
          {"second_estimate", estimate_json(row.numbers.second)},
          {"ratio", estimate_json(row.numbers.ratio)},
          {"paired", row.numbers.paired},
          {"p", json_number(row.numbers.p)},
          {"adjusted_p", json_number(row.numbers.adjusted_p)},
          {"noise_floor_percent", row.numbers.noise_floor_percent},
          {"runs", row.numbers.runs},
          {"runs_needed", row.numbers.runs_needed},
          {"outcome", standing_name(row.numbers.standing)},
          {"verdict", row.verdict},
          {"valid", row.valid}};
}

boost::json::array side_names(const std::vector<size_t>& sides) {
  boost::json::array out;
  for (const size_t side : sides) out.emplace_back(side_name(side));
  return out;
}

}  // namespace

std::string ratio_text(const Estimate& ratio) {
  if (!ratio.median || !std::isfinite(*ratio.median)) return "-";
  char text[96];
  std::snprintf(text, sizeof text, "%.3f", *ratio.median);
  std::string out = text;
  if (ratio.low && ratio.high) {
    std::snprintf(text, sizeof text, " [%.3f, %.3f]", *ratio.low, *ratio.high);
    out += text;
  }
  return out;
}

std::string csv_number(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", *value);
  return text;
}

boost::json::object estimate_json(const Estimate& estimate) {
  return {{"median", json_number(estimate.median)},
          {"low", json_number(estimate.low)},
          {"high", json_number(estimate.high)},
          {"n", estimate.n}};
}

std::string comparison_text(const Comparison& comparison, bool colours) {
  std::string out = sides_and_environment(comparison);
  for (const auto& difference : comparison.refused) {
    out += "not comparable: " + printable(difference_line(difference)) + '\n';
  }
  for (const auto& difference : comparison.ignored) {
    out += "IGNORED, the work differs: " + printable(difference_line(difference)) + '\n';
  }
  if (!comparison.refused.empty() || !comparison.ignored.empty()) out += '\n';
  out += rows_text(comparison, colours);
  for (const auto& unmatched : comparison.unmatched) {
    out += "only in";
    for (const size_t side : unmatched.sides) out += " " + side_name(side);
    out += ": " + unmatched.cell + '\n';
  }
  for (const auto& note : comparison.notes) out += "note: " + printable(note) + '\n';
  return out;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string out =
      "cell,figure,first,second,first_median,first_low,first_high,first_runs,second_median,"
      "second_low,second_high,second_runs,ratio,ratio_low,ratio_high,paired,p,adjusted_p,"
      "noise_floor_percent,outcome,verdict,valid,work_equal\n";
  for (const auto& row : comparison.rows) {
    const auto& numbers = row.numbers;
    const bool ignored = std::any_of(comparison.ignored.begin(), comparison.ignored.end(),
                                     [&](const WorkDifference& one) {
                                       return one.first == row.first && one.second == row.second;
                                     });
    out += csv_field(row.cell) + ',' + std::string(row.words.name) + ',' + side_name(row.first) +
           ',' + side_name(row.second);
    for (const auto* side : {&numbers.first, &numbers.second}) {
      out += ',' + csv_number(side->median) + ',' + csv_number(side->low) + ',' +
             csv_number(side->high) + ',' + std::to_string(side->n);
    }
    for (const auto& value : {numbers.ratio.median, numbers.ratio.low, numbers.ratio.high}) {
      out += ',' + csv_number(value);
    }
    out += std::string(numbers.paired ? ",true" : ",false") + ',' + csv_number(numbers.p) + ',' +
           csv_number(numbers.adjusted_p) + ',' + csv_number(numbers.noise_floor_percent) + ',' +
           std::string(standing_name(numbers.standing)) + ',' + csv_field(row.verdict) +
           (row.valid ? ",true" : ",false") + (ignored ? ",false" : ",true") + '\n';
  }
  return out;
}

boost::json::object comparison_json(const Comparison& comparison) {
  boost::json::array sides;
  for (size_t side = 0; side < comparison.sides.size(); ++side) {
    sides.push_back({{"name", side_name(side)},
                     {"source", comparison.sides[side].source},
                     {"about", comparison.sides[side].about}});
  }
  boost::json::array environment;
  for (const auto& line : comparison.environment) {
    boost::json::array values;
    for (const auto& value : line.values) values.emplace_back(value);
    environment.push_back(
        {{"key", line.key}, {"values", std::move(values)}, {"differs", line.differs}});
  }
  boost::json::array unmatched;
  for (const auto& cell : comparison.unmatched) {
    unmatched.push_back({{"cell", cell.cell}, {"sides", side_names(cell.sides)}});
  }
  boost::json::array rows;
  for (const auto& row : comparison.rows) rows.push_back(row_json(row));
  boost::json::array notes;
  for (const auto& note : comparison.notes) notes.emplace_back(note);
  return {{"schema_version", kCompareSchemaVersion},
          {"cacheoff_version", CACHEOFF_VERSION},
          {"sides", std::move(sides)},
          {"environment", std::move(environment)},
          {"refused", differences_json(comparison.refused)},
          {"ignored", differences_json(comparison.ignored)},
          {"unmatched", std::move(unmatched)},
          {"rows", std::move(rows)},
          {"notes", std::move(notes)}};
}

}  // namespace workload
