#include "traces/log_format.h"

#include <array>

#include "traces/log_text.h"

namespace traces {

namespace {

/// Columns looked at when searching for signs of a format.
constexpr size_t kColumnsLooked = 12;

/// What syslog puts in front of Squid's line: `Dec  4 03:31:46 host (squid-1): `. Returns the rest.
std::string_view without_syslog_prefix(std::string_view line) {
  constexpr size_t kPrefixMax = 200;
  const std::string_view front = line.substr(0, kPrefixMax);
  const size_t name = front.find("(squid");
  const size_t end = name == std::string_view::npos ? name : front.find("): ", name);
  return end == std::string_view::npos ? line : trim_blanks(line.substr(end + 3));
}

bool begins_as_squid(std::string_view line) {
  const auto columns = split_columns(line, 1);
  if (columns.empty()) return false;
  constexpr size_t kEpochDigitsMin = 9;  // Since 1973: counters and small numbers are no times.
  const bool epoch = columns[0].find('.') >= kEpochDigitsMin && parse_epoch_time(columns[0]);
  return epoch || parse_clf_time(line.substr(0, kClfTimeLength));
}

/// A damaged Squid line still shows its result column, mostly.
bool shows_squid_columns(std::string_view line) {
  constexpr std::array<std::string_view, 4> kSources{"TCP_", "UDP_", "NONE", "TAG_NONE"};
  for (const auto column : split_columns(line, kColumnsLooked)) {
    for (const auto source : kSources) {
      if (column.starts_with(source) && is_result_column(column)) return true;
    }
  }
  return false;
}

/// A damaged Common line still shows a time in brackets before a quote, or a request.
bool shows_common_columns(std::string_view line) {
  const size_t bracket = line.find("] \"");
  if (bracket != std::string_view::npos && line.substr(0, bracket).find('[') < bracket) return true;
  const size_t protocol = line.find(" HTTP/");
  return protocol != std::string_view::npos && line.find('"', protocol) != std::string_view::npos;
}

/// Custom layouts with another time in front also have Squid's result column: not damage, but a
/// format of its own.
bool begins_with_iso_date(std::string_view line) {
  constexpr std::string_view kPattern = "dddd-dd-dd";
  if (line.size() < kPattern.size()) return false;
  for (size_t at = 0; at < kPattern.size(); ++at) {
    const bool digit = line[at] >= '0' && line[at] <= '9';
    if (kPattern[at] == 'd' ? !digit : line[at] != kPattern[at]) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(LogFormat format) {
  constexpr std::array<std::string_view, kLogFormatCount> kNames{"squid", "squid_local_time",
                                                                 "common", "combined"};
  return kNames[static_cast<size_t>(format)];
}

ParsedLine parse_log_line(std::string_view line) {
  std::string_view text = trim_blanks(line);
  if (text.empty()) return LineFault{SkipReason::kBlank, "nothing on the line"};
  if (text.front() == '#') return LineFault{SkipReason::kComment, "begins with #"};
  text = without_syslog_prefix(text);
  if (begins_as_squid(text)) return parse_squid_line(text);
  if (begins_with_iso_date(text)) {
    return LineFault{SkipReason::kUnsupportedFormat, "an ISO date in front"};
  }
  if (shows_common_columns(text)) return parse_common_line(text);
  if (shows_squid_columns(text)) {
    return LineFault{SkipReason::kBadLine, "a Squid line without its time"};
  }
  return LineFault{SkipReason::kUnsupportedFormat, "no sign of a supported format"};
}

}  // namespace traces
