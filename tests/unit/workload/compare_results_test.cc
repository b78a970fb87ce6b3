#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/compared_results.h"
#include "workload/compare/comparison.h"
#include "workload/compare/comparison_page.h"
#include "workload/compare/comparison_text.h"
#include "workload/compare/work_equality.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing_support::FabricatedNoise;
using testing_support::noisy_results;

Comparison compared(const Results& first, const Results& second,
                    const ComparisonOptions& options = {}) {
  auto comparison = compare_results({first, second}, {"one", "two"}, options);
  EXPECT_TRUE(comparison) << comparison.error().text;
  return comparison ? *comparison : Comparison{};
}

FabricatedNoise side(uint64_t noise_seed, double slowdown = 0) {
  FabricatedNoise how;
  how.noise_seed = noise_seed;
  how.slowdown = slowdown;
  return how;
}

std::vector<std::string> refused_fields(const Comparison& comparison) {
  std::vector<std::string> fields;
  for (const auto& difference : comparison.refused) fields.push_back(difference.field);
  return fields;
}

bool finds(const Comparison& comparison, const std::string& figure) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(), [&](const auto& row) {
    return row.words.name == figure && row.numbers.standing == Standing::kDifferent;
  });
}

bool claims_anything(const Comparison& comparison) {
  return std::any_of(comparison.rows.begin(), comparison.rows.end(),
                     [](const auto& row) { return row.numbers.standing == Standing::kDifferent; });
}

TEST(CompareResults, FindsASlowdownOfFivePercentAndNothingWhereThereIsNone) {
  constexpr uint64_t kTrials = 20;
  uint64_t found = 0;
  uint64_t false_alarms = 0;
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const Results base = noisy_results(side(10 * trial + 1));
    const Comparison slower = compared(base, noisy_results(side(10 * trial + 2, 0.05)));
    if (finds(slower, "throughput_rps")) ++found;
    if (claims_anything(compared(base, noisy_results(side(10 * trial + 3))))) ++false_alarms;
  }
  EXPECT_GE(found * 10, kTrials * 9) << "of " << kTrials;
  EXPECT_LE(false_alarms * 20, kTrials) << "of " << kTrials;
}

TEST(CompareResults, SoItDoesWhereNoRoundsAreShared) {
  constexpr uint64_t kTrials = 20;
  uint64_t found = 0;
  uint64_t false_alarms = 0;
  ComparisonOptions options;
  options.ignored_fields = {"seed"};
  for (uint64_t trial = 0; trial < kTrials; ++trial) {
    const auto of = [&](uint64_t number, double slowdown) {
      FabricatedNoise how = side(10 * trial + number, slowdown);
      how.first_seed = (number + 1) * 1000 + trial * 20;
      how.between_seeds = 0.01;
      return noisy_results(how);
    };
    const Results base = of(1, 0);
    if (finds(compared(base, of(2, 0.05), options), "throughput_rps")) ++found;
    if (claims_anything(compared(base, of(3, 0), options))) ++false_alarms;
  }
  EXPECT_GE(found * 10, kTrials * 9) << "of " << kTrials;
  EXPECT_LE(false_alarms * 20, kTrials) << "of " << kTrials;
}

TEST(CompareResults, ASecondFolderOfTheSameSystemIsTheNoise) {
  const Results base = noisy_results(side(1));
  const Results slower = noisy_results(side(2, 0.05));
  EXPECT_TRUE(finds(compared(base, slower), "throughput_rps"));
  const Results noise = noisy_results(side(3, 0.08));
  ComparisonOptions options;
  options.same_as_first = &noise;
  EXPECT_FALSE(finds(compared(base, slower, options), "throughput_rps"));
  Results other = noise;
  other.experiment["load"] = "best-effort=1";
  options.same_as_first = &other;
  const auto refused = compare_results({base, slower}, {"one", "two"}, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("load is best-effort=1, not best-effort=64"));
}

