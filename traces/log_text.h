// The pieces that log lines are made of: columns, numbers and times. Pure functions that take any
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"

namespace traces {

/// `text` without the blanks and tabs at both ends.
std::string_view trim_blanks(std::string_view text);

/// The columns between runs of blanks and tabs, at most `columns_max` of them.
std::vector<std::string_view> split_columns(std::string_view text, size_t columns_max);

/// A whole number without sign that fits; nothing for anything else.
std::optional<uint64_t> parse_number(std::string_view text);

/// Seconds since 1970 with a fraction behind a point: `1700000003.120`. The point must be there; at
/// most ten digits before it and nine behind.
std::optional<storage::WallTime> parse_epoch_time(std::string_view text);

/// `05/Mar/2024:10:15:32 +0100`, as Common logs have it between brackets, with its zone applied.
/// Years 1970 to 2261; a leap second counts as the second after.
std::optional<storage::WallTime> parse_clf_time(std::string_view text);
/// Length of such a time.
inline constexpr size_t kClfTimeLength = 26;

/// A status of one to three digits.
std::optional<uint16_t> parse_status(std::string_view text);

/// Whether `text` is what RFC 9110, section 5.6.2 calls a token (and not empty), as methods are.
bool is_token(std::string_view text);

/// Whether `text` looks like an IPv4 address, or an IPv6 address without brackets.
bool looks_like_address(std::string_view text);

/// Whether `text` is a Squid result column, e.g. `TCP_MISS/200`: capitals and `_`, then a slash and
/// a status.
bool is_result_column(std::string_view text);

/// Whether a Squid result tag says that the client left early. Tags are matched by their parts:
/// nobody has a full list.
bool is_aborted_tag(std::string_view tag);

/// Undoes `\"`, `\\` and `\xhh` (Apache, nginx); any other backslash stays.
std::string undo_escapes(std::string_view text);

}  // namespace traces
