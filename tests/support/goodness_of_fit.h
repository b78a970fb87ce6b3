// Whether samples come from the distribution that they should come from.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace testing_support {

struct Moments {
  double mean = 0;
  double deviation = 0;
};

inline Moments moments_of(const std::vector<double>& samples) {
  double sum = 0;
  double squares = 0;
  for (const double sample : samples) sum += sample;
  const double mean = sum / static_cast<double>(samples.size());
  for (const double sample : samples) squares += (sample - mean) * (sample - mean);
  return {mean, std::sqrt(squares / static_cast<double>(samples.size()))};
}

/// Distance of Kolmogorov and Smirnov between samples and a distribution function.
inline double ks_distance(std::vector<double> samples,
                          const std::function<double(double)>& cumulated) {
  std::sort(samples.begin(), samples.end());
  const double n = static_cast<double>(samples.size());
  double largest = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double wanted = cumulated(samples[i]);
    largest = std::max({largest, std::abs(wanted - static_cast<double>(i) / n),
                        std::abs(wanted - static_cast<double>(i + 1) / n)});
  }
  return largest;
}

/// The distance that samples of the right distribution exceed once in 10,000 times.
inline double ks_distance_max(size_t samples) {
  return 2.23 / std::sqrt(static_cast<double>(samples));
}

/// Pearson's statistic of counts against what they should be, which must not be 0.
inline double chi_square(const std::vector<double>& counts, const std::vector<double>& wanted) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    sum += (counts[i] - wanted[i]) * (counts[i] - wanted[i]) / wanted[i];
  }
  return sum;
}

/// The statistic that counts of the right distribution exceed once in about 10,000 times: the
/// approximation of Wilson and Hilferty ("The distribution of chi-square", 1931).
inline double chi_square_max(size_t classes) {
  if (classes < 2) return 1e-9;
  const double freedom = static_cast<double>(classes - 1);
  const double part = 2 / (9 * freedom);
  const double root = 1 - part + 3.72 * std::sqrt(part);
  return freedom * root * root * root;
}

/// P(X <= x) of the normal distribution of mean 0 and deviation 1.
inline double normal_cumulated(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

}  // namespace testing_support
