#include "workload/report/trace_points.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <variant>

#include "workload/measure/series.h"

namespace workload {

namespace {

/// An interval that is shorter than the first one by more than rounding was cut.
constexpr double kWholeShare = 0.99;

}  // namespace

std::vector<TracePoint> read_trace_points(const std::filesystem::path& file, TraceAxis axis) {
  std::ifstream in(file);
  auto read = read_trace_csv(in);
  auto* const rows = std::get_if<std::vector<TraceRow>>(&read);
  if (rows == nullptr || rows->empty()) return {};
  if (rows->size() > 1) {
    const double last_s = rows->back().elapsed_s - (*rows)[rows->size() - 2].elapsed_s;
    if (last_s < kWholeShare * rows->front().elapsed_s) rows->pop_back();
  }
  std::vector<TracePoint> points;
  points.reserve(rows->size());
  for (const TraceRow& row : *rows) {
    const auto place = axis == TraceAxis::kFill ? row.fill_ratio : row.elapsed_s;
    if (place) points.push_back({*place, row.throughput_rps});
  }
  return points;
}

std::vector<TracePoint> average_points(const std::vector<TracePoint>& points, double width) {
  std::vector<TracePoint> means;
  size_t count = 0;
  for (const TracePoint& point : points) {
    // Rounding must not carry the end of a part into the next one.
    const double place = width * std::max(1.0, std::ceil(point.place / width - 1e-9));
    if (means.empty() || place > means.back().place) {
      means.push_back({place, 0});
      count = 0;
    }
    ++count;
    double& mean = means.back().throughput_rps;
    mean += (point.throughput_rps - mean) / static_cast<double>(count);
  }
  return means;
}

}  // namespace workload
