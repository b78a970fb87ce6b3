#include "traces/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

namespace traces {

namespace {

constexpr std::string_view kBlanks = " \t";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A number of exactly as many digits as `text` has.
std::optional<unsigned> parse_digits(std::string_view text) {
  if (text.size() > 9 || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  const auto number = parse_number(text);
  if (!number) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<std::chrono::month> parse_month(std::string_view name) {
  constexpr std::array<std::string_view, 12> kNames{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return std::chrono::month(static_cast<unsigned>(found - kNames.begin() + 1));
}

/// `+0100` as minutes east.
std::optional<int> parse_zone(std::string_view text) {
  if (text[0] != '+' && text[0] != '-') return std::nullopt;
  const auto hours = parse_digits(text.substr(1, 2));
  const auto minutes = parse_digits(text.substr(3, 2));
  if (!hours || !minutes || *hours > 15 || *minutes > 59) return std::nullopt;
  const int east = static_cast<int>(*hours * 60 + *minutes);
  return text[0] == '-' ? -east : east;
}

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split_columns(std::string_view text, size_t columns_max) {
  std::vector<std::string_view> columns;
  size_t at = text.find_first_not_of(kBlanks);
  while (at != std::string_view::npos && columns.size() < columns_max) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    columns.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
  return columns;
}

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<storage::WallTime> parse_epoch_time(std::string_view text) {
  constexpr uint64_t kSecondsMax = 9'000'000'000;  // Nanoseconds since 1970 must fit 63 bits.
  const size_t point = text.find('.');
  if (point == std::string_view::npos || point == 0 || point > 10) return std::nullopt;
  const std::string_view fraction = text.substr(point + 1);
  const auto seconds = parse_number(text.substr(0, point));
  const auto part = parse_digits(fraction);
  if (!seconds || *seconds > kSecondsMax || !part || fraction.empty()) return std::nullopt;
  int64_t nanoseconds = *part;
  for (size_t digits = fraction.size(); digits < 9; ++digits) nanoseconds *= 10;
  return storage::WallTime(std::chrono::seconds(*seconds) + std::chrono::nanoseconds(nanoseconds));
}

std::optional<storage::WallTime> parse_clf_time(std::string_view text) {
  if (text.size() != kClfTimeLength || text[2] != '/' || text[6] != '/' || text[11] != ':' ||
      text[14] != ':' || text[17] != ':' || text[20] != ' ') {
    return std::nullopt;
  }
  const auto day = parse_digits(text.substr(0, 2));
  const auto month = parse_month(text.substr(3, 3));
  const auto year = parse_digits(text.substr(7, 4));
  const auto hour = parse_digits(text.substr(12, 2));
  const auto minute = parse_digits(text.substr(15, 2));
  const auto second = parse_digits(text.substr(18, 2));
  const auto zone_minutes = parse_zone(text.substr(21));
  if (!day || !month || !year || !hour || !minute || !second || !zone_minutes) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)), *month,
                                         std::chrono::day(*day));
  if (!date.ok() || *year < 1970 || *year > 2261 || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return storage::WallTime(std::chrono::sys_days(date).time_since_epoch() +
                           std::chrono::hours(*hour) + std::chrono::minutes(*minute) +
                           std::chrono::seconds(*second) - std::chrono::minutes(*zone_minutes));
}

std::optional<uint16_t> parse_status(std::string_view text) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  const auto number = parse_digits(text);
  if (!number) return std::nullopt;
  return static_cast<uint16_t>(*number);
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || is_capital(c) || (c >= 'a' && c <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool looks_like_address(std::string_view text) {
  const bool has_point = text.find('.') != std::string_view::npos;
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (!has_point && colons < 2) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || c == '.' || (colons >= 2 && (c == ':' || hex_value(c) >= 0));
  });
}

bool is_result_column(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  const std::string_view tag = text.substr(0, slash);
  return is_capital(tag.front()) &&
         std::all_of(tag.begin(), tag.end(), [](char c) { return is_capital(c) || c == '_'; }) &&
         parse_status(text.substr(slash + 1)).has_value();
}

bool is_aborted_tag(std::string_view tag) {
  while (!tag.empty()) {
    const size_t end = std::min(tag.find('_'), tag.size());
    const std::string_view part = tag.substr(0, end);
    if (part == "ABORTED" || part == "ABORT") return true;
    tag.remove_prefix(std::min(end + 1, tag.size()));
  }
  return false;
}

std::string undo_escapes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    if (rest.size() >= 2 && rest[0] == '\\' && (rest[1] == '"' || rest[1] == '\\')) {
      plain += rest[1];
      at += 1;
    } else if (rest.size() >= 4 && rest[0] == '\\' && rest[1] == 'x' && hex_value(rest[2]) >= 0 &&
               hex_value(rest[3]) >= 0) {
      plain += static_cast<char>(hex_value(rest[2]) * 16 + hex_value(rest[3]));
      at += 3;
    } else {
      plain += rest[0];
    }
  }
  return plain;
}

}  // namespace traces
