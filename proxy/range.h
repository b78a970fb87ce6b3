// Byte ranges (RFC 9110 14). A request for several ranges that are not one after coalescing gets
// the whole response: the RFC allows it, and it leaves nothing to exploit (no multipart).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// More ranges than this in one request are not even looked at.
inline constexpr size_t kRangeCountMax = 32;

/// Offsets of the first and the last byte, both inclusive; first <= last < size of the body.
struct ByteRange {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size_bytes() const { return last - first + 1; }
  friend bool operator==(const ByteRange& left, const ByteRange& right) = default;
};

/// How to answer a Range request.
struct RangeAnswer {
  enum class Kind {
    kWhole,          ///< Ignore Range: 200. Malformed, other units, several disjoint ranges.
    kPartial,        ///< 206 with `range`.
    kUnsatisfiable,  ///< 416.
  };
  Kind kind = Kind::kWhole;
  ByteRange range;  ///< For kPartial.
};

/// Reads the value of a Range field for a body of `size_bytes`. Overlapping and adjacent ranges are
/// joined. Never overflows: positions that do not fit 64 bits are beyond every end.
RangeAnswer select_range(std::string_view value, uint64_t size_bytes);

/// Value of Content-Range for a 206: `bytes 0-99/1000`; and for a 416: `bytes */1000`.
std::string format_content_range(ByteRange range, uint64_t size_bytes);
std::string format_unsatisfied_range(uint64_t size_bytes);

/// A Content-Range field as an origin sent it.
struct ContentRange {
  ByteRange range;
  std::optional<uint64_t> complete_size_bytes;  ///< Nothing where it is `*`.
};

/// Nothing where it is malformed, contradicts itself or is the unsatisfied form.
std::optional<ContentRange> parse_content_range(std::string_view value);

}  // namespace proxy
