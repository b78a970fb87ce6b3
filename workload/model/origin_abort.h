// Responses that the origin breaks off in mid-body because a robot asked it to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace workload {

/// Header in which a robot asks the origin to break off the body that it sends for this request:
/// a decimal number n from 0 to 65535, after n / 65536 of it. Robots draw it, so that the origin
/// needs no set-up of its own and both always agree.
inline constexpr std::string_view kBreakOffHeader = "X-Cacheoff-Break-Off";

/// How many of the `body_bytes` are sent; fewer than all, unless there are none.
uint64_t bytes_before_abort(uint16_t share, uint64_t body_bytes);

/// Reads a value of kBreakOffHeader; nothing for anything but a number in its range.
std::optional<uint16_t> parse_break_off(std::string_view text);

}  // namespace workload
