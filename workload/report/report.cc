#include "workload/report/report.h"

#include "workload/report/chart_data.h"
#include "workload/report/figures.h"
#include "workload/report/html_report.h"
#include "workload/report/json_text.h"
#include "workload/report/summary.h"

namespace workload {
namespace {

constexpr uint64_t kSvgBytesMax = 32ULL << 20;

}  // namespace

Expected<ReportFiles> write_report(const std::filesystem::path& folder, const Results& results,
                                   const ReportAddition& addition) {
  const auto rows = summarise(results);
  const auto figures = make_figures(folder, results, rows);
  ReportFiles files;
  files.table = summary_text(results, rows);
  const auto drawn = draw_figures(folder, figures);
  const bool pictures = drawn && *drawn;
  if (!drawn) {
    files.table += "figures: " + drawn.error().text + '\n';
  } else if (!pictures && !figures.empty()) {
    files.table += "figures: gnuplot is not installed, so only the scripts were written\n";
  }
  std::vector<DrawnFigure> page_figures;
  for (const auto& figure : figures) {
    std::string svg;
    if (pictures) {
      const auto text = read_file(folder / "figures" / (figure.name + ".svg"), kSvgBytesMax);
      if (text) svg = svg_for_page(*text);
    }
    page_figures.push_back({figure, std::move(svg)});
  }
  files.table += addition.text;
  const auto data = chart_data(folder, results, rows);
  files.page = folder / "report.html";
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"summary.csv", summary_csv(rows)},
        {"summary.txt", files.table},
        {"report.html", html_report({results, rows, page_figures, data, addition.html})}}) {
    if (auto done = write_file(folder / name, text); !done) return done.error();
  }
  return files;
}

}  // namespace workload
