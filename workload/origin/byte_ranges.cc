#include "workload/origin/byte_ranges.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <optional>

#include "workload/origin/response_head.h"

namespace workload {
namespace {

constexpr std::string_view kUnit = "bytes=";
constexpr std::string_view kBlanks = " \t";
constexpr uint64_t kPositionMax = uint64_t{1} << 62;

/// A number of digits only; larger ones than kPositionMax are cut to it.
std::optional<uint64_t> parse_position(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<uint64_t>(c - '0');
    value = value > kPositionMax / 10 ? kPositionMax : std::min(kPositionMax, value * 10 + digit);
  }
  return value;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// One of a list; kWhole: it is malformed.
RangeKind read_range(std::string_view text, uint64_t size, ByteRange& range) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return RangeKind::kWhole;
  const auto from = text.substr(0, dash);
  const auto to = text.substr(dash + 1);
  if (from.empty()) {
    const auto suffix = parse_position(to);
    if (!suffix) return RangeKind::kWhole;
    if (*suffix == 0 || size == 0) return RangeKind::kUnsatisfiable;
    range = {size - std::min(*suffix, size), size - 1};
    return RangeKind::kParts;
  }
  const auto first = parse_position(from);
  const auto last = to.empty() ? std::optional(kPositionMax) : parse_position(to);
  if (!first || !last || *last < *first) return RangeKind::kWhole;
  if (*first >= size) return RangeKind::kUnsatisfiable;
  range = {*first, std::min(*last, size - 1)};
  return RangeKind::kParts;
}

/// Adds a range, which takes in those before it that it overlaps or touches.
void add_range(ByteRange range, std::vector<ByteRange>& ranges) {
  for (size_t at = 0; at < ranges.size();) {
    const ByteRange& other = ranges[at];
    if (range.first <= other.last + 1 && other.first <= range.last + 1) {
      range = {std::min(range.first, other.first), std::max(range.last, other.last)};
      ranges.erase(ranges.begin() + static_cast<ptrdiff_t>(at));
      at = 0;  // The longer range may touch one that was passed.
    } else {
      ++at;
    }
  }
  ranges.push_back(range);
}

}  // namespace

RangeKind select_byte_ranges(std::string_view value, uint64_t size_bytes,
                             std::vector<ByteRange>& ranges) {
  ranges.clear();
  value = without_blanks(value);
  if (!boost::beast::iequals(value.substr(0, kUnit.size()), kUnit)) return RangeKind::kWhole;
  value.remove_prefix(kUnit.size());
  size_t count = 0;
  while (!value.empty()) {
    const auto comma = std::min(value.find(','), value.size());
    const auto text = without_blanks(value.substr(0, comma));
    value.remove_prefix(std::min(comma + 1, value.size()));
    if (text.empty()) continue;  // A list may have empty elements (section 5.6.1).
    ByteRange range;
    const RangeKind kind = read_range(text, size_bytes, range);
    if (kind == RangeKind::kWhole || ++count > kByteRangesMax) {
      ranges.clear();
      return RangeKind::kWhole;
    }
    if (kind == RangeKind::kParts) add_range(range, ranges);
  }
  if (count == 0) return RangeKind::kWhole;
  return ranges.empty() ? RangeKind::kUnsatisfiable : RangeKind::kParts;
}

void add_content_range(std::string& out, const ByteRange& range, uint64_t size_bytes) {
  out += "bytes ";
  add_number(out, range.first);
  out += '-';
  add_number(out, range.last);
  out += '/';
  add_number(out, size_bytes);
}

}  // namespace workload
