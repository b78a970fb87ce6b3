// What may be said about two sides that did the same work in each round.
#pragma once

#include <optional>
#include <span>

namespace workload {

/// The two-sided p-value of Student's t test that the mean of the logarithms of `ratios` is 0, that
/// is, that the two sides of each round differ by chance alone. Ratios must be above 0. Nothing for
/// fewer than two; 1 where all are 1, 0 where all are one other number.
std::optional<double> paired_p(std::span<const double> ratios);

/// The spread of values around their median, as a share of it: the median of the distances. Nothing
/// for fewer than two values or a median of 0.
std::optional<double> relative_spread(std::span<const double> values);

}  // namespace workload
