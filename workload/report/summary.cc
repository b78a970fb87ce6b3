#include "workload/report/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "workload/experiment/variation.h"
#include "workload/report/json_text.h"
#include "workload/report/printable_text.h"

namespace workload {
namespace {

constexpr double kSignificance = 0.05;

constexpr std::array<std::string_view, 10> kTextColumns{
    "scheme",    "filesystem",        "mount_options", "throughput",   "response_time",
    "hit_ratio", "offered_hit_ratio", "errors",        "wrong_bodies", "limited_by"};
constexpr std::array<std::string_view, 10> kTextUnits{"", "", "", "responses/s", "ms", "%", "%",
                                                      "", "", ""};

std::string most_frequent_limit(const CellResult& cell) {
  std::map<std::string, size_t> counts;
  for (const auto& run : cell.runs) ++counts[text_at(run, "limited_by")];
  const auto most = std::max_element(
      counts.begin(), counts.end(),
      [](const auto& left, const auto& right) { return left.second < right.second; });
  return most == counts.end() ? std::string() : most->first;
}

/// The line without its figures and their signs: what tells its kind.
std::string kind_of(const std::string& line) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string kind;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool sign = (line[i] == '-' || line[i] == '+') && i + 1 < line.size() &&
                      is_digit(line[i + 1]) && (i == 0 || line[i - 1] == ' ');
    if (!is_digit(line[i]) && !sign) kind += line[i];
  }
  return kind;
}

