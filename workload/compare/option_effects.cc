#include "workload/compare/option_effects.h"

#include <algorithm>
#include <map>

#include "workload/compare/figure_samples.h"
#include "workload/experiment/variation.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

std::optional<double> slow_response_ms(const boost::json::object& run) {
  return number_at(run, "response_time_ms.p99");
}

constexpr ComparedFigure kSlowResponses{
    {"response_time_p99_ms", "response time p99, ms", "takes", "longer", "less time"},
    slow_response_ms};

std::vector<ComparedFigure> effect_figures() {
  std::vector<ComparedFigure> figures;
  for (const std::string_view name :
       {"throughput_rps", "proxy_cpu_us_per_request", "response_time_ms", "hit_ratio_percent"}) {
    const auto all = compared_figures();
    const auto found = std::find_if(all.begin(), all.end(), [&](const ComparedFigure& figure) {
      return figure.words.name == name;
    });
    if (found == all.end()) continue;
    figures.push_back(*found);
    if (name == "response_time_ms") figures.push_back(kSlowResponses);
  }
  return figures;
}

bool logs_requests(const CellResult& cell) {
  const auto runs = counting_runs(cell);
  return std::all_of(runs.begin(), runs.end(), [](const auto* run) {
    return number_at(*run, "access_log.requests").value_or(0) > 0;
  });
}

/// Where one of two logs and the other does not, both have the requests of the robots: a log holds
/// the warm-up too.
ComparedFigure fair_figure(ComparedFigure figure, const CellResult& base, const CellResult& cell) {
  if (figure.words.name == "proxy_cpu_us_per_request" &&
      (!logs_requests(base) || !logs_requests(cell))) {
    figure.read = cpu_us_a_sent_request;
  }
  return figure;
}

bool is_nothing(const Sample& sample) {
  return std::all_of(sample.begin(), sample.end(),
                     [](const SampleValue& run) { return run.value == 0; });
}

/// What the system said of its settings in all of the cell's runs that count; a setting of which
/// the runs say different things, or one says nothing, is left out.
std::map<std::string, std::string> said_in_all_runs(const CellResult& cell) {
  std::map<std::string, std::string> said;
  bool is_first = true;
  for (const auto* run : counting_runs(cell)) {
    std::map<std::string, std::string> now;
    if (const auto* value = run->if_contains("system_said"); value && value->is_object()) {
      for (const auto& member : value->get_object()) {
        if (member.value().is_string()) now[member.key()] = member.value().get_string();
      }
    }
    if (is_first) said = now;
    std::erase_if(said, [&](const auto& setting) {
      const auto again = now.find(setting.first);
      return again == now.end() || again->second != setting.second;
    });
    is_first = false;
  }
  return said;
}

/// A base and its variants, with their configurations as they ran.
struct Family {
  const CellResult* base = nullptr;
  std::vector<const CellResult*> variants;
  std::map<const CellResult*, EffectiveConfiguration> configurations;
};

std::vector<Family> families_of(const Results& results) {
  std::vector<Family> families;
  for (const auto& base : results.cells) {
    if (base.variant.empty() || !base.variant_of.empty()) continue;
    Family family;
    family.base = &base;
    family.configurations[&base] = base.configuration;
    for (const auto& cell : results.cells) {
      if (cell.variant_of != base.name) continue;
      family.variants.push_back(&cell);
      family.configurations[&cell] = cell.configuration;
    }
    auto common = said_in_all_runs(base);
    for (const auto* cell : family.variants) {
      const auto said = said_in_all_runs(*cell);
      std::erase_if(common, [&](const auto& one) { return !said.contains(one.first); });
    }
    // One that said nothing could not be compared with the others otherwise.
    for (auto& [cell, configuration] : family.configurations) {
      auto said = said_in_all_runs(*cell);
      std::erase_if(said, [&](const auto& one) { return !common.contains(one.first); });
      apply_said(configuration, said);
    }
    families.push_back(std::move(family));
  }
  return families;
}

/// Why two cells of a family are the same configuration, never empty; nothing where they are not.
std::optional<std::string> same_because(const Family& family, const CellResult& first,
                                        const CellResult& second) {
  auto reason = why_same(family.configurations.at(&first), family.configurations.at(&second));
  if (reason && reason->empty()) {
    *reason =
        "`" + second.variant + "` is what " +
        (&first == family.base ? std::string("the base") : "the variant `" + first.variant + "`") +
        " has already";
  }
  return reason;
}

void find_same(const Family& family, OptionEffects& effects) {
  std::vector<const CellResult*> cells{family.base};
  cells.insert(cells.end(), family.variants.begin(), family.variants.end());
  for (size_t second = 1; second < cells.size(); ++second) {
    // With the first that is the same: the others of its kind are known to be by then.
    for (size_t first = 0; first < second; ++first) {
      auto reason = same_because(family, *cells[first], *cells[second]);
      if (!reason) continue;
      effects.same.push_back(
          {family.base->name, cells[first]->variant, cells[second]->variant, std::move(*reason)});
      break;
    }
  }
}

void add_rows(const Family& family, const CellResult& cell, const Results& results,
              OptionEffects& effects) {
  const CellResult& base = *family.base;
  const auto same = same_because(family, base, cell);
  for (const auto& plain : effect_figures()) {
    const ComparedFigure figure = fair_figure(plain, base, cell);
    Sample first = sample_of(base, results, figure);
    Sample second = sample_of(cell, results, figure);
    const bool is_throughput = figure.words.name == "throughput_rps";
    // A figure that a side never tells has no row, but that of the throughput always stands.
    if (!is_throughput && (first.empty() || second.empty())) continue;
    if (!is_throughput && is_nothing(first) && is_nothing(second)) continue;
    keep_shared_rounds(first, second);
    effects.rows.push_back({base.name,
                            cell.name,
                            cell.variant,
                            figure.words,
                            compare_samples(first, second),
                            all_runs_valid(base) && all_runs_valid(cell),
                            same,
                            {}});
  }
}

std::string verdict_of(const EffectRow& row) {
  if (row.same) return "the same configuration: " + *row.same;
  const std::string effect = effect_text(row.numbers.ratio);
  if (row.numbers.standing == Standing::kDifferent && !effect.empty()) return effect;
  return verdict_text(row.numbers, row.words, "the base", row.variant);
}

}  // namespace

OptionEffects option_effects(const Results& results) {
  OptionEffects effects;
  for (const auto& family : families_of(results)) {
    for (const auto* cell : family.variants) add_rows(family, *cell, results, effects);
    find_same(family, effects);
  }
  std::vector<SampleComparison*> all;
  for (auto& row : effects.rows) all.push_back(&row.numbers);
  judge_all(all);
  bool any_paired = false;
  for (auto& row : effects.rows) {
    row.verdict = verdict_of(row);
    any_paired = any_paired || row.numbers.paired;
  }
  if (any_paired) {
    effects.notes.emplace_back(
        "compared round by round (paired), as base and variants did the same work in each");
  }
  for (const auto& same : effects.same) {
    if (same.first == kBaseVariant) continue;
    effects.notes.push_back(same.base_cell + ": `" + same.first + "` and `" + same.second +
                            "` are the same configuration: " + same.reason);
  }
  return effects;
}

std::string outcome_of(const EffectRow& row) {
  return row.same ? "same_configuration" : std::string(standing_name(row.numbers.standing));
}

}  // namespace workload
