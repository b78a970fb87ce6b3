// The effects of variants on made-up samples: one that is there, none where there is none, and none
// where base and variant are the same configuration.
#include "workload/compare/option_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/compared_results.h"
#include "tests/support/temp_dir.h"
#include "workload/compare/effects_report.h"
#include "workload/experiment/variation.h"
#include "workload/report/json_text.h"
#include "workload/report/report.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using testing_support::FabricatedNoise;
using testing_support::noisy_results;

/// A variant as it is made up.
struct MadeUpVariant {
  std::string name;
  double slowdown = 0;
  std::string event_method{};  ///< As it is written; empty: not at all.
};

/// The two cells of noisy_results(), each with these variants. `trial` is of the noise.
Results experiment_with(const std::vector<MadeUpVariant>& variants, uint64_t trial = 1,
                        unsigned rounds = 10) {
  FabricatedNoise how;
  how.noise_seed = 1000 * trial;
  how.rounds = rounds;
  Results results = noisy_results(how);
  const auto configure = [](CellResult& cell, const std::string& name, const std::string& method) {
    cell.variant = name;
    // Everything but the event method differs by the variant's name.
    cell.configuration = {{"events", "use", method.empty() ? "epoll" : method, method}};
    if (method.empty() && name != kBaseVariant) {
      cell.configuration.push_back({"http", "name", name, name});
    }
  };
  std::vector<CellResult> cells;
  for (auto& base : results.cells) {
    configure(base, std::string(kBaseVariant), "");
    cells.push_back(base);
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    how.noise_seed = 1000 * trial + i + 1;
    how.slowdown = variants[i].slowdown;
    for (auto& cell : noisy_results(how).cells) {
      cell.variant_of = cell.name;
      cell.name += "-" + std::to_string(i);
      configure(cell, variants[i].name, variants[i].event_method);
      cells.push_back(cell);
    }
  }
  results.cells = std::move(cells);
  return results;
}

const EffectRow* row_of(const OptionEffects& effects, const std::string& cell,
                        const std::string& figure) {
  const auto found = std::find_if(
      effects.rows.begin(), effects.rows.end(),
      [&](const EffectRow& row) { return row.cell == cell && row.words.name == figure; });
  return found == effects.rows.end() ? nullptr : &*found;
}

size_t claims(const OptionEffects& effects) {
  return static_cast<size_t>(std::count_if(
      effects.rows.begin(), effects.rows.end(),
      [](const EffectRow& row) { return row.numbers.standing == Standing::kDifferent; }));
}

TEST(OptionEffects, AnEffectOfSevenPercentIsFound) {
  constexpr uint64_t kTrials = 20;
  uint64_t found = 0;
  for (uint64_t trial = 1; trial <= kTrials; ++trial) {
    const auto effects = option_effects(experiment_with({{"slow", 0.07}, {"as fast", 0}}, trial));
    const auto* row = row_of(effects, "memory-0", "throughput_rps");
    ASSERT_NE(row, nullptr);
    if (outcome_of(*row) != "different") continue;
    ++found;
    EXPECT_THAT(row->verdict, StartsWith("-"));
    EXPECT_THAT(row->verdict, HasSubstr(" % ["));
    EXPECT_NEAR(*row->numbers.ratio.median, 1 / 1.07, 0.03);
  }
  EXPECT_GE(found * 10, kTrials * 9) << "of " << kTrials;
}