/// The first line of each kind, with the number of those that differ from it in figures only.
std::vector<std::string> count_notes(const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, size_t>> counted;
  for (const auto& line : lines) {
    const auto known = std::find_if(counted.begin(), counted.end(), [&](const auto& entry) {
      return kind_of(entry.first) == kind_of(line);
    });
    if (known == counted.end()) {
      counted.emplace_back(line, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> notes;
  for (const auto& [line, count] : counted) {
    const std::string more = count == 2 ? "1 more run" : std::to_string(count - 1) + " more runs";
    notes.push_back(count == 1 ? line : line + " (likewise in " + more + ")");
  }
  return notes;
}

std::vector<std::string> cell_notes(const CellResult& cell) {
  std::vector<std::string> lines;
  for (const auto& run : cell.runs) {
    const std::string prefix = "run " + std::to_string(count_at(run, "run")) + ": ";
    if (const std::string failure = text_at(run, "failure"); !failure.empty()) {
      lines.push_back(prefix + "not counted: " + failure);
    }
    const auto* warnings = find_json(run, "warnings");
    if (warnings == nullptr || !warnings->is_array()) continue;
    for (const auto& warning : warnings->get_array()) {
      if (warning.is_string()) lines.emplace_back(warning.get_string());
    }
  }
  for (const auto& run : cell.failed_runs) {
    lines.push_back("run " + std::to_string(run.run) + " failed: " + run.reason);
  }
  return count_notes(lines);
}

bool is_valid(const CellResult& cell, size_t runs) {
  return runs > 0 && cell.failed_runs.empty() &&
         std::all_of(cell.runs.begin(), cell.runs.end(), [](const auto& run) {
           const auto* valid = find_json(run, "valid");
           return valid != nullptr && valid->is_bool() && valid->get_bool();
         });
}

/// Sums over the object at `path`, for each run that has it.
std::vector<double> run_sums(const CellResult& cell, std::string_view path) {
  std::vector<double> sums;
  for (const auto* run : counting_runs(cell)) {
    const auto* counts = find_json(*run, path);
    if (counts == nullptr || !counts->is_object()) continue;
    sums.push_back(static_cast<double>(sum_at(*run, path)));
  }
  return sums;
}

/// Medians of the new objects that were declined, by reason; a run without that reason counts as 0.
std::map<std::string, double> declined_of(const CellResult& cell) {
  const auto runs = counting_runs(cell);
  std::map<std::string, std::vector<double>> by_reason;
  for (const auto* run : runs) {
    const auto* reasons = find_json(*run, "storage.declined");
    if (reasons == nullptr || !reasons->is_object()) continue;
    for (const auto& reason : reasons->get_object()) {
      const std::string name(reason.key());
      if (const auto count = number_at(reasons->get_object(), name)) {
        by_reason[name].push_back(*count);
      }
    }
  }
  std::map<std::string, double> declined;
  for (auto& [reason, counts] : by_reason) {
    counts.resize(runs.size(), 0);
    declined[reason] = median_of(counts).value_or(0);
  }
  return declined;
}

SummaryRow make_row(const CellResult& cell) {
  SummaryRow row;
  row.name = cell.name;
  row.scheme = cell.scheme;
  row.filesystem = cell.filesystem;
  row.mount_options = cell.mount_options;
  row.event_method = cell.event_method;
  row.variant = cell.variant;
  row.disks = cell.disks;
  row.is_cache = cell.system != kNoCacheSystem;
  row.throughput_rps = cell_estimate(cell, "throughput_rps");
  row.response_time_ms = cell_estimate(cell, "response_time_ms.mean");
  row.hit_ratio_percent = cell_estimate(cell, "hit_ratio_percent");
  row.byte_hit_ratio_percent = cell_estimate(cell, "byte_hit_ratio_percent");
  row.offered_hit_ratio_percent = median_of(run_values(cell, "offered_hit_ratio_percent"));
  for (const auto& run : cell.runs) {
    row.errors += sum_at(run, "errors");
    row.wrong_bodies += count_at(run, "wrong_bodies");
  }
  row.store_operations = median_of(run_sums(cell, "storage.operations"));
  row.store_declined = declined_of(cell);
  row.store_evictions = median_of(run_values(cell, "storage.evictions"));
  row.write_amplification = median_of(run_values(cell, "storage.write_amplification"));
  row.io_per_request = median_of(run_values(cell, "storage.io_per_request"));
  row.costs = cell_costs(cell);
  row.disk_operations_per_request = median_of(run_values(cell, "disk.operations_per_request"));
  row.disk_busy_percent = median_of(run_values(cell, "disk.busy_percent"));
  row.limited_by = most_frequent_limit(cell);
  row.runs = row.throughput_rps.n;
  row.valid = is_valid(cell, row.runs);
  row.notes = cell_notes(cell);
  return row;
}

/// Compares each row with the one above it.
void tell_apart(std::vector<SummaryRow>& rows, const std::vector<std::vector<double>>& runs) {
  std::vector<size_t> compared;
  std::vector<double> p_values;
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto p = mann_whitney_p(runs[i - 1], runs[i]);
    if (!p) continue;
    compared.push_back(i);
    p_values.push_back(*p);
  }
  if (compared.empty()) return;
  const auto adjusted = holm_adjust(p_values);
  const size_t runs_needed = runs_for_significance_min(compared.size(), kSignificance);
  for (size_t k = 0; k < compared.size(); ++k) {
    const size_t i = compared[k];
    if (adjusted[k] < kSignificance) {
      rows[i].distinction = Distinction::kDifferent;
    } else {
      const bool too_few = std::min(runs[i - 1].size(), runs[i].size()) < runs_needed;
      rows[i].distinction = too_few ? Distinction::kTooFew : Distinction::kSame;
    }
  }
}

std::string mark_of(const SummaryRow& row) {
  std::string mark;
  if (!row.is_cache) mark += '#';
  if (!row.valid) mark += '!';
  if (row.distinction == Distinction::kSame) mark += '=';
  if (row.distinction == Distinction::kTooFew) mark += '?';
  return mark;
}

std::string text_or_dash(const std::string& text) {
  return text.empty() ? "-" : printable(text);
}

std::vector<std::string> text_fields(const SummaryRow& row) {
  return {printable(scheme_text(row)),
          text_or_dash(place_text(row)),
          text_or_dash(row.mount_options),
          estimate_text(row.throughput_rps),
          estimate_text(row.response_time_ms),
          estimate_text(row.hit_ratio_percent),
          figure_text(row.offered_hit_ratio_percent),
          count_text(row, row.errors, "-"),
          count_text(row, row.wrong_bodies, "-"),
          text_or_dash(row.limited_by),
          mark_of(row)};
}

/// Columns of numbers, which stand to the right.
struct NumberColumns {
  size_t first;
  size_t last;
  bool contains(size_t column) const { return column >= first && column <= last; }
};

/// Columns padded to their widest field, numbers to the right.
std::string layout(const std::vector<std::vector<std::string>>& lines, NumberColumns numbers) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string padding(widths[i] - line[i].size(), ' ');
      text += i == 0 ? "" : "  ";
      text += numbers.contains(i) ? padding + line[i] : line[i] + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

/// The second table: what the stores did for these figures; empty where no proxy told.
std::string store_table(const std::vector<SummaryRow>& rows) {
  if (!any_store_told(rows)) return {};
  std::vector<std::vector<std::string>> lines{
      {"scheme", "filesystem", "mount_options", "operations", "evictions", "write_amplification",
       "io_per_request", "disk_per_request", "busy_%", "declined"}};
  for (const auto& row : rows) {
    lines.push_back({printable(scheme_text(row)), text_or_dash(place_text(row)),
                     text_or_dash(row.mount_options), whole_text(row.store_operations),
                     whole_text(row.store_evictions), figure_text(row.write_amplification),
                     figure_text(row.io_per_request), figure_text(row.disk_operations_per_request),
                     figure_text(row.disk_busy_percent), text_or_dash(declined_text(row, " "))});
  }
  return layout(lines, {3, 8}) +
         "what each store did in a run, warm-up included: calls to it, objects evicted, bytes "
         "written to bytes\npublished; of what was measured, file and disk operations a request, "
         "and how busy the busiest disk was;\nnew objects declined by reason\n\n";
}

/// The third table: what a request cost; empty where no run says.
std::string cost_table(const std::vector<SummaryRow>& rows) {
  if (!any_costs_known(rows)) return {};
  std::vector<std::vector<std::string>> lines{{"scheme", "filesystem", "mount_options"}};
  for (const auto& column : kCostColumns) lines.front().emplace_back(column.title);
  for (const auto& row : rows) {
    lines.push_back({printable(scheme_text(row)), text_or_dash(place_text(row)),
                     text_or_dash(row.mount_options)});
    for (auto& field : cost_fields(row.costs)) lines.back().push_back(std::move(field));
  }
  return layout(lines, {3, 2 + kCostColumns.size()}) +
         "what a request cost: CPU time, context switches and page faults of the proxy and what it "
         "started; operations\nand bytes of the disks. Then disk bytes written to bytes published, "
         "bytes read that no disk had to give,\nwith --memory the most memory in use, and the "
         "bytes of a response as the load generator got it\n\n";
}

std::string explain_marks(const std::vector<SummaryRow>& rows) {
  const auto any = [&](auto matches) { return std::any_of(rows.begin(), rows.end(), matches); };
  std::string out;
  if (any([](const SummaryRow& row) { return !row.is_cache; })) {
    out += std::string("# ") + kNoCacheText + '\n';
  }
  if (any([](const SummaryRow& row) { return !row.valid; })) {
    out += "! not valid as it stands: see the notes\n";
  }
  if (any([](const SummaryRow& row) { return row.distinction == Distinction::kSame; })) {
    out +=
        "= the runs do not tell this throughput from the one above (Mann-Whitney with Holm's "
        "correction, 5 %)\n";
  }
  if (any([](const SummaryRow& row) { return row.distinction == Distinction::kTooFew; })) {
    size_t comparisons = 0;
    for (const auto& row : rows) comparisons += row.distinction != Distinction::kFirst;
    out += "? too few runs to tell this throughput from the one above at 5 %: it takes " +
           std::to_string(runs_for_significance_min(comparisons, kSignificance)) +
           " runs of each cell\n";
  }
  return out;
}

std::string medians_of(size_t runs) {
  if (runs == 1) return "one run of each cell";
  return "medians over up to " + std::to_string(runs) + " runs of each cell";
}

std::string numbers(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {};
  char buffer[512];
  // Counts of bytes in full: a power of ten is no number to every reader of CSV.
  std::snprintf(buffer, sizeof buffer, std::fabs(*value) >= 1e5 ? "%.0f" : "%.6g", *value);
  return buffer;
}

}  // namespace

std::string scheme_text(const SummaryRow& row) {
  const bool usual = row.event_method.empty() || row.event_method == "epoll";
  const bool is_varied = !row.variant.empty() && row.variant != kBaseVariant;
  return row.scheme + (usual ? "" : ", " + row.event_method) +
         (is_varied ? ", " + row.variant : "");
}

std::string place_text(const SummaryRow& row) {
  return row.filesystem + (row.disks > 1 ? " x" + std::to_string(row.disks) : "");
}

std::string count_text(const SummaryRow& row, uint64_t count, const char* nothing) {
  return row.runs == 0 && count == 0 ? nothing : std::to_string(count);
}

std::string whole_text(const std::optional<double>& figure) {
  if (!figure || !std::isfinite(*figure)) return "-";
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, "%.0f", *figure);
  return buffer;
}

