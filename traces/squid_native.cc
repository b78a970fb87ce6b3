// Squid's native access log (its cf.data.pre: `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un
// %Sh/%<a %mt`), with the deviations found in the wild.
#include <algorithm>

#include "traces/log_format.h"
#include "traces/log_text.h"

namespace traces {

namespace {

constexpr size_t kColumnsMax = 4096;
/// Columns before the URL and at least behind it (user and hierarchy).
constexpr size_t kUrlColumn = 6;
constexpr size_t kColumnsMin = 9;
constexpr int64_t kElapsedMsMax = int64_t{10} * 365 * 24 * 3600 * 1000;

/// `HIER_DIRECT/192.0.2.1`, `NONE/-`, `DEFAULT_PARENT/`.
bool is_hierarchy_column(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash < 2) return false;
  const auto code = text.substr(0, slash);
  return std::all_of(code.begin(), code.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// Milliseconds with a sign (a clock step makes them negative).
std::optional<std::chrono::milliseconds> parse_elapsed(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto number = parse_number(negative ? text.substr(1) : text);
  if (!number || *number > static_cast<uint64_t>(kElapsedMsMax)) return std::nullopt;
  return std::chrono::milliseconds(negative ? 0 : static_cast<int64_t>(*number));
}

/// False where `text` is no size at all; `size_bytes` stays empty for `-` and negative ones.
bool parse_size(std::string_view text, std::optional<uint64_t>& size_bytes) {
  if (text == "-") return true;
  if (text.starts_with('-')) return parse_number(text.substr(1)).has_value();
  size_bytes = parse_number(text);
  return size_bytes.has_value();
}

/// Reads the columns from the elapsed time to the method; returns what is wrong, or nothing.
std::string_view read_front(const std::vector<std::string_view>& columns, AccessRecord& record) {
  const auto elapsed = parse_elapsed(columns[1]);
  if (!elapsed) return "the second column is no elapsed time in milliseconds";
  record.elapsed = *elapsed;
  record.client = columns[2];
  const size_t slash = columns[3].rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "the fourth column is no TAG/STATUS";
  const auto status = parse_status(columns[3].substr(slash + 1));
  if (!status) return "the fourth column is no TAG/STATUS";
  record.result_tag = columns[3].substr(0, slash);
  record.status = *status;
  record.aborted = is_aborted_tag(record.result_tag);
  if (!parse_size(columns[4], record.size_bytes)) return "the fifth column is no size";
  record.method = columns[5];
  return {};
}

}  // namespace

ParsedLine parse_squid_line(std::string_view line) {
  AccessRecord record;
  std::string_view text = trim_blanks(line);
  std::optional<storage::WallTime> end;
  if (text.size() > kClfTimeLength) {
    // The local time holds a blank: `20/Dec/2020:10:00:00 +0000`.
    end = parse_clf_time(text.substr(0, kClfTimeLength));
  }
  auto columns = split_columns(text, kColumnsMax);
  if (end) {
    record.format = LogFormat::kSquidLocalTime;
    record.whole_seconds = true;
    columns.erase(columns.begin());
  } else if (!columns.empty()) {
    end = parse_epoch_time(columns[0]);
  }
  if (!end) return bad_line("the first column is no time");
  if (columns.size() < kColumnsMin) return bad_line("fewer than 9 columns");
  if (const auto fault = read_front(columns, record); !fault.empty()) return bad_line(fault);

  size_t hierarchy = kUrlColumn + 2;
  while (hierarchy < columns.size() && !is_hierarchy_column(columns[hierarchy])) ++hierarchy;
  if (hierarchy == columns.size()) return bad_line("no HIERARCHY/SERVER column behind the URL");
  const char* const url_end = columns[hierarchy - 2].data() + columns[hierarchy - 2].size();
  const char* const url_begin = columns[kUrlColumn].data();
  record.url.assign(url_begin, url_end);
  record.hierarchy = columns[hierarchy];
  if (hierarchy + 1 < columns.size() && columns[hierarchy + 1] != "-") {
    record.content_type = columns[hierarchy + 1];
  }
  if (record.url == "-") record.url.clear();
  record.arrival = *end - record.elapsed;
  return record;
}

}  // namespace traces
