// The run over time: one row a sample interval.
#pragma once

#include <chrono>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "workload/measure/tally.h"

namespace workload {

/// The columns of `trace.csv`, in their order.
inline constexpr std::string_view kTraceHeader =
    "elapsed_s,fill_ratio,offered_rps,throughput_rps,response_time_ms,hit_response_time_ms,"
    "miss_response_time_ms,hit_ratio_percent,byte_hit_ratio_percent,errors,blocked_ms,not_sent,"
    "phase";

/// Tallies of equal intervals; the last one may be shorter. Not thread-safe: each thread fills its
/// own and the run merges them.
class Series {
 public:
  /// `interval` must be positive.
  explicit Series(std::chrono::nanoseconds interval);

  std::chrono::nanoseconds interval() const { return interval_; }

  /// The tally of the interval that `elapsed` (since the run's start; negative counts as 0) lies
  /// in, made with all before it where it is new.
  Tally& at(std::chrono::nanoseconds elapsed);

  /// Ends the last row there: fixes the length of the last interval, and adds empty rows for
  /// intervals in which nothing happened.
  void finish(std::chrono::nanoseconds elapsed);

  /// Adds another series of the same interval row by row.
  void merge(const Series& other);

  size_t size() const { return rows_.size(); }
  const Tally& row(size_t index) const { return rows_[index]; }
  /// When the row ends, since the start of the run.
  std::chrono::nanoseconds end_of(size_t index) const;
  std::chrono::nanoseconds length_of(size_t index) const;

  /// Sum over all rows.
  Tally total() const;

 private:
  std::chrono::nanoseconds interval_;
  std::chrono::nanoseconds finished_{0};
  std::vector<Tally> rows_;
};

/// Where a phase begins.
struct PhaseSpan {
  std::string name;
  std::chrono::nanoseconds start{0};
};

/// Writes `trace.csv`. `fill_ratio` is the fill traffic from the start to the end of the row over
/// `cache_size_bytes`, empty where that is 0. Means and shares of nothing are empty fields. A row's
/// phase is the one that is on in its middle; empty where there are no phases.
void write_trace_csv(std::ostream& out, const Series& series, uint64_t cache_size_bytes,
                     const std::vector<PhaseSpan>& phases = {});

/// One row of a trace.csv.
struct TraceRow {
  double elapsed_s = 0;  ///< When the interval ends.
  std::optional<double> fill_ratio;
  double offered_rps = 0;
  double throughput_rps = 0;
  std::optional<double> response_time_ms;
  std::optional<double> hit_response_time_ms;
  std::optional<double> miss_response_time_ms;
  std::optional<double> hit_ratio_percent;
  std::optional<double> byte_hit_ratio_percent;
  uint64_t errors = 0;
  std::optional<double> blocked_ms;  ///< Mean time from due to started.
  uint64_t not_sent = 0;
  std::string phase;
};

/// Reads a trace.csv, or says in one line which line is wrong and why. At most ten million rows.
/// Files of earlier versions end behind `errors`.
std::variant<std::vector<TraceRow>, std::string> read_trace_csv(std::istream& in);

}  // namespace workload
