#include "workload/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "workload/compare/environment_difference.h"
#include "workload/compare/figure_samples.h"
#include "workload/compare/work_equality.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using NoiseFloors = std::map<std::string_view, double>;

std::string doubts_about(const CellResult& cell, const std::string& side) {
  size_t doubtful = 0;
  std::string first;
  for (const auto* run : counting_runs(cell)) {
    const auto* valid = run->if_contains("valid");
    if (valid == nullptr || !valid->is_bool() || valid->get_bool()) continue;
    ++doubtful;
    const auto* warnings = run->if_contains("warnings");
    const auto* list = warnings == nullptr ? nullptr : warnings->if_array();
    if (!first.empty() || list == nullptr || list->empty()) continue;
    if (list->back().is_string()) first = list->back().get_string();
  }
  if (doubtful == 0) return {};
  return cell.name + " of " + side + ": " + std::to_string(doubtful) +
         (doubtful == 1 ? " run is" : " runs are") + " not valid" +
         (first.empty() ? "" : ", e.g.: " + first);
}

/// How far each figure differs between two folders of one system, over their cells, in percent.
NoiseFloors noise_between(const Results& first, const Results& again) {
  NoiseFloors floors;
  for (const auto& cell : first.cells) {
    const auto* other = cell_named(again, cell.name);
    if (other == nullptr) continue;
    for (const auto& figure : compared_figures()) {
      Sample left = sample_of(cell, first, figure);
      Sample right = sample_of(*other, again, figure);
      keep_shared_rounds(left, right);
      const auto ratio = compare_samples(left, right).ratio.median;
      if (!ratio) continue;
      double& floor = floors[figure.words.name];
      floor = std::max(floor, 100 * std::abs(*ratio - 1));
    }
  }
  return floors;
}

/// One of the sides beside the first.
void compare_side(Comparison& comparison, const std::vector<Results>& sides, size_t second,
                  const NoiseFloors& floors) {
  size_t left_out = 0;
  bool any_paired = false;
  bool any_unpaired = false;
  for (const auto& cell : sides.front().cells) {
    const auto* other = cell_named(sides[second], cell.name);
    if (other == nullptr) continue;
    for (const auto& figure : compared_figures()) {
      Sample left = sample_of(cell, sides.front(), figure);
      Sample right = sample_of(*other, sides[second], figure);
      const bool is_throughput = &figure == &compared_figures().front();
      // A figure that a side never tells has no row, but that of the throughput always stands.
      if (!is_throughput && (left.empty() || right.empty())) continue;
      const size_t gone = keep_shared_rounds(left, right);
      if (is_throughput) left_out += gone;
      ComparisonRow row{cell.name, figure.words, 0, second, compare_samples(left, right), true, {}};
      row.valid = all_runs_valid(cell) && all_runs_valid(*other);
      const auto floor = floors.find(figure.words.name);
      if (floor != floors.end()) {
        row.numbers.noise_floor_percent = std::max(row.numbers.noise_floor_percent, floor->second);
      }
      (row.numbers.paired ? any_paired : any_unpaired) = true;
      comparison.rows.push_back(std::move(row));
    }
    for (const auto& line :
         {doubts_about(cell, side_name(0)), doubts_about(*other, side_name(second))}) {
      if (line.empty()) continue;
      auto& notes = comparison.notes;
      if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
    }
  }
  const std::string pair = side_name(0) + " and " + side_name(second);
  if (any_paired) {
    comparison.notes.push_back(
        pair + " share the seeds of their rounds: compared round by round (paired)" +
        (any_unpaired ? " where no figure is 0" : ""));
  }
  if (left_out > 0) {
    comparison.notes.push_back(std::to_string(left_out) + " runs of " + pair +
                               " are left out: the other side has no run of their seed");
  }
}

