#include "workload/compare/sample_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "workload/measure/paired_statistics.h"

namespace workload {
namespace {

constexpr double kComparisonAlpha = 0.05;
constexpr uint64_t kComparisonSeed = 1;

/// The rounds' ratios where each run has a partner; nothing where one has none.
std::optional<std::vector<double>> ratios_by_round(const Sample& first, const Sample& second) {
  if (first.empty() || first.size() != second.size()) return std::nullopt;
  std::vector<double> ratios;
  for (const auto& left : first) {
    if (!left.seed || !(left.value > 0)) return std::nullopt;
    const auto same_seed = [&](const SampleValue& other) { return other.seed == left.seed; };
    const auto partner = std::find_if(second.begin(), second.end(), same_seed);
    if (partner == second.end() || !(partner->value > 0) ||
        std::count_if(first.begin(), first.end(), same_seed) != 1) {
      return std::nullopt;
    }
    ratios.push_back(partner->value / left.value);
  }
  return ratios;
}

double floor_percent(std::initializer_list<std::span<const double>> samples) {
  double floor = 0;
  for (const auto& values : samples) {
    floor = std::max(floor, 100 * relative_spread(values).value_or(0));
  }
  return floor;
}

/// `5.1`, with two digits where one would say nothing.
std::string signed_percent(double percent) {
  char text[64];
  std::snprintf(text, sizeof text, std::abs(percent) < 0.095 ? "%.2f" : "%.1f", percent);
  return std::string(text) == "-0.0" || std::string(text) == "-0.00" ? "0.0" : text;
}

bool all_equal(const SampleComparison& comparison) {
  return comparison.p && *comparison.p >= 1 && comparison.first.median == comparison.second.median;
}

Standing standing_of(const SampleComparison& comparison) {
  if (!comparison.first.median || !comparison.second.median) return Standing::kNoResult;
  if (comparison.runs < kRunsForIntervalMin) return Standing::kTooFew;
  if (comparison.adjusted_p.value_or(1) >= kComparisonAlpha) {
    const bool never = comparison.runs < comparison.runs_needed && !all_equal(comparison);
    return never ? Standing::kTooFew : Standing::kSame;
  }
  const Estimate& ratio = comparison.ratio;
  if (!ratio.median) return Standing::kDifferent;  // One side is 0, and the ranks tell them apart.
  if (ratio.low && ratio.high && *ratio.low <= 1 && *ratio.high >= 1) return Standing::kSame;
  const double change_percent = 100 * std::abs(*ratio.median - 1);
  return change_percent < comparison.noise_floor_percent ? Standing::kBelowFloor
                                                         : Standing::kDifferent;
}

std::string difference_text(const SampleComparison& comparison, const FigureWords& words,
                            const std::string& first, const std::string& second) {
  char text[256];
  const Estimate& ratio = comparison.ratio;
  if (!ratio.median) {
    std::snprintf(text, sizeof text, "%.4g where %s has %.4g", *comparison.second.median,
                  first.c_str(), *comparison.first.median);
    return second + " has " + text;
  }
  const bool more = *ratio.median > 1;
  const auto change = [&](double value) { return 100 * (more ? value - 1 : 1 - value); };
  std::string out = second + " " + std::string(words.verb) + " " +
                    signed_percent(change(*ratio.median)) + " % " +
                    std::string(more ? words.more : words.less);
  if (ratio.low && ratio.high) {
    const double ends[] = {change(*ratio.low), change(*ratio.high)};
    out += " [" + signed_percent(std::min(ends[0], ends[1])) + ", " +
           signed_percent(std::max(ends[0], ends[1])) + "]";
  }
  return out;
}

}  // namespace

std::vector<double> values_of(const Sample& sample) {
  std::vector<double> values;
  for (const auto& run : sample) values.push_back(run.value);
  return values;
}

std::string_view standing_name(Standing standing) {
  switch (standing) {
    case Standing::kDifferent:
      return "different";
    case Standing::kSame:
      return "same";
    case Standing::kBelowFloor:
      return "below_noise_floor";
    case Standing::kTooFew:
      return "too_few_runs";
    case Standing::kNoResult:
      break;
  }
  return "no_result";
}

SampleComparison compare_samples(const Sample& first, const Sample& second) {
  SampleComparison comparison;
  const std::vector<double> left = values_of(first);
  const std::vector<double> right = values_of(second);
  comparison.first = estimate_median(left, kComparisonSeed);
  comparison.second = estimate_median(right, kComparisonSeed);
  comparison.runs = std::min(left.size(), right.size());
  if (const auto ratios = ratios_by_round(first, second)) {
    comparison.paired = true;
    comparison.ratio = estimate_median(*ratios, kComparisonSeed);
    comparison.p = paired_p(*ratios);
    comparison.noise_floor_percent = floor_percent({*ratios});
  } else {
    comparison.ratio = estimate_ratio(right, left, kComparisonSeed);
    comparison.p = mann_whitney_p(left, right);
    comparison.noise_floor_percent = floor_percent({left, right});
  }
  return comparison;
}

void judge_all(std::span<SampleComparison* const> all) {
  std::vector<double> p_values;
  for (const auto* comparison : all) {
    if (comparison->p) p_values.push_back(*comparison->p);
  }
  const auto adjusted = holm_adjust(p_values);
  const size_t by_rank = runs_for_significance_min(p_values.size(), kComparisonAlpha);
  size_t next = 0;
  for (auto* comparison : all) {
    if (comparison->p) comparison->adjusted_p = adjusted[next++];
    comparison->runs_needed =
        comparison->paired ? kRunsForIntervalMin : std::max(kRunsForIntervalMin, by_rank);
    comparison->standing = standing_of(*comparison);
  }
}

std::string effect_text(const Estimate& ratio) {
  if (!ratio.median) return {};
  const auto change = [](double value) { return 100 * (value - 1); };
  std::string out = signed_percent(change(*ratio.median)) + " %";
  const bool is_nothing = out.find_first_of("123456789") == std::string::npos;
  if (out.front() != '-' && !is_nothing) out.insert(0, 1, '+');
  if (ratio.low && ratio.high) {
    out += " [" + signed_percent(change(*ratio.low)) + ", " + signed_percent(change(*ratio.high)) +
           "]";
  }
  return out;
}

std::string verdict_text(const SampleComparison& comparison, const FigureWords& words,
                         const std::string& first, const std::string& second) {
  switch (comparison.standing) {
    case Standing::kDifferent:
      return difference_text(comparison, words, first, second);
    case Standing::kSame:
      return "no difference seen";
    case Standing::kBelowFloor:
      return "no difference seen above the noise of " +
             signed_percent(comparison.noise_floor_percent) + " %";
    case Standing::kTooFew:
      return "not told apart: too few runs (" + std::to_string(comparison.runs) + " of " +
             std::to_string(comparison.runs_needed) + " needed)";
    case Standing::kNoResult:
      break;
  }
  return "no valid result in " + (comparison.first.median ? second : first);
}

}  // namespace workload
