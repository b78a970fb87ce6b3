// Response times as a text log of intervals that the public HdrHistogram tools read (format V2).
#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/base/clock.h"
#include "workload/measure/histogram.h"

namespace workload {

/// A histogram as the log's fourth field: V2 counters, deflated, in base64.
std::string encode_histogram(const Histogram& histogram);

/// A histogram or a line that says why the text is none. Sizes and counts are bounded: the text
/// may come from anywhere. Any lowest and highest value is accepted as long as the digits are
/// three and the lowest discernible value is 1.
std::variant<Histogram, std::string> decode_histogram(std::string_view text);

/// One row of the log.
struct LogInterval {
  std::string tag;     ///< Empty for all responses; `hit`, `miss` for a part of them.
  double start_s = 0;  ///< Since the log's start.
  double length_s = 0;
  Histogram histogram;
};

/// Writes the log: the header at once, then one row a call. Values are nanoseconds; the third
/// field (Interval_Max) is in milliseconds, as readers expect by default.
class IntervalLogWriter {
 public:
  /// `start` is the wall time that the rows' `start_s` count from. `out` must outlive the writer.
  IntervalLogWriter(std::ostream& out, storage::WallTime start);
  /// `tag` must not hold a comma, a blank or a line break.
  void write(std::string_view tag, double start_s, double length_s, const Histogram& histogram);

 private:
  std::ostream& out_;
};

/// A log read back.
struct IntervalLog {
  double start_unix_s = 0;  ///< From `#[StartTime: ...]`, 0 where there is none.
  std::vector<LogInterval> intervals;
};

/// The log, or one line that names the line number and what is wrong with it. Takes logs of other
/// writers too: absolute or relative timestamps (made relative to the start), any comments. Lines
/// longer than 16 MiB and more than a million rows are refused.
std::variant<IntervalLog, std::string> read_interval_log(std::istream& in);

}  // namespace workload