std::string declined_text(const SummaryRow& row, const char* separator) {
  std::string text;
  for (const auto& [reason, count] : row.store_declined) {
    if (count <= 0) continue;
    if (!text.empty()) text += separator;
    text += printable(reason) + '=' + whole_text(count);
  }
  return text;
}

bool any_costs_known(const std::vector<SummaryRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const SummaryRow& row) {
    return std::any_of(row.costs.begin(), row.costs.end(),
                       [](const auto& cost) { return cost.has_value(); });
  });
}

bool any_store_told(const std::vector<SummaryRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const SummaryRow& row) { return row.store_operations.has_value(); });
}

std::vector<SummaryRow> summarise(const Results& results) {
  std::vector<std::pair<SummaryRow, std::vector<double>>> cells;
  for (const auto& cell : results.cells) {
    cells.emplace_back(make_row(cell), run_values(cell, "throughput_rps"));
  }
  std::stable_sort(cells.begin(), cells.end(), [](const auto& left, const auto& right) {
    return left.first.throughput_rps.median.value_or(-1) >
           right.first.throughput_rps.median.value_or(-1);
  });
  std::vector<SummaryRow> rows;
  std::vector<std::vector<double>> runs;
  for (auto& [row, values] : cells) {
    rows.push_back(std::move(row));
    runs.push_back(std::move(values));
  }
  tell_apart(rows, runs);
  return rows;
}