TEST(OptionEffects, NoneIsFoundWhereThereIsNoneHoweverManyVariantsThereAre) {
  constexpr uint64_t kTrials = 20;
  std::vector<MadeUpVariant> variants;
  for (int i = 0; i < 10; ++i) variants.push_back({"variant " + std::to_string(i)});
  uint64_t false_alarms = 0;
  uint64_t without_correction = 0;
  for (uint64_t trial = 1; trial <= kTrials; ++trial) {
    const auto effects = option_effects(experiment_with(variants, trial));
    // Four figures of two cells: there is no 99th percentile.
    EXPECT_EQ(effects.rows.size(), 80U);
    if (claims(effects) > 0) ++false_alarms;
    without_correction +=
        std::any_of(effects.rows.begin(), effects.rows.end(),
                    [](const EffectRow& row) { return row.numbers.p.value_or(1) < 0.05; });
  }
  EXPECT_LE(false_alarms * 10, kTrials) << "of " << kTrials;
  EXPECT_GE(without_correction * 10, kTrials * 9) << "the correction has nothing to correct";
}

TEST(OptionEffects, TheSameConfigurationHasNoEffectWhateverTheFiguresSay) {
  const auto effects =
      option_effects(experiment_with({{"epoll named", 0.3, "epoll"}, {"select", 0.3, "select"}}));
  const auto* same = row_of(effects, "memory-0", "throughput_rps");
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(outcome_of(*same), "same_configuration");
  EXPECT_EQ(same->numbers.standing, Standing::kDifferent);
  EXPECT_EQ(same->verdict, "the same configuration: `use epoll` is the default here");
  const auto* other = row_of(effects, "memory-1", "throughput_rps");
  EXPECT_EQ(outcome_of(*other), "different");
  ASSERT_THAT(effects.same, SizeIs(2));
  EXPECT_EQ(effects.same[0].first, kBaseVariant);
  EXPECT_EQ(effects.same[0].second, "epoll named");
  const std::string text = effects_text(effects);
  EXPECT_THAT(text, HasSubstr("the same configuration: `use epoll` is the default here\n"));
  EXPECT_THAT(text, HasSubstr("told apart: Holm over all 16 rows of the table"));
}

TEST(OptionEffects, TwoVariantsCanBeTheSame) {
  const auto effects =
      option_effects(experiment_with({{"select", 0, "select"}, {"select again", 0, "select"}}));
  ASSERT_THAT(effects.same, SizeIs(2));
  EXPECT_EQ(effects.same[0].first, "select");
  EXPECT_EQ(effects.same[0].reason, "`select again` is what the variant `select` has already");
  EXPECT_THAT(
      effects.notes,
      Contains(HasSubstr("memory: `select` and `select again` are the same configuration")));
}

TEST(OptionEffects, WhatTheSystemsSaidInTheirRunsCounts) {
  Results results = experiment_with({{"epoll named", 0, "epoll"}});
  const auto say = [&](size_t cell, const char* method) {
    for (auto& run : results.cells[cell].runs) run["system_said"] = {{"events.use", method}};
  };
  // The base's and the variant's cells of `memory` are the first and the third.
  say(0, "epoll");
  say(2, "epoll");
  auto effects = option_effects(results);
  EXPECT_EQ(row_of(effects, "memory-0", "throughput_rps")->verdict,
            "the same configuration: `use epoll` is what it takes here by itself, as its log says");
  say(0, "poll");
  effects = option_effects(results);
  EXPECT_EQ(outcome_of(*row_of(effects, "memory-0", "throughput_rps")), "same");
  // One run that says nothing is nothing that could be held against what is known.
  results.cells[0].runs[3].erase("system_said");
  effects = option_effects(results);
  EXPECT_EQ(outcome_of(*row_of(effects, "memory-0", "throughput_rps")), "same_configuration");
}

TEST(OptionEffects, TooFewRunsAreSaid) {
  const auto effects = option_effects(experiment_with({{"slow", 0.5}}, 1, 2));
  EXPECT_EQ(row_of(effects, "memory-0", "throughput_rps")->verdict,
            "not told apart: too few runs (2 of 6 needed)");
  Results results = experiment_with({{"slow", 0.5}});
  results.cells[2].runs.clear();
  EXPECT_EQ(row_of(option_effects(results), "memory-0", "throughput_rps")->verdict,
            "no valid result in slow");
  // A base that was skipped has nothing to be compared with.
  results.cells.erase(results.cells.begin());
  EXPECT_EQ(row_of(option_effects(results), "memory-0", "throughput_rps"), nullptr);
}

