#include "workload/compare/effects_report.h"

#include <algorithm>

#include "workload/compare/aligned_lines.h"
#include "workload/compare/comparison_text.h"
#include "workload/report/html_text.h"
#include "workload/report/json_text.h"
#include "workload/report/printable_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr uint64_t kEffectsSchemaVersion = 1;

std::optional<double> percent_of(const std::optional<double>& ratio) {
  if (!ratio) return std::nullopt;
  return 100 * (*ratio - 1);
}

std::string effect_or_dash(const EffectRow& row) {
  const std::string effect = effect_text(row.numbers.ratio);
  return effect.empty() ? "-" : effect;
}

/// What the correction was made for.
std::string correction_text(const OptionEffects& effects) {
  const size_t rows = effects.rows.size();
  return "told apart: Holm over all " + std::to_string(rows) + (rows == 1 ? " row" : " rows") +
         " of the table, 5 %; nothing below the noise between rounds is claimed";
}

bool any_doubt(const OptionEffects& effects) {
  return std::any_of(effects.rows.begin(), effects.rows.end(),
                     [](const EffectRow& row) { return !row.valid; });
}

boost::json::object effect_row_json(const EffectRow& row) {
  const auto& ratio = row.numbers.ratio;
  return {{"base_cell", row.base_cell},
          {"cell", row.cell},
          {"variant", row.variant},
          {"figure", row.words.name},
          {"base", estimate_json(row.numbers.first)},
          {"value", estimate_json(row.numbers.second)},
          {"effect_percent", json_number(percent_of(ratio.median))},
          {"effect_low_percent", json_number(percent_of(ratio.low))},
          {"effect_high_percent", json_number(percent_of(ratio.high))},
          {"paired", row.numbers.paired},
          {"p", json_number(row.numbers.p)},
          {"adjusted_p", json_number(row.numbers.adjusted_p)},
          {"noise_floor_percent", row.numbers.noise_floor_percent},
          {"runs", row.numbers.runs},
          {"runs_needed", row.numbers.runs_needed},
          {"same_configuration", row.same ? boost::json::value(*row.same) : nullptr},
          {"outcome", outcome_of(row)},
          {"outcome_of_figures", standing_name(row.numbers.standing)},
          {"verdict", row.verdict},
          {"valid", row.valid}};
}

}  // namespace

std::string effects_text(const OptionEffects& effects) {
  std::vector<AlignedLine> lines;
  lines.push_back({{"base", "variant", "figure", "base's", "variant's", "effect", "verdict"}, {}});
  const EffectRow* last = nullptr;
  for (const auto& row : effects.rows) {
    // Each name once: the eye finds the variants by them.
    const bool goes_on = last != nullptr && last->cell == row.cell;
    lines.push_back({{goes_on ? "" : printable(row.base_cell),
                      goes_on ? "" : printable(row.variant), std::string(row.words.title),
                      figure_text(row.numbers.first.median), figure_text(row.numbers.second.median),
                      effect_or_dash(row), (row.valid ? "" : "! ") + printable(row.verdict)},
                     {}});
    last = &row;
  }
  std::string out = "\neffects of the options, each variant against its base\n\n" + align(lines) +
                    "\nmedians over the runs; effect: with its 95 % bootstrap interval\n" +
                    correction_text(effects) + '\n';
  if (any_doubt(effects)) out += "! not valid as it stands: see the notes of the cells\n";
  for (const auto& note : effects.notes) out += "note: " + printable(note) + '\n';
  return out;
}

