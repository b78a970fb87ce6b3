#include "workload/compare/ab_reports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

#include "storage/base/units.h"
#include "workload/compare/work_equality.h"
#include "workload/report/json_text.h"
#include "workload/report/printable_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr uint64_t kAbFileBytesMax = 4ULL << 20;
constexpr size_t kAbRowsMax = 10'000;
constexpr size_t kAbTextMax = 200;
constexpr std::string_view kBytesField = "bytes-per-response";

constexpr FigureWords kAbThroughput{"requests_per_second", "throughput, requests/s", "is", "faster",
                                    "slower"};
constexpr FigureWords kAbResponseTime{"median_ms", "median response time, ms", "takes", "longer",
                                      "less time"};

/// A column: sets its field, and says what would be right where it can't.
struct AbColumn {
  std::string_view name;
  const char* (*read)(const std::string& text, AbReport& report);
};

const char* read_ab_text(const std::string& text, std::string& field, bool may_be_empty) {
  if (text.size() > kAbTextMax) return "a text of at most 200 characters";
  if (text.empty() && !may_be_empty) return "a text";
  field = text;
  return nullptr;
}

const char* read_ab_count(const std::string& text, uint64_t& field) {
  const auto value = storage::parse_count(text);
  if (!value || *value == 0 || *value > (1ULL << 53)) return "a whole number above 0";
  field = *value;
  return nullptr;
}

const char* read_ab_total(const std::string& text, std::optional<uint64_t>& field) {
  if (text.empty()) return nullptr;
  const auto value = storage::parse_count(text);
  if (!value || *value > (1ULL << 53)) return "a whole number, or empty";
  field = *value;
  return nullptr;
}

const char* read_ab_number(const std::string& text, std::optional<double>& field) {
  if (text.empty()) return nullptr;
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || value > 1e12) {
    return "a number, or empty";
  }
  field = value;
  return nullptr;
}

const char* read_ab_rate(const std::string& text, AbReport& report) {
  std::optional<double> rate;
  const char* const wrong = read_ab_number(text, rate);
  if (wrong != nullptr || !rate || !(*rate > 0)) return "a number above 0";
  report.requests_per_second = *rate;
  return nullptr;
}

constexpr std::array<AbColumn, 13> kAbColumns{{
    {"operating_system", [](const std::string& text,
                            AbReport& r) { return read_ab_text(text, r.operating_system, false); }},
    {"server",
     [](const std::string& text, AbReport& r) { return read_ab_text(text, r.server, false); }},
    {"workers",
     [](const std::string& text, AbReport& r) { return read_ab_text(text, r.workers, true); }},
    {"event_method",
     [](const std::string& text, AbReport& r) { return read_ab_text(text, r.event_method, true); }},
    {"document_bytes",
     [](const std::string& text, AbReport& r) { return read_ab_count(text, r.document_bytes); }},
    {"concurrency",
     [](const std::string& text, AbReport& r) { return read_ab_count(text, r.concurrency); }},
    {"requests",
     [](const std::string& text, AbReport& r) { return read_ab_count(text, r.requests); }},
    {"seconds",
     [](const std::string& text, AbReport& r) { return read_ab_number(text, r.seconds); }},
    {"requests_per_second", read_ab_rate},
    {"total_transferred",
     [](const std::string& text, AbReport& r) { return read_ab_total(text, r.total_transferred); }},
    {"html_transferred",
     [](const std::string& text, AbReport& r) { return read_ab_total(text, r.html_transferred); }},
    {"median_ms",
     [](const std::string& text, AbReport& r) { return read_ab_number(text, r.median_ms); }},
    {"max_ms", [](const std::string& text, AbReport& r) { return read_ab_number(text, r.max_ms); }},
}};

/// Fields of a line; nothing where a quote does not end or text stands beside one.
std::optional<std::vector<std::string>> split_ab_line(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  bool after_quote = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += line[++i];
      } else {
        quoted = false;
        after_quote = true;
      }
    } else if (c == ',') {
      fields.emplace_back();
      after_quote = false;
    } else if (after_quote) {
      return std::nullopt;
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return fields;
}