std::string figure_text(const std::optional<double>& figure) {
  if (!figure || !std::isfinite(*figure)) return "-";
  const double size = std::fabs(*figure);
  const int digits = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, *figure);
  return buffer;
}

std::string estimate_text(const Estimate& estimate) {
  std::string text = figure_text(estimate.median);
  if (estimate.low && estimate.high) {
    text += " (" + figure_text(estimate.low) + "-" + figure_text(estimate.high) + ")";
  }
  return text;
}

std::string csv_field(const std::string& text) {
  std::string plain;
  for (const char c : text) plain += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // A spreadsheet would take it for a formula.
  if (!plain.empty() && std::string_view("=+-@").find(plain.front()) != std::string_view::npos) {
    plain.insert(0, 1, '\'');
  }
  if (plain.find_first_of(",\"") == std::string::npos) return plain;
  std::string out = "\"";
  for (const char c : plain) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

size_t runs_missing(const std::vector<SummaryRow>& rows) {
  size_t missing = 0;
  for (const auto& row : rows) {
    if (row.runs > 0) missing = std::max(missing, row.throughput_rps.runs_missing);
  }
  return missing;
}

std::string summary_csv(const std::vector<SummaryRow>& rows) {
  std::string out =
      "scheme,filesystem,mount_options,throughput,response_time,hit_ratio,throughput_low,"
      "throughput_high,response_time_low,response_time_high,hit_ratio_low,hit_ratio_high,"
      "byte_hit_ratio,offered_hit_ratio,errors,wrong_bodies,limited_by,runs,valid,name,"
      "store_operations,store_evictions,write_amplification,io_per_request,store_declined,disks,"
      "disk_operations_per_request";
  for (const auto& column : kCostColumns) out += ',' + std::string(column.csv_title);
  out += ",event_method,disk_busy_percent,variant\n";
  for (const auto& row : rows) {
    out += csv_field(row.scheme) + ',' + csv_field(row.filesystem) + ',' +
           csv_field(row.mount_options);
    for (const auto& figure :
         {row.throughput_rps.median, row.response_time_ms.median, row.hit_ratio_percent.median,
          row.throughput_rps.low, row.throughput_rps.high, row.response_time_ms.low,
          row.response_time_ms.high, row.hit_ratio_percent.low, row.hit_ratio_percent.high,
          row.byte_hit_ratio_percent.median, row.offered_hit_ratio_percent}) {
      out += ',' + numbers(figure);
    }
    out += ',' + count_text(row, row.errors, "") + ',' + count_text(row, row.wrong_bodies, "") +
           ',' + csv_field(row.limited_by) + ',' + std::to_string(row.runs) + ',' +
           (row.valid ? "true" : "false") + ',' + csv_field(row.name);
    for (const auto& figure :
         {row.store_operations, row.store_evictions, row.write_amplification, row.io_per_request}) {
      out += ',' + numbers(figure);
    }
    out += ',' + csv_field(declined_text(row, ";")) + ',' + std::to_string(row.disks) + ',' +
           numbers(row.disk_operations_per_request);
    for (const auto& cost : row.costs) out += ',' + numbers(cost);
    out += ',' + csv_field(row.event_method) + ',' + numbers(row.disk_busy_percent) + ',' +
           csv_field(row.variant) + '\n';
  }
  return out;
}

std::string summary_text(const Results& results, const std::vector<SummaryRow>& rows) {
  std::vector<std::vector<std::string>> lines;
  lines.emplace_back(kTextColumns.begin(), kTextColumns.end());
  lines.emplace_back(kTextUnits.begin(), kTextUnits.end());
  for (const auto& row : rows) lines.push_back(text_fields(row));
  std::string out = layout(lines, {3, 8}) + '\n' + store_table(rows) + cost_table(rows);
  size_t runs_max = 0;
  for (const auto& row : rows) runs_max = std::max(runs_max, row.runs);
  if (runs_max == 0) {
    out += "no run gave a result\n";
  } else if (const size_t missing = runs_missing(rows); missing > 0) {
    out += medians_of(runs_max) + "; no 95 % intervals: " + std::to_string(missing) + " more " +
           (missing == 1 ? "run of each cell is" : "runs of each cell are") + " needed (--repeat " +
           std::to_string(kRunsForIntervalMin) + ")\n";
  } else {
    out += medians_of(runs_max);
    out += ", with 95 % bootstrap intervals in parentheses\n";
  }
  out += explain_marks(rows);
  for (const auto& row : rows) {
    for (const auto& note : row.notes) out += "note: " + row.name + ": " + printable(note) + '\n';
  }
  for (const auto& cell : results.skipped) {
    out += "skipped: " + printable(cell.name) + ": " + printable(cell.reason) + '\n';
  }
  for (const auto& cell : results.cells) {
    if (!cell.unfinished) continue;
    out += "unfinished: " + cell.name + ": has " + std::to_string(cell.runs.size()) +
           " of its runs so far (go on with --resume)\n";
  }
  for (const auto& warning : results.warnings) out += "warning: " + printable(warning) + '\n';
  return out;
}

}  // namespace workload
