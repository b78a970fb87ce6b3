// Dates in HTTP header fields (RFC 9110 5.6.7). No locale, no time zone, no global state: safe from
// any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace proxy {

/// Whole seconds, the grain of HTTP. Unlike WallTime it holds every four-digit year.
using HttpTime = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

/// The second that holds `time` (rounded down, so that ages are never too small by a second).
HttpTime to_http_time(storage::WallTime time);

/// `Sun, 06 Nov 1994 08:49:37 GMT`. Years outside 0 to 9999 are clamped.
std::string format_http_date(HttpTime time);

/// Reads IMF-fixdate, the obsolete RFC 850 form and the asctime form. Nothing for anything else:
/// other zones, days that do not exist, blanks around. The name of the day must be a name but is
/// not compared with the date. A leap second is the second before. Two-digit years that seem more
/// than 50 years after `now` are in the past. Names are matched without regard to case.
std::optional<HttpTime> parse_http_date(std::string_view text, HttpTime now);

}  // namespace proxy