TEST(CompareResults, OtherWorkIsRefusedByTheNameOfTheField) {
  const Results base = noisy_results(side(1));
  const auto refusal_of = [&](auto change) {
    Results other = noisy_results(side(2));
    change(other);
    const auto comparison = compared(base, other);
    EXPECT_EQ(comparison.rows.empty(), !comparison.refused.empty());
    return refused_fields(comparison);
  };
  EXPECT_THAT(refusal_of([](Results&) {}), IsEmpty());
  EXPECT_THAT(refusal_of([](Results& r) { r.work["workload_digest"] = "xxh3-128:2"; }),
              ElementsAre("workload"));
  EXPECT_THAT(refusal_of([](Results& r) { r.work["trace_digest"] = "xxh3-128:2"; }), IsEmpty());
  EXPECT_THAT(refusal_of([](Results& r) { r.experiment["trace"] = "access.log"; }),
              ElementsAre("trace"));
  EXPECT_THAT(refusal_of([](Results& r) { r.work["verification"] = "length"; }),
              ElementsAre("verification"));
  for (const char* option : {"load", "until", "time-scale", "phases", "memory", "any-other"}) {
    EXPECT_THAT(refusal_of([&](Results& r) { r.experiment[option] = "other"; }),
                ElementsAre(option));
  }
  EXPECT_THAT(refusal_of([](Results& r) {
                r.experiment["scheme-options"] = boost::json::object{{"ufs", "l1=4"}};
              }),
              ElementsAre("scheme-options"));
  EXPECT_THAT(refusal_of([](Results& r) { r.cells[0].cache_size_bytes += 1; }),
              ElementsAre("cache-size"));
  EXPECT_THAT(refusal_of([](Results& r) { r.cells[1].disks = 2; }), ElementsAre("disks"));
  EXPECT_THAT(refusal_of([](Results& r) {
                for (auto& run : r.cells[0].runs) {
                  run["bytes_received"] = count_at(run, "bytes_received") * 1.03;
                }
              }),
              ElementsAre("mean-response-bytes"));
  EXPECT_THAT(refusal_of([](Results& r) {
                for (auto& run : r.cells[0].runs) run["seed"] = count_at(run, "seed") + 100;
              }),
              ElementsAre("seed"));
  // Where, how often and by which program is no work.
  for (const char* option : {"repeat", "order", "directory", "proxy-options", "system-options",
                             "vary", "variant", "user"}) {
    EXPECT_THAT(refusal_of([&](Results& r) { r.experiment[option] = "other"; }), IsEmpty());
  }
}

TEST(CompareResults, OfStaticServersFileAndLoadAreTheWork) {
  const auto static_side = [](uint64_t noise_seed) {
    Results results = noisy_results(side(noise_seed));
    results.experiment.erase("workload");
    results.experiment["load"] = "ab=10,requests=100000";
    results.experiment["file-size"] = "57244";
    results.work["workload_digest"] = nullptr;
    results.work["file_digest"] = "xxh3-128:1";
    for (auto& cell : results.cells) cell.cache_size_bytes = 0;
    return results;
  };
  const Results base = static_side(1);
  const auto refusal_of = [&](auto change) {
    Results other = static_side(2);
    change(other);
    return refused_fields(compared(base, other));
  };
  EXPECT_THAT(refusal_of([](Results&) {}), IsEmpty());
  for (const char* load : {"ab=11,requests=100000", "ab=10,requests=100001", "ab=10",
                           "ab=10,requests=100000,keep-alive", "ab=10,requests=100000,gzip"}) {
    EXPECT_THAT(refusal_of([&](Results& r) { r.experiment["load"] = load; }), ElementsAre("load"));
  }
  EXPECT_THAT(refusal_of([](Results& r) { r.experiment["file-size"] = "151"; }),
              ElementsAre("file-size"));
  EXPECT_THAT(refusal_of([](Results& r) { r.work["file_digest"] = "xxh3-128:2"; }),
              ElementsAre("file"));
  const auto again = results_from_json(results_to_json(base), "a");
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(results_to_json(base).at("cells").at(0).at("cache_size_bytes").is_null());
  EXPECT_EQ(again->cells[0].cache_size_bytes, 0U);
}

TEST(CompareResults, ADifferenceCanBeIgnoredAndIsMarked) {
  const Results base = noisy_results(side(1));
  Results other = noisy_results(side(2));
  other.cells[0].cache_size_bytes = 2ULL << 30;
  ComparisonOptions options;
  options.ignored_fields = {"cache-size"};
  const auto comparison = compared(base, other, options);
  EXPECT_THAT(comparison.refused, IsEmpty());
  EXPECT_THAT(comparison.rows, Not(IsEmpty()));
  EXPECT_THAT(
      comparison_text(comparison, false),
      HasSubstr(
          "IGNORED, the work differs: cache-size of memory: A has 1.00 GiB (1073741824 bytes), B"));
  EXPECT_THAT(comparison_csv(comparison), HasSubstr(",false\n"));
  options.ignored_fields = {"colour"};
  const auto wrong = compare_results({base, other}, {"one", "two"}, options);
  ASSERT_FALSE(wrong);
  EXPECT_TRUE(wrong.error().usage);
  EXPECT_THAT(wrong.error().text, HasSubstr("--ignore 'colour': is no field; there are workload"));
}

TEST(CompareResults, RoundsThatOnlyOneSideHasAreLeftOut) {
  FabricatedNoise more = side(2);
  more.rounds = 13;
  const auto comparison = compared(noisy_results(side(1)), noisy_results(more));
  ASSERT_THAT(comparison.rows, Not(IsEmpty()));
  EXPECT_TRUE(comparison.rows[0].numbers.paired);
  EXPECT_EQ(comparison.rows[0].numbers.second.n, 10U);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("6 runs of A and B are left out")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("round by round")));
}

