// What a run of the pattern has done, over time and in all.
#pragma once

#include <chrono>
#include <cstdint>

#include "workload/measure/histogram.h"
#include "workload/measure/recorder.h"

namespace webproxy {

/// Counts and times. A request is a whole file that was read, or created and written; a delete is
/// none and is counted apart. One thread at a time.
class Account {
 public:
  /// `interval` of the rows of trace.csv; above 0.
  explicit Account(std::chrono::nanoseconds interval) : recorder_(interval) {}

  /// A file was read to its end and was right. `elapsed` is when it ended, since the start.
  void count_read(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took,
                  uint64_t size_bytes);
  /// A file was created, written and closed.
  void count_created(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took,
                     uint64_t size_bytes);
  void count_deleted(std::chrono::nanoseconds took) {
    delete_time_.record(static_cast<uint64_t>(took.count()));
  }
  /// A file did not hold what was written.
  void count_wrong(std::chrono::nanoseconds elapsed);
  /// The run is over.
  void finish(std::chrono::nanoseconds elapsed);

  /// Series, totals and times of all requests. In its latency log "hits" are the reads and "misses"
  /// the new files; nowhere else are there hits or misses.
  const workload::RunRecorder& recorder() const { return recorder_; }
  std::chrono::nanoseconds duration() const { return duration_; }
  const workload::Histogram& read_time() const { return read_time_; }
  const workload::Histogram& create_time() const { return create_time_; }
  const workload::Histogram& delete_time() const { return delete_time_; }
  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t written_bytes() const { return recorder_.total.fill_bytes; }
  /// Events a second of a count; 0 of no time.
  double rate_of(uint64_t count) const;

 private:
  void count(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took, uint64_t size_bytes,
             bool is_read);

  workload::RunRecorder recorder_;
  workload::Histogram read_time_;
  workload::Histogram create_time_;
  workload::Histogram delete_time_;
  uint64_t read_bytes_ = 0;
  std::chrono::nanoseconds duration_{0};
};

}  // namespace webproxy
