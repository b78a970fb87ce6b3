#include "workload/compare/comparison_page.h"

#include <algorithm>

#include "workload/compare/comparison_text.h"
#include "workload/report/html_report.h"
#include "workload/report/html_text.h"
#include "workload/report/json_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr uint64_t kComparisonSvgBytesMax = 32ULL << 20;
/// More would be a picture that nobody can read; the table has them all.
constexpr size_t kRatiosDrawnMax = 120;
constexpr unsigned kRatioHeight = 22;

std::string table_cell(const std::string& text, bool is_number = false) {
  return std::string(is_number ? "<td class=\"n\">" : "<td>") + html_escape(text) + "</td>";
}

std::string sides_table(const Comparison& comparison) {
  std::string out = "<div class=\"scroll\"><table>\n<tr><th></th>";
  for (size_t side = 0; side < comparison.sides.size(); ++side) {
    out += "<th>" + side_name(side) + "</th>";
  }
  out += "</tr>\n<tr><td>source</td>";
  for (const auto& side : comparison.sides) out += table_cell(side.source);
  out += "</tr>\n";
  for (const auto& line : comparison.environment) {
    out += "<tr>" + table_cell(line.key + (line.differs ? " *" : ""));
    for (const auto& value : line.values) out += table_cell(value);
    out += "</tr>\n";
  }
  return out + "</table></div>\n<p>* differs</p>\n";
}

std::string rows_table(const Comparison& comparison) {
  if (comparison.rows.empty()) return {};
  std::string out =
      "<div class=\"scroll\"><table>\n<tr><th>cell</th><th>figure</th><th>sides</th>"
      "<th class=\"n\">first</th><th class=\"n\">second</th><th class=\"n\">ratio</th>"
      "<th>verdict</th></tr>\n";
  for (const auto& row : comparison.rows) {
    out += std::string(row.valid ? "<tr>" : "<tr class=\"invalid\">") + table_cell(row.cell) +
           table_cell(std::string(row.words.title)) +
           table_cell(side_name(row.first) + " " + side_name(row.second)) +
           table_cell(estimate_text(row.numbers.first), true) +
           table_cell(estimate_text(row.numbers.second), true) +
           table_cell(ratio_text(row.numbers.ratio), true) + table_cell(row.verdict) + "</tr>\n";
  }
  return out +
         "</table></div>\n<p>Medians over the runs. The ratio is of the second side to the first, "
         "with its 95&nbsp;% bootstrap interval. Grey rows are not valid as they stand.</p>\n";
}

std::string lines_list(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = "<h2>" + std::string(title) + "</h2>\n<ul>\n";
  for (const auto& line : lines) out += "<li>" + html_escape(line) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace

Figure ratios_figure(const Comparison& comparison) {
  Figure figure{"ratios", "Ratios of the second side to the first, with 95 % intervals", {}, {}};
  std::string data;
  std::string tics;
  size_t count = 0;
  for (const auto& row : comparison.rows) {
    const auto& ratio = row.numbers.ratio;
    if (!ratio.median || count == kRatiosDrawnMax) continue;
    ++count;
    const std::string label =
        row.cell + ", " + std::string(row.words.name) + ", " + side_name(row.second);
    data += std::to_string(count) + ',' + csv_field(label) + ',' + std::to_string(*ratio.median) +
            ',' + std::to_string(ratio.low.value_or(*ratio.median)) + ',' +
            std::to_string(ratio.high.value_or(*ratio.median)) + '\n';
    tics += (tics.empty() ? "" : ", ") + gnuplot_quoted(label) + " " + std::to_string(count);
  }
  if (count == 0) return figure;
  figure.data = "place,row,ratio,low,high\n" + data;
  figure.script = figure_script(
      figure.name,
      "set title 'Ratio of the second side to the first: median, 95 % interval'\n"
      "set ytics noenhanced (" +
          tics + ")\nset yrange [" + std::to_string(count) +
          ".6:0.4]\nset arrow from 1, graph 0 to 1, graph 1 nohead lc rgb '#888888' dt 2\n",
      "plot " + gnuplot_quoted(figure.name + ".csv") +
          " using 3:1:4:5 every ::1 with xerrorbars lc 1 notitle",
      static_cast<unsigned>(160 + kRatioHeight * count));
  return figure;
}

std::string comparison_page(const Comparison& comparison, const std::string& svg) {
  std::vector<std::string> refused;
  std::vector<std::string> ignored;
  std::vector<std::string> unmatched;
  for (const auto& difference : comparison.refused) refused.push_back(difference_line(difference));
  for (const auto& difference : comparison.ignored) ignored.push_back(difference_line(difference));
  for (const auto& cell : comparison.unmatched) {
    std::string line = cell.cell + ": only in";
    for (const size_t side : cell.sides) line += " " + side_name(side);
    unmatched.push_back(line);
  }
  std::string body = lines_list("Not comparable: the work differs", refused) +
                     lines_list("The work differs, as asked to be ignored", ignored) +
                     rows_table(comparison);
  if (!svg.empty()) {
    body += "<figure>\n" + svg +
            "\n<figcaption>Ratios (<code>figures/ratios.gp</code>)</figcaption>\n</figure>\n";
  }
  body += "<h2>Sides</h2>\n" + sides_table(comparison) +
          lines_list("Cells on some sides only", unmatched) + lines_list("Notes", comparison.notes);
  return html_document("cacheoff compare", body);
}

Expected<std::string> write_comparison(const std::filesystem::path& folder,
                                       const Comparison& comparison) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    return usage_problem("--out '" + folder.string() +
                         "': can't be made a folder: " + failure.message());
  }
  std::string remark;
  std::string svg;
  const Figure figure = ratios_figure(comparison);
  if (!figure.script.empty()) {
    const auto drawn = draw_figures(folder, {figure});
    if (!drawn) {
      remark = "figures: " + drawn.error().text;
    } else if (!*drawn) {
      remark = "figures: gnuplot is not installed, so only the script was written";
    } else if (const auto text =
                   read_file(folder / "figures" / "ratios.svg", kComparisonSvgBytesMax)) {
      svg = svg_for_page(*text);
    }
  }
  for (const auto& [name, text] : {std::pair<const char*, std::string>{
                                       "compare.json", to_pretty_json(comparison_json(comparison))},
                                   {"compare.csv", comparison_csv(comparison)},
                                   {"compare.txt", comparison_text(comparison, false)},
                                   {"compare.html", comparison_page(comparison, svg)}}) {
    if (auto done = write_file(folder / name, text); !done) return done.error();
  }
  return remark;
}

}  // namespace workload
