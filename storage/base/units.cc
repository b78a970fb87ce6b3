#include "storage/base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>

namespace storage {
namespace {

__extension__ using Wide = unsigned __int128;

/// Splits `text` into a decimal number and the unit that follows it, and multiplies the number by
/// what `multiplier_of(unit)` says. Nothing where either is malformed or the product passes 2^63.
template <class MultiplierOf>
std::optional<uint64_t> parse_scaled(std::string_view text, MultiplierOf multiplier_of) {
  constexpr size_t kDigitsMax = 18;  // So that no intermediate value can overflow.
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  uint64_t digits = 0;
  uint64_t divisor = 1;
  size_t at = 0;
  bool in_fraction = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !in_fraction)); ++at) {
    if (text[at] == '.') {
      in_fraction = true;
      if (at == 0) return std::nullopt;
      continue;
    }
    if (at > kDigitsMax) return std::nullopt;
    digits = digits * 10 + static_cast<uint64_t>(text[at] - '0');
    if (in_fraction) divisor *= 10;
  }
  if (at == 0 || text[at - 1] == '.') return std::nullopt;
  const std::optional<uint64_t> multiplier = multiplier_of(text.substr(at));
  if (!multiplier) return std::nullopt;
  const Wide product = static_cast<Wide>(digits) * *multiplier / divisor;
  if (product > static_cast<Wide>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<uint64_t>(product);
}

std::optional<uint64_t> size_multiplier(std::string_view unit) {
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.empty() || lower == "b") return 1;
  const size_t power = std::string_view("kmgtp").find(lower[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  return uint64_t{1} << (10 * (power + 1));
}

std::optional<uint64_t> duration_multiplier(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit.empty() || unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  if (unit == "d") return 86'400'000'000'000;
  return std::nullopt;
}

/// Three significant digits; `value` is at least 0 and below 9999.5.
std::string three_digits(double value, std::string_view unit) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::array<char, 32> text;
  const int length = std::snprintf(text.data(), text.size(), "%.*f ", decimals, value);
  return std::string(text.data(), static_cast<size_t>(length)).append(unit);
}

}  // namespace

std::optional<uint64_t> parse_size_bytes(std::string_view text) {
  return parse_scaled(text, size_multiplier);
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const std::optional<uint64_t> ns = parse_scaled(text, duration_multiplier);
  if (!ns) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<int64_t>(*ns));
}

std::optional<uint64_t> parse_count(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped_at, failure] = std::from_chars(text.data(), end, value);
  if (text.empty() || failure != std::errc() || stopped_at != end) return std::nullopt;
  return value;
}

std::string format_size(uint64_t size_bytes) {
  if (size_bytes < kKiB) return std::to_string(size_bytes) + " B";
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  double value = static_cast<double>(size_bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return three_digits(value, kUnits[unit]);
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const int64_t ns = duration.count();
  if (ns < 0) {
    if (ns == std::numeric_limits<int64_t>::min()) ++duration;  // Its negation does not exist.
    return "-" + format_duration(-duration);
  }
  if (ns < 1'000) return std::to_string(ns) + " ns";
  const auto value = static_cast<double>(ns);
  if (ns < 999'500) return three_digits(value / 1e3, "us");
  if (ns < 999'500'000) return three_digits(value / 1e6, "ms");
  if (ns < 59'950'000'000) return three_digits(value / 1e9, "s");
  const int64_t seconds = ns / 1'000'000'000 + (ns % 1'000'000'000 >= 500'000'000 ? 1 : 0);
  const auto two_units = [](int64_t high, const char* high_unit, int64_t low,
                            const char* low_unit) {
    std::string text = std::to_string(high) + high_unit;
    if (low != 0) text += " " + std::to_string(low) + low_unit;
    return text;
  };
  if (seconds < 3'600) return two_units(seconds / 60, " m", seconds % 60, " s");
  if (seconds < 86'400) return two_units(seconds / 3'600, " h", seconds % 3'600 / 60, " m");
  return two_units(seconds / 86'400, " d", seconds % 86'400 / 3'600, " h");
}

std::string HostPort::text() const {
  const bool needs_brackets = host.find(':') != std::string::npos;
  return (needs_brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  if (host.empty() || host.find_first_of("[] \t\r\n/@") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<uint64_t> port = parse_count(port_text);
  if (!port || *port > 65535 || port_text.size() > 5) return std::nullopt;
  HostPort result;
  result.host = std::string(host);
  result.port = static_cast<uint16_t>(*port);
  return result;
}

}  // namespace storage
