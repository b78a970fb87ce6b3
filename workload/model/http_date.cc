#include "workload/model/http_date.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "workload/model/object.h"

namespace workload {
namespace {

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr int64_t kDayS = 86400;

void put(char* target, std::string_view text) {
  std::copy(text.begin(), text.end(), target);
}

void put_number(char* target, unsigned value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) {
    target[i] = static_cast<char>('0' + value % 10);
  }
}

/// Takes parts off the front of a text; `ok` stays false once something did not fit.
struct Scanner {
  std::string_view rest;
  bool ok = true;

  int number(size_t digits) {
    int value = 0;
    const char* const end = rest.data() + std::min(digits, rest.size());
    const auto result = std::from_chars(rest.data(), end, value);
    ok = ok && rest.size() >= digits && result.ec == std::errc{} && result.ptr == end &&
         rest[0] != '-';
    rest.remove_prefix(std::min(digits, rest.size()));
    return value;
  }
  void literal(std::string_view text) {
    ok = ok && rest.starts_with(text);
    rest.remove_prefix(std::min(text.size(), rest.size()));
  }
  /// Position of a three-letter name in `names`, counted from 0.
  unsigned name(std::string_view names) {
    const size_t at = rest.size() < 3 ? std::string_view::npos : names.find(rest.substr(0, 3));
    ok = ok && at != std::string_view::npos && at % 3 == 0;
    rest.remove_prefix(std::min<size_t>(3, rest.size()));
    return ok ? static_cast<unsigned>(at / 3) : 0;
  }
};

struct Fields {
  int year = 0;
  unsigned month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

void scan_time(Scanner& scanner, Fields& fields) {
  fields.hour = scanner.number(2);
  scanner.literal(":");
  fields.minute = scanner.number(2);
  scanner.literal(":");
  fields.second = scanner.number(2);
}

std::optional<int64_t> to_unix_s(const Fields& fields) {
  const std::chrono::year_month_day date{std::chrono::year(fields.year),
                                         std::chrono::month(fields.month + 1),
                                         std::chrono::day(static_cast<unsigned>(fields.day))};
  // A leap second is second 60.
  if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 60) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * kDayS + fields.hour * 3600 + fields.minute * 60 + fields.second;
}

int full_year(int two_digits, int64_t now_unix_s) {
  const auto today = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_seconds(std::chrono::seconds(now_unix_s)));
  const int this_year = static_cast<int>(std::chrono::year_month_day(today).year());
  const int year = this_year / 100 * 100 + two_digits;
  return year > this_year + 50 ? year - 100 : year;
}

}  // namespace

HttpDate::HttpDate(int64_t unix_s) {
  const int64_t instant = std::clamp<int64_t>(unix_s, 0, kLastModifiedMaxUnixS);
  const auto days = std::chrono::sys_days(std::chrono::days(instant / kDayS));
  const std::chrono::year_month_day date(days);
  const auto second = static_cast<unsigned>(instant % kDayS);
  put(text_.data(), "ddd, DD mmm YYYY hh:mm:ss GMT");
  put(text_.data(), kDays.substr(3 * std::chrono::weekday(days).c_encoding(), 3));
  put_number(text_.data() + 5, static_cast<unsigned>(date.day()), 2);
  put(text_.data() + 8, kMonths.substr(3 * (static_cast<unsigned>(date.month()) - 1), 3));
  put_number(text_.data() + 12, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  put_number(text_.data() + 17, second / 3600, 2);
  put_number(text_.data() + 20, second / 60 % 60, 2);
  put_number(text_.data() + 23, second % 60, 2);
}

std::optional<int64_t> parse_http_date(std::string_view text, int64_t now_unix_s) {
  Scanner scanner{text};
  Fields fields;
  const size_t comma = text.find(',');
  scanner.name(kDays);
  if (comma == 3) {  // Sun, 06 Nov 1994 08:49:37 GMT
    scanner.literal(", ");
    fields.day = scanner.number(2);
    scanner.literal(" ");
    fields.month = scanner.name(kMonths);
    scanner.literal(" ");
    fields.year = scanner.number(4);
    scanner.literal(" ");
    scan_time(scanner, fields);
    scanner.literal(" GMT");
  } else if (comma != std::string_view::npos) {  // Sunday, 06-Nov-94 08:49:37 GMT
    scanner.rest = text.substr(comma);
    scanner.literal(", ");
    fields.day = scanner.number(2);
    scanner.literal("-");
    fields.month = scanner.name(kMonths);
    scanner.literal("-");
    fields.year = full_year(scanner.number(2), now_unix_s);
    scanner.literal(" ");
    scan_time(scanner, fields);
    scanner.literal(" GMT");
  } else {  // Sun Nov  6 08:49:37 1994
    scanner.literal(" ");
    fields.month = scanner.name(kMonths);
    scanner.literal(" ");
    const bool padded = scanner.rest.starts_with(' ');
    if (padded) scanner.literal(" ");
    fields.day = scanner.number(padded ? 1 : 2);
    scanner.literal(" ");
    scan_time(scanner, fields);
    scanner.literal(" ");
    fields.year = scanner.number(4);
  }
  if (!scanner.ok || !scanner.rest.empty()) return std::nullopt;
  return to_unix_s(fields);
}

}  // namespace workload
