// From a line of a log to an access, or to the reason why there is none.
//
// Pure functions of one line each, fit for any bytes: a file may change its format in the middle,
// so nothing is remembered from the lines before.
#pragma once

#include <string_view>
#include <variant>

#include "traces/line_account.h"
#include "traces/record.h"

namespace traces {

/// Why a line holds no access.
struct LineFault {
  SkipReason reason = SkipReason::kBadLine;  ///< One of the reasons up to kBadLine.
  std::string_view detail;  ///< What is wrong, for people, e.g. `fewer than 9 columns`.
};

/// A line of a known format that is damaged or cut; `detail` must be a literal or point into it.
inline LineFault bad_line(std::string_view detail) {
  return {SkipReason::kBadLine, detail};
}

/// An access, or why there is none. The record's views point into the line.
using ParsedLine = std::variant<AccessRecord, LineFault>;

/// Finds out the format of `line` and reads it.
ParsedLine parse_log_line(std::string_view line);

/// Reads a line of Squid's native format: the time in seconds or as `%tl`, then elapsed, client,
/// result/status, bytes, method, URL, user, hierarchy/server and type. Runs of blanks separate. The
/// type may be missing; columns behind it are ignored; blanks inside the URL are kept, found by
/// the hierarchy column behind it.
ParsedLine parse_squid_line(std::string_view line);

/// Reads a Common or Combined line, with or without `host:port` in front, and with anything behind.
/// The request's closing quote is the one that a status and a size follow, so unescaped quotes
/// inside the request do no harm.
ParsedLine parse_common_line(std::string_view line);

}  // namespace traces
