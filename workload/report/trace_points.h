// The throughput of a run over time, as the figure shows it.
#pragma once

#include <filesystem>
#include <vector>

namespace workload {

/// What a cell's trace is drawn over.
enum class TraceAxis { kTime, kFill };

/// A point of the line: the end of a part of the run and its mean throughput.
struct TracePoint {
  double place = 0;  ///< Seconds since the start, or fill traffic in cache sizes.
  double throughput_rps = 0;
};

/// The whole intervals of a trace.csv. One at the end that the end of the run cut short is left
/// out: so short a time says nothing of the throughput. Empty where the file cannot be read.
std::vector<TracePoint> read_trace_points(const std::filesystem::path& file, TraceAxis axis);

/// Means over parts of `width` (above 0), each weighing its intervals alike: single intervals are
/// mostly noise. Parts without an interval have no point.
std::vector<TracePoint> average_points(const std::vector<TracePoint>& points, double width);

}  // namespace workload
