#include "proxy/http_date.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "proxy/header_lists.h"

namespace proxy {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr size_t kShortDayLength = 3;

/// Reads a date from left to right; after the first mismatch everything fails.
class DateCursor {
 public:
  explicit DateCursor(std::string_view text) : rest_(text) {}

  bool failed() const { return failed_; }
  bool at_end() const { return !failed_ && rest_.empty(); }
  bool looking_at(char c) const { return !rest_.empty() && rest_.front() == c; }

  /// Takes `text`, whatever its case.
  void expect(std::string_view text) {
    if (!skip(text)) failed_ = true;
  }

  bool skip(std::string_view text) {
    if (!equals_ignoring_case(rest_.substr(0, text.size()), text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  /// Takes exactly `digits` digits.
  int number(size_t digits) {
    if (failed_ || rest_.size() < digits) {
      failed_ = true;
      return 0;
    }
    int value = 0;
    for (size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') {
        failed_ = true;
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  unsigned month() {
    for (unsigned i = 0; i < kMonths.size(); ++i) {
      if (skip(kMonths[i])) return i + 1;
    }
    failed_ = true;
    return 0;
  }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

struct DateParts {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  Seconds time_of_day{0};
};

Seconds read_time_of_day(DateCursor& cursor, bool& valid) {
  const int hour = cursor.number(2);
  cursor.expect(":");
  const int minute = cursor.number(2);
  cursor.expect(":");
  const int second = cursor.number(2);
  valid = hour <= 23 && minute <= 59 && second <= 60;
  return std::chrono::hours(hour) + std::chrono::minutes(minute) + Seconds(std::min(second, 59));
}

std::optional<HttpTime> to_time(const DateParts& parts) {
  const std::chrono::year_month_day date{
      std::chrono::year(parts.year), std::chrono::month(parts.month), std::chrono::day(parts.day)};
  if (!date.ok()) return std::nullopt;
  return HttpTime(std::chrono::sys_days(date)) + parts.time_of_day;
}

/// The latest year with these two digits whose date is not more than 50 years after `now`.
std::optional<HttpTime> resolve_short_year(DateParts parts, HttpTime now) {
  constexpr Seconds kFiftyYears = std::chrono::hours(24) * 18262;
  const std::chrono::year_month_day today(std::chrono::floor<std::chrono::days>(now));
  const int century = static_cast<int>(today.year()) / 100 * 100;
  const int short_year = parts.year;
  for (int candidate : {century + 100, century, century - 100}) {
    parts.year = candidate + short_year;
    const auto time = to_time(parts);
    if (time && *time <= now + kFiftyYears) return time;
  }
  return std::nullopt;
}

/// ` 06 Nov 1994 08:49:37 GMT` after `Sun,`, or ` 06-Nov-94 08:49:37 GMT` after `Sunday,`.
std::optional<HttpTime> parse_after_comma(DateCursor& cursor, HttpTime now) {
  cursor.expect(" ");
  DateParts parts;
  parts.day = static_cast<unsigned>(cursor.number(2));
  const bool dashes = cursor.looking_at('-');
  cursor.expect(dashes ? "-" : " ");
  parts.month = cursor.month();
  cursor.expect(dashes ? "-" : " ");
  parts.year = cursor.number(dashes ? 2 : 4);
  cursor.expect(" ");
  bool valid = false;
  parts.time_of_day = read_time_of_day(cursor, valid);
  cursor.expect(" GMT");
  if (!cursor.at_end() || !valid) return std::nullopt;
  return dashes ? resolve_short_year(parts, now) : to_time(parts);
}

/// ` Nov  6 08:49:37 1994` after `Sun`.
std::optional<HttpTime> parse_asctime(DateCursor& cursor) {
  cursor.expect(" ");
  DateParts parts;
  parts.month = cursor.month();
  cursor.expect(" ");
  parts.day = static_cast<unsigned>(cursor.number(cursor.skip(" ") ? 1 : 2));
  cursor.expect(" ");
  bool valid = false;
  parts.time_of_day = read_time_of_day(cursor, valid);
  cursor.expect(" ");
  parts.year = cursor.number(4);
  if (!cursor.at_end() || !valid) return std::nullopt;
  return to_time(parts);
}

void append_digits(std::string& out, int value, int digits) {
  int divisor = 1;
  for (int i = 1; i < digits; ++i) divisor *= 10;
  for (; divisor > 0; divisor /= 10) {
    out.push_back(static_cast<char>('0' + value / divisor % 10));
  }
}

}  // namespace

HttpTime to_http_time(storage::WallTime time) {
  return std::chrono::floor<Seconds>(time);
}

std::string format_http_date(HttpTime time) {
  using std::chrono::sys_days;
  static constexpr HttpTime kFirst = sys_days(std::chrono::year(0) / 1 / 1);
  static constexpr HttpTime kLast = sys_days(std::chrono::year(10000) / 1 / 1) - Seconds(1);
  time = std::clamp(time, kFirst, kLast);
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string out;
  out.reserve(29);
  out += kDays[std::chrono::weekday(day).c_encoding()].substr(0, kShortDayLength);
  out += ", ";
  append_digits(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
  out += ' ';
  out += kMonths[static_cast<unsigned>(date.month()) - 1];
  out += ' ';
  append_digits(out, static_cast<int>(date.year()), 4);
  out += ' ';
  append_digits(out, static_cast<int>(clock.hours().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(clock.minutes().count()), 2);
  out += ':';
  append_digits(out, static_cast<int>(clock.seconds().count()), 2);
  out += " GMT";
  return out;
}

std::optional<HttpTime> parse_http_date(std::string_view text, HttpTime now) {
  for (std::string_view day : kDays) {
    DateCursor cursor(text);
    if (cursor.skip(day) && cursor.skip(",")) return parse_after_comma(cursor, now);
    cursor = DateCursor(text);
    if (!cursor.skip(day.substr(0, kShortDayLength))) continue;
    if (cursor.skip(",")) return parse_after_comma(cursor, now);
    return parse_asctime(cursor);
  }
  return std::nullopt;
}

}  // namespace proxy
