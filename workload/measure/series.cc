#include "workload/measure/series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr size_t kTraceRowsMax = 10'000'000;
constexpr size_t kTraceColumns = 13;
/// Columns of earlier versions.
constexpr size_t kTraceColumnsEarlier = 10;
constexpr std::string_view kTraceHeaderEarlier =
    kTraceHeader.substr(0, kTraceHeader.find(",blocked_ms"));

void put(std::ostream& out, double value) {
  std::array<char, 64> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 6);
  out << std::string_view(text.data(), static_cast<size_t>(end.ptr - text.data()));
}

void put(std::ostream& out, const std::optional<double>& value) {
  if (value) put(out, *value);
}

/// Splits a line at its commas; false where the number of fields is another.
bool split_fields(std::string_view line, size_t columns,
                  std::array<std::string_view, kTraceColumns>& fields) {
  for (size_t column = 0; column < columns; ++column) {
    const size_t comma = line.find(',');
    const bool last = column + 1 == columns;
    if ((comma == std::string_view::npos) != last) return false;
    fields[column] = line.substr(0, comma);
    if (!last) line.remove_prefix(comma + 1);
  }
  return true;
}

bool parse_number(std::string_view field, double& value) {
  const char* end = field.data() + field.size();
  const auto parsed = std::from_chars(field.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(value) && value >= 0;
}

bool parse_number(std::string_view field, std::optional<double>& value) {
  if (field.empty()) return true;
  double number = 0;
  if (!parse_number(field, number)) return false;
  value = number;
  return true;
}

bool parse_number(std::string_view field, uint64_t& value) {
  const char* end = field.data() + field.size();
  const auto parsed = std::from_chars(field.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

/// Name of the first column whose field is wrong; empty where all are right.
std::string_view parse_row(const std::array<std::string_view, kTraceColumns>& fields,
                           TraceRow& row) {
  if (!parse_number(fields[0], row.elapsed_s)) return "elapsed_s";
  if (!parse_number(fields[1], row.fill_ratio)) return "fill_ratio";
  if (!parse_number(fields[2], row.offered_rps)) return "offered_rps";
  if (!parse_number(fields[3], row.throughput_rps)) return "throughput_rps";
  if (!parse_number(fields[4], row.response_time_ms)) return "response_time_ms";
  if (!parse_number(fields[5], row.hit_response_time_ms)) return "hit_response_time_ms";
  if (!parse_number(fields[6], row.miss_response_time_ms)) return "miss_response_time_ms";
  if (!parse_number(fields[7], row.hit_ratio_percent)) return "hit_ratio_percent";
  if (!parse_number(fields[8], row.byte_hit_ratio_percent)) return "byte_hit_ratio_percent";
  if (!parse_number(fields[9], row.errors)) return "errors";
  if (!parse_number(fields[10], row.blocked_ms)) return "blocked_ms";
  if (!fields[11].empty() && !parse_number(fields[11], row.not_sent)) return "not_sent";
  row.phase = fields[12];
  return {};
}

}  // namespace

Series::Series(std::chrono::nanoseconds interval) : interval_(interval) {}

Tally& Series::at(std::chrono::nanoseconds elapsed) {
  const auto bounded = std::max(elapsed, std::chrono::nanoseconds(0));
  const auto index = static_cast<size_t>(bounded / interval_);
  if (index >= rows_.size()) rows_.resize(index + 1);
  return rows_[index];
}

void Series::finish(std::chrono::nanoseconds elapsed) {
  // A run that ends on a boundary has no empty row behind it.
  if (elapsed.count() > 0) at(elapsed - std::chrono::nanoseconds(1));
  finished_ = std::max(finished_, elapsed);
}

void Series::merge(const Series& other) {
  if (other.rows_.size() > rows_.size()) rows_.resize(other.rows_.size());
  for (size_t index = 0; index < other.rows_.size(); ++index)
    rows_[index].merge(other.rows_[index]);
  finished_ = std::max(finished_, other.finished_);
}

std::chrono::nanoseconds Series::end_of(size_t index) const {
  const auto boundary = interval_ * static_cast<int64_t>(index + 1);
  const bool last = index + 1 == rows_.size();
  const bool cut = last && finished_ > interval_ * static_cast<int64_t>(index);
  return cut ? std::min(boundary, finished_) : boundary;
}

std::chrono::nanoseconds Series::length_of(size_t index) const {
  return end_of(index) - interval_ * static_cast<int64_t>(index);
}

Tally Series::total() const {
  Tally sum;
  for (const Tally& row : rows_) sum.merge(row);
  return sum;
}

namespace {

std::string_view phase_of_row(const Series& series, size_t index,
                              const std::vector<PhaseSpan>& phases) {
  const auto middle = series.end_of(index) - series.length_of(index) / 2;
  std::string_view name;
  for (const PhaseSpan& phase : phases) {
    if (name.empty() || phase.start <= middle) name = phase.name;
  }
  return name;
}

}  // namespace

void write_trace_csv(std::ostream& out, const Series& series, uint64_t cache_size_bytes,
                     const std::vector<PhaseSpan>& phases) {
  out << kTraceHeader << '\n';
  uint64_t fill_bytes = 0;
  for (size_t index = 0; index < series.size(); ++index) {
    const Tally& row = series.row(index);
    const double length_s = storage::seconds_of(series.length_of(index));
    fill_bytes += row.fill_bytes;
    put(out, storage::seconds_of(series.end_of(index)));
    out << ',';
    if (cache_size_bytes != 0) {
      put(out, static_cast<double>(fill_bytes) / static_cast<double>(cache_size_bytes));
    }
    out << ',';
    put(out, static_cast<double>(row.offered) / length_s);
    out << ',';
    put(out, static_cast<double>(row.good) / length_s);
    out << ',';
    put(out, row.response_time_ms());
    out << ',';
    put(out, row.hit_response_time_ms());
    out << ',';
    put(out, row.miss_response_time_ms());
    out << ',';
    put(out, row.hit_ratio_percent());
    out << ',';
    put(out, row.byte_hit_ratio_percent());
    out << ',' << row.error_count() << ',';
    if (row.sent > 0) {
      put(out, static_cast<double>(row.blocked_ns) / static_cast<double>(row.sent) / 1e6);
    }
    out << ',' << row.not_sent_count() << ',' << phase_of_row(series, index, phases) << '\n';
  }
}

std::variant<std::vector<TraceRow>, std::string> read_trace_csv(std::istream& in) {
  const auto wrong = [](size_t line_number, std::string_view what) {
    return "line " + std::to_string(line_number) + ": " + std::string(what);
  };
  std::string line;
  if (!std::getline(in, line) || (line != kTraceHeader && line != kTraceHeaderEarlier)) {
    return wrong(1, "the header is not that of a trace.csv: " + std::string(kTraceHeader));
  }
  const size_t columns = line == kTraceHeader ? kTraceColumns : kTraceColumnsEarlier;
  std::vector<TraceRow> rows;
  size_t line_number = 1;
  while (std::getline(in, line)) {
    ++line_number;
    if (rows.size() == kTraceRowsMax) return wrong(line_number, "more than ten million rows");
    std::array<std::string_view, kTraceColumns> fields;
    if (!split_fields(line, columns, fields)) {
      return wrong(line_number, "not " + std::to_string(columns) + " fields");
    }
    TraceRow row;
    const std::string_view column = parse_row(fields, row);
    if (!column.empty()) {
      return wrong(line_number, std::string(column) + " is not a number that can stand there");
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace workload