void list_unmatched(Comparison& comparison, const std::vector<Results>& sides) {
  for (const auto& owner : sides) {
    for (const auto& cell : owner.cells) {
      UnmatchedCell unmatched{cell.name, {}};
      for (size_t side = 0; side < sides.size(); ++side) {
        if (cell_named(sides[side], cell.name) != nullptr) unmatched.sides.push_back(side);
      }
      const bool known =
          std::any_of(comparison.unmatched.begin(), comparison.unmatched.end(),
                      [&](const UnmatchedCell& other) { return other.cell == cell.name; });
      if (unmatched.sides.size() < sides.size() && !known) {
        comparison.unmatched.push_back(std::move(unmatched));
      }
    }
  }
}

Expected<void> check_ignored(const std::vector<Results>& sides,
                             const std::set<std::string>& ignored) {
  std::set<std::string> known;
  std::string list;
  for (const auto& side : sides) {
    for (const auto& name : work_field_names(sides.front(), side)) {
      if (known.insert(name).second) list += (list.empty() ? "" : ", ") + name;
    }
  }
  for (const auto& name : ignored) {
    if (!known.contains(name)) {
      return usage_problem("--ignore '" + name + "': is no field; there are " + list);
    }
  }
  return {};
}

}  // namespace

std::string side_name(size_t side) {
  return side < 26 ? std::string(1, static_cast<char>('A' + side)) : "S" + std::to_string(side + 1);
}

std::string difference_line(const WorkDifference& difference) {
  return difference.field + (difference.cell.empty() ? "" : " of " + difference.cell) + ": " +
         side_name(difference.first) + " has " + difference.first_value + ", " +
         side_name(difference.second) + " has " + difference.second_value;
}

Expected<Comparison> compare_results(const std::vector<Results>& sides,
                                     const std::vector<std::string>& sources,
                                     const ComparisonOptions& options) {
  if (auto known = check_ignored(sides, options.ignored_fields); !known) return known.error();
  Comparison comparison;
  for (size_t side = 0; side < sides.size(); ++side) {
    const auto& environment = sides[side].environment;
    const std::string host = text_at(environment, "host");
    const std::string started = text_at(environment, "started_at");
    comparison.sides.push_back(
        {sources[side], host + (host.empty() || started.empty() ? "" : ", ") + started});
  }
  comparison.environment = environment_lines(sides);
  list_unmatched(comparison, sides);
  for (size_t second = 1; second < sides.size(); ++second) {
    const bool shared = std::any_of(
        sides.front().cells.begin(), sides.front().cells.end(),
        [&](const auto& cell) { return cell_named(sides[second], cell.name) != nullptr; });
    if (!shared) {
      return usage_problem("'" + sources.front() + "' and '" + sources[second] +
                           "' have no cell in common");
    }
    for (auto& difference :
         work_differences(sides.front(), sides[second], 0, second, comparison.notes)) {
      const bool ignored = options.ignored_fields.contains(difference.field);
      (ignored ? comparison.ignored : comparison.refused).push_back(std::move(difference));
    }
  }
  if (!comparison.refused.empty()) return comparison;
  NoiseFloors floors;
  if (options.same_as_first != nullptr) {
    std::vector<std::string> unknown;
    const auto other = work_differences(sides.front(), *options.same_as_first, 0, 1, unknown);
    if (!other.empty()) {
      return usage_problem(
          "--same-as-first: that folder's work is another: " + other.front().field + " is " +
          other.front().second_value + ", not " + other.front().first_value);
    }
    floors = noise_between(sides.front(), *options.same_as_first);
    comparison.notes.push_back("the noise floor is what a second folder of A's system shows");
  }
  for (size_t second = 1; second < sides.size(); ++second) {
    compare_side(comparison, sides, second, floors);
  }
  judge_rows(comparison);
  return comparison;
}

void judge_rows(Comparison& comparison) {
  std::vector<SampleComparison*> all;
  for (auto& row : comparison.rows) all.push_back(&row.numbers);
  judge_all(all);
  for (auto& row : comparison.rows) {
    row.verdict = verdict_text(row.numbers, row.words, side_name(row.first), side_name(row.second));
  }
}

}  // namespace workload
