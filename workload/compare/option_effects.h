// What each variant of an option experiment does to the figures of its base, and which variants are
// in truth the same configuration.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "workload/compare/sample_comparison.h"
#include "workload/report/results.h"

namespace workload {

/// A figure of a variant against that of its base.
struct EffectRow {
  std::string base_cell;  ///< Names of the cells.
  std::string cell;
  std::string variant;
  FigureWords words;
  SampleComparison numbers;  ///< First is the base, second the variant.
  bool valid = true;         ///< No run of either cell carries a doubt that makes it not valid.
  /// Why base and variant are the same configuration; nothing where they are not. Then no figure is
  /// an effect, and `numbers.standing` is only what the figures alone would say.
  std::optional<std::string> same;
  std::string verdict;
};

/// Two cells of one base that are the same configuration.
struct SameConfiguration {
  std::string base_cell;
  std::string first;  ///< Variants, the first may be kBaseVariant.
  std::string second;
  std::string reason;  ///< For people; never empty.
};

/// All effects of an experiment.
struct OptionEffects {
  std::vector<EffectRow> rows;
  std::vector<SameConfiguration> same;
  std::vector<std::string> notes;  ///< One line each.
};

/// Compares each variant with its base: throughput, CPU time a request, response time (mean and
/// 99th percentile), and the hit ratio where there are hits. Samples are compared and judged as
/// those of `cacheoff compare` are (compare_samples(), judge_all()), with the correction over all
/// rows. Configurations are as they were generated, corrected by what the systems said of
/// themselves in all runs of a base and its variants. Nothing where no cell is varied.
OptionEffects option_effects(const Results& results);

/// `different`, `same`, … as standing_name() has them, or `same_configuration`.
std::string outcome_of(const EffectRow& row);

}  // namespace workload
