// Everything that one thread of a run measures.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/measure/histogram.h"
#include "workload/measure/series.h"
#include "workload/measure/tally.h"

namespace workload {

/// Response times by interval, hits and misses apart. An interval that is over is kept encoded
/// (one or two kilobytes), so that hours of seconds fit into memory. One thread at a time.
class LatencyLog {
 public:
  explicit LatencyLog(std::chrono::nanoseconds interval);

  /// Records a good response that ended `elapsed` after the start. Calls come in order of time;
  /// one that is late counts in the current interval.
  void record(std::chrono::nanoseconds elapsed, bool hit, uint64_t response_time_ns);

  /// Calls `take(index, hit, miss)` for each interval with values, in order, with its histograms as
  /// encode_histogram() writes them; empty where there are none of that kind.
  void for_each(
      const std::function<void(size_t, const std::string&, const std::string&)>& take) const;
  /// Adds values to an interval, encoded likewise; false where a text is no histogram.
  bool add(size_t index, const std::string& hit, const std::string& miss);

  /// Adds another log of the same interval.
  void merge(const LatencyLog& other);

  /// Writes the interval log: for each interval in which a response ended a row of all, and one of
  /// each of hits (`Tag=hit`) and misses (`Tag=miss`) where there are some. No row ends after
  /// `duration`.
  void write(std::ostream& out, storage::WallTime start, std::chrono::nanoseconds duration) const;

 private:
  struct Interval {
    std::string hit;  ///< Encoded; empty where there were none.
    std::string miss;
  };
  void close_current();
  static void add_encoded(std::string& target, const std::string& encoded);

  std::chrono::nanoseconds interval_;
  std::map<size_t, Interval> closed_;
  size_t current_ = 0;
  Histogram hit_;
  Histogram miss_;
};

/// Counts and times of a phase or of a whole run, apart from when each came. One thread at a time.
struct Measurements {
  /// Counts a transaction; `status` is that of its response, 0 where there was none.
  void record(const TransactionRecord& transaction, int status);
  /// Adds another's.
  void merge(const Measurements& other);

  Tally total;
  Histogram response_time;  ///< Of good responses, to the last byte; so are the next three.
  Histogram hit_response_time;
  Histogram miss_response_time;
  Histogram first_byte_time;  ///< To the first byte.
  Histogram waiting_time;     ///< Of requests of an open loop that were sent: due to started.
  std::map<int, uint64_t> responses_by_status;
};

/// The measurements of one thread, or of all after merging. One thread at a time.
struct RunRecorder : Measurements {
  explicit RunRecorder(std::chrono::nanoseconds interval) : series(interval), latency(interval) {}

  /// Counts a transaction that ended `elapsed` after the start of the recorded part.
  void record(const TransactionRecord& transaction, int status, std::chrono::nanoseconds elapsed);
  /// The same, in the series and the log alone.
  void record_in_time(const TransactionRecord& transaction, std::chrono::nanoseconds elapsed);

  /// Adds another thread's.
  void merge(const RunRecorder& other);

  Series series;
  LatencyLog latency;
};

}  // namespace workload
