// The figures that are compared, and where they stand in a run's record.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>

#include "workload/compare/sample_comparison.h"
#include "workload/report/results.h"

namespace workload {

/// A figure of a run.
struct ComparedFigure {
  FigureWords words;
  /// Nothing where the run does not tell it.
  std::optional<double> (*read)(const boost::json::object& run);
};

/// Throughput, response time, hit ratio, byte hit ratio, the proxy's CPU time a request (its
/// helpers' with it) and disk operations a request, in this order.
std::span<const ComparedFigure> compared_figures();

/// The proxy's CPU time over the requests of the robots, whatever it logged itself: for two that do
/// not both log.
std::optional<double> cpu_us_a_sent_request(const boost::json::object& run);

/// The figure in the runs of a cell that count and that tell it, each with its seed.
Sample sample_of(const CellResult& cell, const Results& results, const ComparedFigure& figure);

/// Leaves the runs that the other side has a partner for, since only these did the same work. Where
/// a seed is not known, or none is shared (as asked to be ignored), all stay. Returns how many
/// went.
size_t keep_shared_rounds(Sample& first, Sample& second);

/// Whether no run of the cell that counts carries a doubt that makes it not valid.
bool all_runs_valid(const CellResult& cell);

/// The workload's seed in a run; nothing where neither it nor the round is told.
std::optional<uint64_t> seed_of_run(const boost::json::object& run, const Results& results);

/// Mean bytes of a response, head included; nothing where the run does not tell.
std::optional<double> mean_response_bytes(const boost::json::object& run);

}  // namespace workload