std::string effects_csv(const OptionEffects& effects) {
  std::string out =
      "base_cell,cell,variant,figure,base_median,base_low,base_high,base_runs,median,low,high,runs,"
      "effect_percent,effect_low_percent,effect_high_percent,paired,p,adjusted_p,"
      "noise_floor_percent,outcome,outcome_of_figures,same_configuration,verdict,valid\n";
  for (const auto& row : effects.rows) {
    const auto& numbers = row.numbers;
    out += csv_field(row.base_cell) + ',' + csv_field(row.cell) + ',' + csv_field(row.variant) +
           ',' + std::string(row.words.name);
    for (const auto* side : {&numbers.first, &numbers.second}) {
      out += ',' + csv_number(side->median) + ',' + csv_number(side->low) + ',' +
             csv_number(side->high) + ',' + std::to_string(side->n);
    }
    for (const auto& ratio : {numbers.ratio.median, numbers.ratio.low, numbers.ratio.high}) {
      out += ',' + csv_number(percent_of(ratio));
    }
    out += std::string(numbers.paired ? ",true" : ",false") + ',' + csv_number(numbers.p) + ',' +
           csv_number(numbers.adjusted_p) + ',' + csv_number(numbers.noise_floor_percent) + ',' +
           outcome_of(row) + ',' + std::string(standing_name(numbers.standing)) + ',' +
           csv_field(row.same.value_or("")) + ',' + csv_field(row.verdict) +
           (row.valid ? ",true" : ",false") + '\n';
  }
  return out;
}

boost::json::object effects_json(const OptionEffects& effects) {
  boost::json::array rows;
  for (const auto& row : effects.rows) rows.emplace_back(effect_row_json(row));
  boost::json::array same;
  for (const auto& pair : effects.same) {
    same.push_back({{"base_cell", pair.base_cell},
                    {"first", pair.first},
                    {"second", pair.second},
                    {"reason", pair.reason}});
  }
  boost::json::array notes;
  for (const auto& note : effects.notes) notes.emplace_back(note);
  return {{"schema_version", kEffectsSchemaVersion},
          {"cacheoff_version", CACHEOFF_VERSION},
          {"correction", "holm"},
          {"comparisons", effects.rows.size()},
          {"rows", std::move(rows)},
          {"same_configurations", std::move(same)},
          {"notes", std::move(notes)}};
}

std::string effects_section(const OptionEffects& effects) {
  std::string out =
      "<h2 id=\"effects\">Effects of the options</h2>\n<div class=\"scroll\"><table "
      "class=\"sortable\">\n<thead><tr><th scope=\"col\">base</th><th scope=\"col\">variant</th>"
      "<th scope=\"col\">figure</th><th scope=\"col\" class=\"n\">base's</th>"
      "<th scope=\"col\" class=\"n\">variant's</th><th scope=\"col\" class=\"n\">effect, %</th>"
      "<th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n";
  for (const auto& row : effects.rows) {
    out += std::string(row.valid ? "<tr>" : "<tr class=\"invalid\">") + "<th scope=\"row\">" +
           html_escape(row.base_cell) + "</th>" + html_text_cell(row.variant) +
           html_text_cell(row.words.title) + html_figure_cell(row.numbers.first.median) +
           html_figure_cell(row.numbers.second.median) + "<td class=\"n\"" +
           html_sort_value(percent_of(row.numbers.ratio.median)) + ">" +
           html_escape(effect_or_dash(row)) + "</td>" + html_text_cell(row.verdict) + "</tr>\n";
  }
  out +=
      "</tbody></table></div>\n<p>Medians over the runs; each effect is of the variant against "
      "its base, with its 95&nbsp;% bootstrap interval. " +
      html_escape(correction_text(effects)) + ". Grey rows are not valid as they stand.</p>\n";
  if (effects.notes.empty()) return out;
  out += "<ul>\n";
  for (const auto& note : effects.notes) out += "<li>" + html_escape(note) + "</li>\n";
  return out + "</ul>\n";
}

Expected<ReportAddition> write_effects(const std::filesystem::path& folder,
                                       const Results& results) {
  const OptionEffects effects = option_effects(results);
  if (effects.rows.empty()) return ReportAddition{};
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"effects.csv", effects_csv(effects)},
        {"effects.json", to_pretty_json(effects_json(effects))}}) {
    if (auto done = write_file(folder / name, text); !done) return done.error();
  }
  return ReportAddition{effects_text(effects), effects_section(effects)};
}

}  // namespace workload