Expected<std::vector<const AbColumn*>> read_header(const std::vector<std::string>& names,
                                                   const std::string& where) {
  std::vector<const AbColumn*> columns;
  for (const auto& name : names) {
    const auto known = std::find_if(kAbColumns.begin(), kAbColumns.end(),
                                    [&](const AbColumn& column) { return column.name == name; });
    if (known == kAbColumns.end() ||
        std::find(columns.begin(), columns.end(), &*known) != columns.end()) {
      return usage_problem(where + ": column '" + std::string(cut_text(name, kAbTextMax)) +
                           "' is unknown or there twice; the columns are " +
                           std::string(ab_report_columns()));
    }
    columns.push_back(&*known);
  }
  for (const auto& column : kAbColumns) {
    if (std::find(columns.begin(), columns.end(), &column) == columns.end()) {
      return usage_problem(where + ": column " + std::string(column.name) + " is missing");
    }
  }
  return columns;
}

Expected<AbReport> read_ab_row(const std::vector<std::string>& fields,
                               const std::vector<const AbColumn*>& columns,
                               const std::string& where) {
  if (fields.size() != columns.size()) {
    return usage_problem(where + ": has " + std::to_string(fields.size()) + " fields where " +
                         std::to_string(columns.size()) + " are named");
  }
  AbReport report;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (const char* right = columns[i]->read(fields[i], report)) {
      return usage_problem(where + ": " + std::string(columns[i]->name) + " '" +
                           std::string(cut_text(fields[i], kAbTextMax)) + "': must be " + right);
    }
  }
  return report;
}

auto side_key(const AbReport& report) {
  return std::tie(report.operating_system, report.server, report.workers, report.event_method,
                  report.document_bytes, report.concurrency, report.requests);
}

/// All runs of one system at one piece of work.
struct AbSide {
  std::vector<const AbReport*> runs;
  const AbReport& first() const { return *runs.front(); }
};

std::string work_text(const AbReport& report) {
  return std::to_string(report.document_bytes) + "B-c" + std::to_string(report.concurrency) + "-n" +
         std::to_string(report.requests);
}

std::string side_text(const AbReport& report) {
  std::string text = report.operating_system + ", " + report.server;
  if (!report.workers.empty()) {
    text += ", " + report.workers + (report.workers == "1" ? " worker" : " workers");
  }
  if (!report.event_method.empty()) text += ", " + report.event_method;
  return text;
}

/// Mean bytes of a response's body over the runs that tell it.
std::optional<double> body_bytes(const AbSide& side) {
  std::vector<double> means;
  for (const auto* run : side.runs) {
    if (!run->html_transferred) continue;
    means.push_back(static_cast<double>(*run->html_transferred) /
                    static_cast<double>(run->requests));
  }
  return median_of(means);
}

bool differs_by_tolerance(double base, double other) {
  return std::abs(other - base) > kResponseBytesTolerance * base;
}

Sample ab_sample(const AbSide& side, bool throughput) {
  Sample sample;
  for (const auto* run : side.runs) {
    if (throughput) {
      sample.push_back({std::nullopt, run->requests_per_second});
    } else if (run->median_ms) {
      sample.push_back({std::nullopt, *run->median_ms});
    }
  }
  return sample;
}

void note_oddities(Comparison& comparison, const AbSide& side, const std::string& name) {
  const AbReport& first = side.first();
  const auto bytes = body_bytes(side);
  if (bytes && differs_by_tolerance(static_cast<double>(first.document_bytes), *bytes)) {
    comparison.notes.push_back(name + " got " + figure_text(bytes) +
                               " bytes a response, and its document has " +
                               std::to_string(first.document_bytes));
  }
  for (const auto* run : side.runs) {
    if (!run->seconds || !(*run->seconds > 0)) continue;
    const double rate = static_cast<double>(run->requests) / *run->seconds;
    if (differs_by_tolerance(rate, run->requests_per_second)) {
      comparison.notes.push_back(name + ", line " + std::to_string(run->line) +
                                 ": requests_per_second is not requests by seconds (" +
                                 figure_text(rate) + ")");
    }
  }
}

