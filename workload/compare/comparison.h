// A comparison of two or more sides, ready to be shown.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workload/compare/sample_comparison.h"
#include "workload/experiment/expected.h"
#include "workload/report/results.h"

namespace workload {

/// One of the things compared; its name in the comparison is side_name() of its place.
struct ComparedSide {
  std::string source;  ///< The folder as given, or what a row of a file says of itself.
  std::string about;   ///< Host and start; may be empty.
};

/// `A` to `Z`, then `S27` and on.
std::string side_name(size_t side);

/// A line of the environment, a value a side.
struct EnvironmentLine {
  std::string key;
  std::vector<std::string> values;  ///< `-` where a side does not say.
  bool differs = false;
};

/// A field of the work in which two sides differ.
struct WorkDifference {
  std::string field;
  std::string cell;  ///< Empty where it is of the whole experiment.
  size_t first = 0;  ///< Sides.
  size_t second = 0;
  std::string first_value;
  std::string second_value;
};

/// `cache-size of ufs-here: A has 1G, B has 2G`.
std::string difference_line(const WorkDifference& difference);

/// A cell that not all sides have.
struct UnmatchedCell {
  std::string cell;
  std::vector<size_t> sides;  ///< Those that have it.
};

/// A figure of a cell on two sides.
struct ComparisonRow {
  std::string cell;
  FigureWords words;
  size_t first = 0;  ///< Sides.
  size_t second = 0;
  SampleComparison numbers;
  bool valid = true;  ///< No run of either side carries a doubt that makes it not valid.
  std::string verdict;
};

/// Everything that is shown.
struct Comparison {
  std::vector<ComparedSide> sides;
  std::vector<EnvironmentLine> environment;
  std::vector<WorkDifference> refused;  ///< What was not compared for it has no rows.
  std::vector<WorkDifference> ignored;  ///< Compared nonetheless, as asked.
  std::vector<UnmatchedCell> unmatched;
  std::vector<ComparisonRow> rows;
  std::vector<std::string> notes;  ///< One line each.
};

/// What a comparison of results needs besides them.
struct ComparisonOptions {
  std::set<std::string> ignored_fields;  ///< See work_field_names().
  /// Another folder of the very system of the first side: what differs between them is noise, and
  /// nothing smaller is claimed. Null: none.
  const Results* same_as_first = nullptr;
};

/// Compares each side with the first, cell by cell by name, over every figure that both have. Sides
/// whose work differs (see work_differences()) are refused: no rows, but `refused`. A Problem where
/// no cell is on all sides, or where an ignored field is none. `sources` names the sides.
Expected<Comparison> compare_results(const std::vector<Results>& sides,
                                     const std::vector<std::string>& sources,
                                     const ComparisonOptions& options);

/// Adjusts and judges all rows together and writes their verdicts.
void judge_rows(Comparison& comparison);

}  // namespace workload
