// Dates as HTTP writes them (RFC 9110 section 5.6.7).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace workload {

/// `Sun, 06 Nov 1994 08:49:37 GMT`, without memory of its own to allocate.
class HttpDate {
 public:
  /// Instants outside the years 1970 to 9999 are written as the nearest one inside.
  explicit HttpDate(int64_t unix_s);
  std::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 29> text_;
};

/// Reads any of the three forms that a recipient must understand (a two-digit year means the
/// century that puts it at most 50 years ahead of `now_unix_s`). Nothing for anything else.
std::optional<int64_t> parse_http_date(std::string_view text, int64_t now_unix_s);

}  // namespace workload
