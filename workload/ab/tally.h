// What `cacheoff ab` counts: requests, failures, bytes and times, of a thread or of a whole run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/measure/histogram.h"

namespace workload::ab {

/// The failures that ApacheBench tells apart.
enum class Failure {
  kNone,
  kConnect,    ///< No connection.
  kReceive,    ///< Reset, silence, or the end before a head.
  kLength,     ///< Another length than the first body's (not under -l), or than was announced.
  kException,  ///< What came is no HTTP.
};
inline constexpr size_t kFailureCount = 5;

/// Times of one kind: a histogram, and exact sums. Nanoseconds.
class TimeSamples {
 public:
  void record(uint64_t value_ns);
  /// `count` times 0, which the histogram cannot hold.
  void record_zeros(uint64_t count);
  void merge(const TimeSamples& other);

  uint64_t count() const { return histogram_.count() + zeros_; }
  uint64_t min_ns() const;
  uint64_t max_ns() const { return max_ns_; }
  /// 0 where empty.
  double mean_ns() const;
  /// Standard deviation of the sample; 0 of fewer than two.
  double deviation_ns() const;
  /// The value that `percent` of the values do not exceed, to three digits; 0 where empty.
  uint64_t percentile_ns(double percent) const;

 private:
  Histogram histogram_;
  uint64_t zeros_ = 0;
  uint64_t min_ns_ = UINT64_MAX;
  uint64_t max_ns_ = 0;
  double sum_ns_ = 0;
  double sum_of_squares_ = 0;
};

/// One request, for -g. Microseconds.
struct RequestTimes {
  int64_t start_unix_us = 0;
  uint32_t connect_us = 0;
  uint32_t total_us = 0;
  uint32_t wait_us = 0;
};

/// Counters of a run or of a thread's part of it.
struct Tally {
  uint64_t complete = 0;  ///< Ended, well or badly.
  uint64_t good = 0;      ///< 2xx, whole, and no failure.
  uint64_t not_2xx = 0;
  uint64_t kept_alive = 0;  ///< Responses behind which the server kept the connection.
  uint64_t write_errors = 0;
  uint64_t received_bytes = 0;
  uint64_t body_bytes = 0;
  uint64_t sent_bytes = 0;
  std::array<uint64_t, kFailureCount> failures{};
  uint64_t truncated = 0;              ///< Among Length: ended before its announced end.
  uint64_t surplus = 0;                ///< Among Length: more came than was announced.
  uint64_t timeouts = 0;               ///< Among Connect and Receive: silence longer than -s.
  uint64_t other_length = 0;           ///< Whole bodies of another length than the first.
  uint64_t other_content = 0;          ///< Whole bodies of the first one's length with other bytes.
  uint64_t connections = 0;            ///< Opened.
  uint64_t stale_retries = 0;          ///< Kept connections that were closed before a response.
  std::array<uint64_t, 6> by_class{};  ///< Responses by the status' first digit.
  TimeSamples connect;
  TimeSamples processing;
  TimeSamples waiting;
  TimeSamples total;
  Histogram good_times;  ///< Total times of the good ones.
  std::vector<RequestTimes> requests;
  std::string first_failure;  ///< Why the first one failed, for people.

  uint64_t failed() const;
  void merge(const Tally& other);
};

}  // namespace workload::ab
