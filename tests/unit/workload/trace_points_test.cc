#include "workload/report/trace_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/measure/series.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<double, double>> pairs_of(const std::vector<TracePoint>& points) {
  std::vector<std::pair<double, double>> pairs;
  for (const TracePoint& point : points) pairs.emplace_back(point.place, point.throughput_rps);
  return pairs;
}

class TracePoints : public testing::Test {
 protected:
  /// Rows of elapsed time, fill and throughput.
  std::vector<std::pair<double, double>> read(const std::vector<std::array<double, 3>>& rows,
                                              TraceAxis axis = TraceAxis::kTime) {
    std::ofstream out(file_);
    out << kTraceHeader << '\n';
    for (const auto& [elapsed, fill, rate] : rows) {
      out << elapsed << ',' << fill << ",10," << rate << ",1,1,1,50,50,0,0,0,run\n";
    }
    out.close();
    return pairs_of(read_trace_points(file_, axis));
  }

  testing_support::TempDir folder_;
  const std::string file_ = folder_ / "trace.csv";
};

TEST_F(TracePoints, AnIntervalThatTheEndCutShortIsLeftOut) {
  EXPECT_THAT(read({{1, 0.1, 50}, {2, 0.2, 60}, {2.1, 0.2, 0}}),
              ElementsAre(Pair(1, 50), Pair(2, 60)));
  EXPECT_THAT(read({{1, 0.1, 50}, {2, 0.2, 60}}), ElementsAre(Pair(1, 50), Pair(2, 60)));
  EXPECT_THAT(read({{0.4, 0.1, 50}}), ElementsAre(Pair(0.4, 50))) << "there is no other";
}

TEST_F(TracePoints, AreOverTimeOrFill) {
  EXPECT_THAT(read({{1, 0.5, 50}, {2, 0.75, 60}}, TraceAxis::kFill),
              ElementsAre(Pair(0.5, 50), Pair(0.75, 60)));
}

TEST_F(TracePoints, AFileThatIsNoTraceHasNone) {
  EXPECT_THAT(read_trace_points(folder_ / "absent.csv", TraceAxis::kTime), IsEmpty());
  std::ofstream(file_) << "rubbish\n";
  EXPECT_THAT(read_trace_points(file_, TraceAxis::kTime), IsEmpty());
}

TEST(AveragePoints, TakesMeansOverPartsAndNeverMoreThanThem) {
  const std::vector<TracePoint> points = {{1, 10}, {2, 1000}, {3, 20}, {4, 40}, {9, 5}};
  EXPECT_THAT(pairs_of(average_points(points, 2)),
              ElementsAre(Pair(2, 505), Pair(4, 30), Pair(10, 5)));
  EXPECT_THAT(average_points({}, 1), IsEmpty());
}

}  // namespace
}  // namespace workload