TEST(OptionEffects, CellsOfWhichOnlyOneLogsHaveTheRequestsOfTheRobots) {
  Results results = experiment_with({{"no log", 0}});
  for (auto& run : results.cells[0].runs) {
    const double requests = static_cast<double>(count_at(run, "requests"));
    run["access_log"] = {{"requests", requests * 1.3}, {"aborted", 0}};
  }
  const auto effects = option_effects(results);
  const auto* row = row_of(effects, "memory-0", "proxy_cpu_us_per_request");
  EXPECT_NEAR(*row->numbers.ratio.median, 1, 0.05);
}

TEST(OptionEffects, ThePercentileHasARowAndHitsOnlyWhereThereAreAny) {
  Results results = experiment_with({{"a", 0}});
  for (auto& cell : results.cells) {
    for (auto& run : cell.runs) {
      run["response_time_ms"].as_object()["p99"] = 12.5;
      run["hit_ratio_percent"] = 0;
    }
  }
  const auto effects = option_effects(results);
  const auto* row = row_of(effects, "memory-0", "response_time_p99_ms");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->verdict, "no difference seen");
  EXPECT_EQ(row_of(effects, "memory-0", "hit_ratio_percent"), nullptr);
}

TEST(OptionEffects, AreWrittenAndDrawnAndOnlyWhereSomethingWasVaried) {
  const testing_support::TempDir folder;
  Results results = experiment_with({{"slow", 0.2}, {"<b>\x1b[2J", 0.0}});
  results.cells[4].runs[0]["valid"] = false;
  const auto json_of_results = results_to_json(results);
  const auto again = results_from_json(json_of_results, "results.json");
  ASSERT_TRUE(again) << again.error().text;
  const auto addition = write_effects(folder.path(), *again);
  ASSERT_TRUE(addition) << addition.error().text;
  EXPECT_THAT(addition->text, HasSubstr("! no difference seen"));
  EXPECT_THAT(addition->text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(addition->html, HasSubstr("&lt;b&gt;"));
  const auto json = read_json_object(folder.path() / "effects.json");
  ASSERT_TRUE(json);
  EXPECT_EQ(count_at(*json, "comparisons"), 16U);
  EXPECT_EQ(text_at(*json, "correction"), "holm");
  const auto& row = json->at("rows").at(0).as_object();
  EXPECT_EQ(text_at(row, "variant"), "slow");
  EXPECT_EQ(text_at(row, "outcome"), "different");
  EXPECT_NEAR(*number_at(row, "effect_percent"), -16.7, 3);
  const auto csv = read_file(folder.path() / "effects.csv", 1 << 20);
  ASSERT_TRUE(csv);
  EXPECT_EQ(std::count(csv->begin(), csv->end(), '\n'), 17);
  EXPECT_THAT(*csv, HasSubstr("memory,memory-0,slow,throughput_rps,"));
  EXPECT_THAT(summary_csv(summarise(*again)), HasSubstr(",memory-0,"));
  EXPECT_THAT(summary_csv(summarise(*again)), HasSubstr(",slow\n"));
  EXPECT_THAT(summary_text(*again, summarise(*again)), HasSubstr("memory, slow"));

  const auto report = write_report(folder.path(), *again, *addition);
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_THAT(report->table, HasSubstr("effects of the options"));
  EXPECT_THAT(*read_file(report->page, 64 << 20), HasSubstr("<h2 id=\"effects\">"));

  const testing_support::TempDir other;
  const auto nothing = write_effects(other.path(), noisy_results({}));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->text + nothing->html, "");
  EXPECT_FALSE(std::filesystem::exists(other.path() / "effects.csv"));
}

}  // namespace
}  // namespace workload
