// Ranges of bytes (RFC 9110 section 14) as an origin selects them. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// Offsets of the first and the last byte, both inclusive; first <= last < size of the body.
struct ByteRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size_bytes() const { return last - first + 1; }
  friend bool operator==(const ByteRange& left, const ByteRange& right) = default;
};

enum class RangeKind {
  kWhole,  ///< Range is ignored: malformed, of another unit, or of more ranges than allowed.
  kParts,  ///< 206 with the ranges found.
  kUnsatisfiable,  ///< 416.
};

/// A request for more ranges than this gets the whole body.
inline constexpr size_t kByteRangesMax = 16;

/// Reads the value of a Range field for a body of `size_bytes` into `ranges` (which is cleared; it
/// holds something for kParts only). They stand in the order in which they were asked for; those
/// that overlap or touch are joined, so that all of them together are never more than the body.
/// Positions that do not fit 62 bits are beyond every end.
RangeKind select_byte_ranges(std::string_view value, uint64_t size_bytes,
                             std::vector<ByteRange>& ranges);

/// Appends the value of Content-Range for a 206: `bytes 0-99/1000`.
void add_content_range(std::string& out, const ByteRange& range, uint64_t size_bytes);

}  // namespace workload
