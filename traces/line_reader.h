// A log's lines, one at a time and in bounded memory, whatever bytes the file holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/byte_source.h"

namespace traces {

/// A line longer than this is given as `too_long`, cut, and never parsed.
inline constexpr size_t kLineBytesMax = 1024 * 1024;

/// A line, valid until the next call of the reader.
struct Line {
  std::string_view text;  ///< Without its end (LF or CR LF) and without a byte order mark.
  uint64_t number = 0;    ///< From 1.
  bool too_long = false;  ///< `text` is only the beginning.
  bool ended = true;      ///< False for a last line without a line end: it may be cut.
};

/// Splits a source into lines. NUL and non-UTF-8 bytes are bytes like any other. Holds at most
/// one line and one chunk. One thread at a time; calls block on the source.
class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteSource> source, size_t line_bytes_max = kLineBytesMax);

  /// The next line, or nothing at the end. An error of the source comes once all lines before it
  /// were given (the last of them with `ended` false).
  LogResult<std::optional<Line>> next();

 private:
  bool refill();
  void keep(std::string_view part);
  Line finish_line(bool ended);

  std::unique_ptr<ByteSource> source_;
  size_t line_bytes_max_;
  std::vector<char> chunk_;
  std::string_view unread_;  ///< Of chunk_.
  std::string line_;         ///< Of the line that is given or still arriving.
  bool too_long_ = false;
  bool line_begun_ = false;
  uint64_t number_ = 0;
  bool ended_ = false;
  std::optional<LogError> failure_;
};

/// Opens a log file, unpacking it where it is gzip. Waits for the first bytes of a named pipe, and
/// tells `on_wait` where that takes long.
LogResult<std::unique_ptr<LineReader>> open_log(const std::string& path, WaitNotice on_wait = {});

}  // namespace traces
