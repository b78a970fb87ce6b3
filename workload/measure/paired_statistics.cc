#include "workload/measure/paired_statistics.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "workload/measure/statistics.h"

namespace workload {

std::optional<double> paired_p(std::span<const double> ratios) {
  if (ratios.size() < 2) return std::nullopt;
  std::vector<double> logarithms;
  for (const double ratio : ratios) logarithms.push_back(std::log(ratio));
  const double n = static_cast<double>(logarithms.size());
  const double mean = *mean_of(logarithms);
  double sum_of_squares = 0;
  for (const double value : logarithms) sum_of_squares += (value - mean) * (value - mean);
  const double error = std::sqrt(sum_of_squares / (n - 1) / n);
  // A sum of equal numbers need not be exactly their multiple.
  if (error <= 1e-12) return std::abs(mean) <= 1e-12 ? 1 : 0;
  const boost::math::students_t distribution(n - 1);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(mean) / error));
}

std::optional<double> relative_spread(std::span<const double> values) {
  const auto median = median_of(values);
  if (values.size() < 2 || !median || *median == 0) return std::nullopt;
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - *median));
  return *median_of(distances) / std::abs(*median);
}

}  // namespace workload
