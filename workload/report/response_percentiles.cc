#include "workload/report/response_percentiles.h"

#include <cmath>
#include <string>

#include "workload/report/json_text.h"

namespace workload {
namespace {

std::string_view times_key(ResponsePart part) {
  switch (part) {
    case ResponsePart::kAll:
      return "response_time_ms";
    case ResponsePart::kHits:
      return "hit_response_time_ms";
    case ResponsePart::kMisses:
      return "miss_response_time_ms";
  }
  return {};
}

/// How many responses a run's times are of; nothing where it does not say.
std::optional<double> responses_of(const boost::json::object& run, ResponsePart part) {
  const auto good = number_at(run, "good");
  const auto hits = number_at(run, "hits");
  if (part == ResponsePart::kAll) return good;
  if (part == ResponsePart::kHits) return hits;
  if (!good || !hits) return std::nullopt;
  return *good - *hits;
}

}  // namespace

double Percentile::place() const {
  return -std::log10(1 - percent / 100);
}

std::array<std::optional<double>, kShownPercentiles.size()> response_percentiles(
    const CellResult& cell, ResponsePart part) {
  std::array<std::optional<double>, kShownPercentiles.size()> medians;
  for (size_t i = 0; i < kShownPercentiles.size(); ++i) {
    const Percentile& percentile = kShownPercentiles[i];
    const std::string path = std::string(times_key(part)) + '.' + std::string(percentile.key);
    const double responses_min = 100 / (100 - percentile.percent);
    std::vector<double> values;
    for (const auto* run : counting_runs(cell)) {
      // Rounding must not ask for one response more.
      if (responses_of(*run, part).value_or(responses_min) < responses_min * (1 - 1e-9)) continue;
      if (const auto value = number_at(*run, path)) values.push_back(*value);
    }
    medians[i] = median_of(values);
  }
  return medians;
}

}  // namespace workload