TEST(CompareResults, WhatOnlyOneSideHasIsListed) {
  const Results base = noisy_results(side(1));
  Results other = noisy_results(side(2));
  other.cells[1].name = "aufs-here";
  const auto comparison = compared(base, other);
  ASSERT_THAT(comparison.unmatched, SizeIs(2));
  const std::string text = comparison_text(comparison, false);
  EXPECT_THAT(text, HasSubstr("only in A: ufs-here\n"));
  EXPECT_THAT(text, HasSubstr("only in B: aufs-here\n"));
  other.cells[0].name = "none";
  const auto nothing = compare_results({base, other}, {"one", "two"}, {});
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().text, HasSubstr("have no cell in common"));
}

TEST(CompareResults, OlderResultsWithoutADigestAreComparedByName) {
  const Results base = noisy_results(side(1));
  Results older = noisy_results(side(2));
  older.work.clear();
  const auto comparison = compared(base, older);
  EXPECT_THAT(comparison.refused, IsEmpty());
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("by its name alone ('polymix4'): B has no")));
  older.experiment["workload"] = "simple";
  EXPECT_THAT(refused_fields(compared(base, older)), ElementsAre("workload"));
}

TEST(CompareResults, EnvironmentsStandSideBySide) {
  Results base = noisy_results(side(1));
  Results other = noisy_results(side(2));
  base.environment["operating_system"] = "Debian GNU/Linux 12";
  other.environment["operating_system"] = "FreeBSD\x1b[2J 14";
  other.environment["versions"] = {{"compiler", boost::json::array{1, 2}}};
  const auto comparison = compared(base, other);
  const std::string text = comparison_text(comparison, false);
  EXPECT_THAT(text, HasSubstr("* operating system  Debian GNU/Linux 12"));
  EXPECT_THAT(text, HasSubstr("FreeBSD?[2J 14"));
  EXPECT_THAT(text, HasSubstr("  host              here\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(comparison_text(compared(base, noisy_results(side(2, 0.05))), true),
              HasSubstr("\x1b[1mB is"));
}

TEST(CompareResults, OnlyKernelSettingsThatDifferAreShown) {
  Results base = noisy_results(side(1));
  Results other = noisy_results(side(2));
  base.environment["kernel_settings"] = {
      {"net.core.somaxconn", "4096"}, {"vm.dirty_ratio", "20"}, {"fs.file-max", "1"}};
  other.environment["kernel_settings"] = {{"net.core.somaxconn", "128"}, {"vm.dirty_ratio", "20"}};
  const std::string text = comparison_text(compared(base, other), false);
  EXPECT_THAT(text, HasSubstr("* net.core.somaxconn  4096"));
  EXPECT_THAT(text, HasSubstr("* fs.file-max"));
  EXPECT_THAT(text, Not(HasSubstr("vm.dirty_ratio")));
  // An older folder says nothing of them.
  other.environment.erase("kernel_settings");
  EXPECT_THAT(comparison_text(compared(base, other), false), Not(HasSubstr("somaxconn")));
}

TEST(CompareResults, DoubtfulRunsMarkTheirRows) {
  const Results base = noisy_results(side(1));
  Results other = noisy_results(side(2));
  other.cells[0].runs[3]["valid"] = false;
  other.cells[0].runs[3]["warnings"] = boost::json::array{"the clock was set"};
  const auto comparison = compared(base, other);
  EXPECT_FALSE(comparison.rows[0].valid);
  EXPECT_TRUE(comparison.rows.back().valid);
  EXPECT_THAT(comparison.notes,
              Contains("memory of B: 1 run is not valid, e.g.: the clock was set"));
}

TEST(CompareResults, ThreeSidesAreEachComparedWithTheFirst) {
  const auto comparison = compare_results(
      {noisy_results(side(1)), noisy_results(side(2)), noisy_results(side(3, 0.05))},
      {"one", "two", "three"}, {});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->rows.size(), 24U);
  EXPECT_THAT(comparison_text(*comparison, false), HasSubstr("C is "));
  const auto json = comparison_json(*comparison);
  EXPECT_EQ(json.at("rows").as_array().size(), 24U);
  EXPECT_EQ(text_at(json.at("rows").as_array().back().as_object(), "second"), "C");
}

TEST(CompareResults, ThePageEscapesAndTheFigureHasALineARatio) {
  Results other = noisy_results(side(2));
  other.environment["host"] = "<script>";
  const auto comparison = compared(noisy_results(side(1)), other);
  const std::string page = comparison_page(comparison, "");
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  const Figure figure = ratios_figure(comparison);
  EXPECT_EQ(std::count(figure.data.begin(), figure.data.end(), '\n'), 13);
  EXPECT_THAT(figure.script, HasSubstr("xerrorbars"));
}

}  // namespace
}  // namespace workload