void compare_pair(Comparison& comparison, const std::vector<AbSide>& sides, size_t first,
                  size_t second, const std::set<std::string>& ignored_fields) {
  const auto ours = body_bytes(sides[first]);
  const auto theirs = body_bytes(sides[second]);
  if (!ours || !theirs) {
    comparison.notes.push_back(
        "bytes a response of " + side_name(ours ? second : first) +
        " are not told, so that nothing shows whether its work was that of " +
        side_name(ours ? first : second));
  } else if (differs_by_tolerance(*ours, *theirs)) {
    WorkDifference difference{
        std::string(kBytesField), work_text(sides[first].first()), first, second, figure_text(ours),
        figure_text(theirs)};
    const bool ignored = ignored_fields.contains(std::string(kBytesField));
    (ignored ? comparison.ignored : comparison.refused).push_back(std::move(difference));
    if (!ignored) return;
  }
  for (const bool throughput : {true, false}) {
    const Sample left = ab_sample(sides[first], throughput);
    const Sample right = ab_sample(sides[second], throughput);
    if (left.empty() || right.empty()) continue;
    comparison.rows.push_back({work_text(sides[first].first()),
                               throughput ? kAbThroughput : kAbResponseTime,
                               first,
                               second,
                               compare_samples(left, right),
                               true,
                               {}});
  }
}

}  // namespace

std::string_view ab_report_columns() {
  return "operating_system,server,workers,event_method,document_bytes,concurrency,requests,seconds,"
         "requests_per_second,total_transferred,html_transferred,median_ms,max_ms";
}

Expected<std::vector<AbReport>> parse_ab_reports(std::string_view text, const std::string& file) {
  std::vector<AbReport> reports;
  std::vector<const AbColumn*> columns;
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const std::string where = "'" + file + "' line " + std::to_string(number);
    const auto fields = split_ab_line(line);
    if (!fields) return usage_problem(where + ": a quoted field does not end where it must");
    if (columns.empty()) {
      auto header = read_header(*fields, where);
      if (!header) return header.error();
      columns = std::move(*header);
      continue;
    }
    auto report = read_ab_row(*fields, columns, where);
    if (!report) return report.error();
    report->line = number;
    reports.push_back(std::move(*report));
    if (reports.size() > kAbRowsMax) {
      return usage_problem("'" + file + "': more than " + std::to_string(kAbRowsMax) + " rows");
    }
  }
  if (columns.empty()) {
    return usage_problem("'" + file + "': no line with the columns " +
                         std::string(ab_report_columns()));
  }
  return reports;
}

Expected<std::vector<AbReport>> read_ab_reports(const std::filesystem::path& file) {
  auto text = read_file(file, kAbFileBytesMax);
  if (!text) return usage_problem(text.error().text);
  return parse_ab_reports(*text, file.string());
}

Expected<Comparison> compare_ab_reports(const std::vector<AbReport>& reports,
                                        const std::set<std::string>& ignored_fields) {
  for (const auto& field : ignored_fields) {
    if (field != kBytesField) {
      return usage_problem("--ignore '" + field + "': is no field of ab reports; there is " +
                           std::string(kBytesField));
    }
  }
  std::vector<AbSide> sides;
  for (const auto& report : reports) {
    const auto same = std::find_if(sides.begin(), sides.end(), [&](const AbSide& side) {
      return side_key(side.first()) == side_key(report);
    });
    if (same == sides.end()) {
      sides.push_back({{&report}});
    } else {
      same->runs.push_back(&report);
    }
  }
  if (sides.size() < 2) return usage_problem("there are no two systems to compare");
  Comparison comparison;
  for (size_t side = 0; side < sides.size(); ++side) {
    const AbReport& first = sides[side].first();
    comparison.sides.push_back(
        {side_text(first), work_text(first) + ", " + std::to_string(sides[side].runs.size()) +
                               (sides[side].runs.size() == 1 ? " run" : " runs")});
    note_oddities(comparison, sides[side], side_name(side));
  }
  std::vector<bool> done(sides.size(), false);
  for (size_t first = 0; first < sides.size(); ++first) {
    if (done[first]) continue;
    bool alone = true;
    for (size_t second = first + 1; second < sides.size(); ++second) {
      if (work_text(sides[first].first()) != work_text(sides[second].first())) continue;
      done[second] = true;
      alone = false;
      compare_pair(comparison, sides, first, second, ignored_fields);
    }
    if (alone) comparison.unmatched.push_back({work_text(sides[first].first()), {first}});
    done[first] = true;
  }
  judge_rows(comparison);
  return comparison;
}

}  // namespace workload
