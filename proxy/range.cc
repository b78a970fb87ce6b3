#include "proxy/range.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "proxy/header_lists.h"

namespace proxy {
namespace {

constexpr uint64_t kPositionMax = std::numeric_limits<uint64_t>::max();
constexpr std::string_view kUnit = "bytes";

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// A position; one that does not fit is the largest there is.
uint64_t position(std::string_view digits) {
  return parse_digits(digits).value_or(kPositionMax);
}

enum class SpecKind { kMalformed, kUnsatisfiable, kSatisfiable };

/// Reads one `first-last`, `first-` or `-length` of a body of `size_bytes`.
SpecKind read_spec(std::string_view spec, uint64_t size_bytes, ByteRange& out) {
  const size_t dash = spec.find('-');
  if (dash == std::string_view::npos) return SpecKind::kMalformed;
  const std::string_view left = spec.substr(0, dash);
  const std::string_view right = spec.substr(dash + 1);
  if (left.empty()) {
    if (!are_digits(right)) return SpecKind::kMalformed;
    const uint64_t length = std::min(position(right), size_bytes);
    if (length == 0) return SpecKind::kUnsatisfiable;
    out = {size_bytes - length, size_bytes - 1};
    return SpecKind::kSatisfiable;
  }
  if (!are_digits(left) || (!right.empty() && !are_digits(right))) return SpecKind::kMalformed;
  const uint64_t first = position(left);
  const uint64_t last = right.empty() ? kPositionMax : position(right);
  if (last < first) return SpecKind::kMalformed;
  if (first >= size_bytes) return SpecKind::kUnsatisfiable;
  out = {first, std::min(last, size_bytes - 1)};
  return SpecKind::kSatisfiable;
}

/// Joins ranges that overlap or touch; sorted by their first byte afterwards.
void coalesce(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.first < b.first; });
  size_t used = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    // No overflow: `last` is below the size of the body.
    if (ranges[i].first <= ranges[used].last + 1) {
      ranges[used].last = std::max(ranges[used].last, ranges[i].last);
    } else {
      ranges[++used] = ranges[i];
    }
  }
  ranges.resize(used + 1);
}

}  // namespace

RangeAnswer select_range(std::string_view value, uint64_t size_bytes) {
  const RangeAnswer whole;
  value = trim_blanks(value);
  const size_t equals = value.find('=');
  if (equals == std::string_view::npos || !equals_ignoring_case(value.substr(0, equals), kUnit)) {
    return whole;
  }
  const auto specs = split_list(value.substr(equals + 1));
  if (specs.empty() || specs.size() > kRangeCountMax) return whole;
  std::vector<ByteRange> ranges;
  for (std::string_view spec : specs) {
    ByteRange range;
    const SpecKind kind = read_spec(spec, size_bytes, range);
    if (kind == SpecKind::kMalformed) return whole;
    if (kind == SpecKind::kSatisfiable) ranges.push_back(range);
  }
  RangeAnswer answer;
  if (ranges.empty()) {
    answer.kind = RangeAnswer::Kind::kUnsatisfiable;
    return answer;
  }
  coalesce(ranges);
  if (ranges.size() > 1) return whole;
  answer.kind = RangeAnswer::Kind::kPartial;
  answer.range = ranges.front();
  return answer;
}

std::string format_content_range(ByteRange range, uint64_t size_bytes) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
         std::to_string(size_bytes);
}

std::string format_unsatisfied_range(uint64_t size_bytes) {
  return "bytes */" + std::to_string(size_bytes);
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
  value = trim_blanks(value);
  if (value.size() <= kUnit.size() || !equals_ignoring_case(value.substr(0, kUnit.size()), kUnit) ||
      value[kUnit.size()] != ' ') {
    return std::nullopt;
  }
  value.remove_prefix(kUnit.size() + 1);
  const size_t dash = value.find('-');
  const size_t slash = value.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || slash < dash) {
    return std::nullopt;
  }
  const auto first = parse_digits(value.substr(0, dash));
  const auto last = parse_digits(value.substr(dash + 1, slash - dash - 1));
  const std::string_view complete_text = value.substr(slash + 1);
  if (!first || !last || *last < *first || *last == kPositionMax) return std::nullopt;
  ContentRange out;
  out.range = {*first, *last};
  if (complete_text == "*") return out;
  out.complete_size_bytes = parse_digits(complete_text);
  if (!out.complete_size_bytes || *out.complete_size_bytes <= *last) return std::nullopt;
  return out;
}

}  // namespace proxy
