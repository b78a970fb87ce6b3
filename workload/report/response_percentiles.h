// The percentiles of response times that figures show, over a cell's runs.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "workload/report/results.h"

namespace workload {

struct Percentile {
  std::string_view key;  ///< In `response_time_ms`.
  std::string_view label;
  double percent = 0;

  /// Where it stands on an axis on which each further nine is as far from the last: 1 for 90 %,
  /// 2 for 99 %.
  double place() const;
};

inline constexpr std::array<Percentile, 6> kShownPercentiles{{{"p50", "50 %", 50},
                                                              {"p90", "90 %", 90},
                                                              {"p95", "95 %", 95},
                                                              {"p99", "99 %", 99},
                                                              {"p999", "99.9 %", 99.9},
                                                              {"p9999", "99.99 %", 99.99}}};

/// Which good responses.
enum class ResponsePart { kAll, kHits, kMisses };

/// Medians over the runs that count, in milliseconds. Nothing where no run says, and for a
/// percentile of so few responses that it would be nothing but their slowest.
std::array<std::optional<double>, kShownPercentiles.size()> response_percentiles(
    const CellResult& cell, ResponsePart part);

}  // namespace workload
