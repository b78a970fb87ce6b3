// What became of every line of a log: used, or skipped for one reason.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace traces {

/// Why a line is not replayed. Exactly one holds for each line that is not used.
enum class SkipReason : uint8_t {
  kBlank,              ///< Nothing on it.
  kComment,            ///< Begins with `#`.
  kTooLong,            ///< Longer than kLineBytesMax.
  kUnsupportedFormat,  ///< No sign of a format that is understood.
  kBadLine,            ///< Of a known format, but damaged or cut.
  kErrorUrl,           ///< `error:...`: the server's own note, not a request.
  kConnect,            ///< A tunnel: what went through it is unknown.
  kManager,            ///< A look at the cache's own statistics.
  kJunkRequest,        ///< The request is not HTTP (TLS to a plain port, port scans).
  kNoUrl,              ///< No request was read, or its target names no object.
  kMethod,             ///< Neither GET nor HEAD.
  kStatusError,        ///< 4xx, 5xx, or nothing was sent.
  kRedirect,           ///< 3xx other than 304.
  kStatusOther,        ///< A success without a whole or partial object (204 ...), or an odd status.
  kNoSizeKnown,        ///< No line of its URL tells the object's size.
  kTooLarge,           ///< Its object is larger than kObjectSizeBytesMax.
  kOverLimit,          ///< Could be replayed, but lies behind the number asked for.
};
inline constexpr size_t kSkipReasonCount = 17;

/// The reason's name in tables and JSON: `blank`, `comment`, `too_long` ...
std::string_view name_of(SkipReason reason);

/// One sentence for people.
std::string_view explanation_of(SkipReason reason);

/// The lines skipped for one reason.
struct SkippedLines {
  uint64_t count = 0;
  uint64_t first_line = 0;  ///< Number of the first of them, from 1; 0 where there is none.
  std::string first_text;   ///< Its beginning, fit for a terminal.
};

/// Counts every line of a log once. One thread at a time.
class LineAccount {
 public:
  /// A line that will be replayed.
  void count_used() { ++used_; }
  /// A line that will not. Lines may come in any order; `first` is by line number.
  void count_skipped(SkipReason reason, uint64_t line_number, std::string_view text);

  uint64_t used() const { return used_; }
  const SkippedLines& skipped(SkipReason reason) const {
    return skipped_[static_cast<size_t>(reason)];
  }
  uint64_t skipped_total() const;
  /// Lines in all: used and skipped.
  uint64_t total() const { return used_ + skipped_total(); }

 private:
  uint64_t used_ = 0;
  std::array<SkippedLines, kSkipReasonCount> skipped_;
};

/// The beginning of a hostile text, with everything but printable ASCII as `\xhh`, and `...` where
/// it was cut to `length_max` characters.
std::string printable_excerpt(std::string_view text, size_t length_max = 120);

}  // namespace traces
