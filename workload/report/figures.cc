#include "workload/report/figures.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "workload/experiment/child_process.h"
#include "workload/report/json_text.h"
#include "workload/report/trace_points.h"

namespace workload {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 6> kPercentiles{
    {{"p50", 1}, {"p90", 2}, {"p95", 3}, {"p99", 4}, {"p999", 5}, {"max", 6}}};
/// Points of a line over the longest run.
constexpr double kTraceParts = 60;
constexpr auto kDrawingTimeMax = std::chrono::seconds(60);

/// Colours that people with colour-blindness tell apart (Okabe, Ito: "Color Universal Design").
constexpr std::string_view kLook =
    "set datafile separator ','\n"
    "set grid\n"
    "set tics nomirror\n"
    "set border 3\n"
    "set linetype 1 lc rgb '#0072b2' lw 2 pt 7\n"
    "set linetype 2 lc rgb '#d55e00' lw 2 pt 5\n"
    "set linetype 3 lc rgb '#009e73' lw 2 pt 9\n"
    "set linetype 4 lc rgb '#cc79a7' lw 2 pt 11\n"
    "set linetype 5 lc rgb '#56b4e9' lw 2 pt 13\n"
    "set linetype 6 lc rgb '#e69f00' lw 2 pt 6\n"
    "set linetype 7 lc rgb '#000000' lw 2 pt 4\n"
    "set linetype 8 lc rgb '#8c8c00' lw 2 pt 8\n";

std::string draw_twice(const std::string& name, const std::string& body, const std::string& plot) {
  return figure_script(name, body, plot, 480);
}

Figure trace_figure(const std::filesystem::path& folder, const Results& results,
                    const std::vector<SummaryRow>& rows) {
  Figure figure{"throughput_trace", "Throughput over time", {}, {}};
  const bool by_fill = text_at(results.experiment, "until").rfind("fill=", 0) == 0;
  const TraceAxis axis = by_fill ? TraceAxis::kFill : TraceAxis::kTime;
  std::vector<std::pair<std::string, std::vector<TracePoint>>> cells;
  double longest = 0;
  for (const auto& row : rows) {
    auto points = read_trace_points(folder / "cells" / row.name / "trace.csv", axis);
    if (points.empty() || !(points.back().place > 0)) continue;
    longest = std::max(longest, points.back().place);
    cells.emplace_back(row.name, std::move(points));
  }
  if (cells.empty()) return figure;
  // The averages are made here and not by gnuplot, which would scale the axis to single intervals.
  figure.data = "cell,place,throughput\n";
  std::string plot;
  for (const auto& [name, points] : cells) {
    for (const auto& mean : average_points(points, longest / kTraceParts)) {
      figure.data += name + ',' + std::to_string(mean.place) + ',' +
                     std::to_string(mean.throughput_rps) + '\n';
    }
    plot += plot.empty() ? "plot " : ", \\\n     ";
    plot += gnuplot_quoted(figure.name + ".csv") + " using 2:(strcol(1) eq " +
            gnuplot_quoted(name) + " ? $3 : NaN) every ::1 with lines title " +
            gnuplot_quoted(name) + " noenhanced";
  }
  figure.script = draw_twice(
      figure.name,
      "set title 'Throughput over time, one line a cell (its median run)'\nset xlabel '" +
          std::string(by_fill ? "fill traffic / cache size" : "time since the start, s") +
          "'\nset ylabel 'good responses a second'\nset yrange [0:*]\nset key outside right\n",
      plot);
  return figure;
}

/// The median over a cell's runs, for a data file.
std::string median_field(const CellResult& cell, std::string_view path) {
  const auto median = median_of(run_values(cell, path));
  return median ? std::to_string(*median) : std::string();
}

const CellResult* find_cell(const Results& results, const std::string& name) {
  const auto cell = std::find_if(results.cells.begin(), results.cells.end(),
                                 [&](const CellResult& known) { return known.name == name; });
  return cell == results.cells.end() ? nullptr : &*cell;
}

Figure percentiles_figure(const Results& results, const std::vector<SummaryRow>& rows) {
  Figure figure{"response_time_percentiles", "Percentiles of the response time", {}, {}};
  std::string header = "percentile";
  std::vector<const CellResult*> cells;
  for (const auto& row : rows) {
    const CellResult* cell = find_cell(results, row.name);
    if (cell == nullptr || run_values(*cell, "response_time_ms.p50").empty()) continue;
    cells.push_back(cell);
    header += "," + cell->name;
  }
  if (cells.empty()) return figure;
  figure.data = header + '\n';
  std::string tics;
  for (const auto& [percentile, place] : kPercentiles) {
    figure.data += std::to_string(place);
    for (const auto* cell : cells) {
      figure.data += ',' + median_field(*cell, "response_time_ms." + std::string(percentile));
    }
    figure.data += '\n';
    tics += (tics.empty() ? "" : ", ") + gnuplot_quoted(std::string(percentile)) + " " +
            std::to_string(place);
  }
  std::string plot;
  for (size_t i = 0; i < cells.size(); ++i) {
    plot += plot.empty() ? "plot " : ", \\\n     ";
    plot += gnuplot_quoted(figure.name + ".csv") + " using 1:" + std::to_string(i + 2) +
            " every ::1 with linespoints title " + gnuplot_quoted(cells[i]->name) + " noenhanced";
  }
  figure.script = draw_twice(
      figure.name,
      "set title 'Response time: percentiles of good responses (medians over the runs)'\n"
      "set xlabel 'percentile'\nset ylabel 'response time, ms'\nset logscale y\n"
      "set xrange [0.8:6.2]\nset xtics (" +
          tics + ")\nset key outside right\n",
      plot);
  return figure;
}

Figure throughput_figure(const std::vector<SummaryRow>& rows) {
  Figure figure{"throughput", "Throughput by cell", {}, {}};
  std::string data;
  bool has_interval = false;
  size_t count = 0;
  for (const auto& row : rows) {
    if (!row.throughput_rps.median) continue;
    const double median = *row.throughput_rps.median;
    has_interval = has_interval || row.throughput_rps.low.has_value();
    data += std::to_string(++count) + ',' + row.name + ',' + std::to_string(median) + ',' +
            std::to_string(row.throughput_rps.low.value_or(median)) + ',' +
            std::to_string(row.throughput_rps.high.value_or(median)) + '\n';
  }
  if (count == 0) return figure;
  figure.data = "place,cell,median,low,high\n" + data;
  const std::string file = gnuplot_quoted(figure.name + ".csv");
  std::string plot =
      "plot " + file + " using 1:3:xtic(2) every ::1 with boxes fill solid 0.6 lc 1 notitle";
  if (has_interval) {
    plot += ", \\\n     " + file + " using 1:3:4:5 every ::1 with yerrorbars lc rgb 'black' pt 0 " +
            "notitle";
  }
  figure.script =
      draw_twice(figure.name,
                 "set title 'Throughput: median over the runs" +
                     std::string(has_interval ? ", 95 % interval" : "") +
                     "'\nset ylabel 'good responses a second'\nset yrange [0:*]\n"
                     "set boxwidth 0.6\nset xrange [0.4:" +
                     std::to_string(count) + ".6]\nset xtics noenhanced rotate by -20\n",
                 plot);
  return figure;
}

/// Runs gnuplot inside a folder; its messages are the Problem.
Expected<void> run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  const std::filesystem::path log = folder / "gnuplot.log";
  ChildOptions options;
  options.command = {"gnuplot", "-e", "cd " + gnuplot_quoted(folder.string()), script};
  options.stdout_path = log.string();
  options.stderr_path = log.string();
  auto child = ChildProcess::start(options);
  if (!child) return child.error();
  const bool ended =
      ChildWaiter::wait({&*child}, nullptr, kDrawingTimeMax) == ChildWaiter::Event::kChildEnded;
  const ChildEnd end = child->stop();
  if (!ended) return run_problem("gnuplot took too long over " + script);
  if (end.exit_status != 0) {
    return run_problem("gnuplot " + end.text() + " over " + script + "; see " + log.string());
  }
  std::error_code ignored;
  std::filesystem::remove(log, ignored);
  return {};
}

}  // namespace

std::string figure_script(const std::string& name, const std::string& settings,
                          const std::string& plot, unsigned height) {
  const std::string size = "960," + std::to_string(height);
  return "# Draws " + name + ".svg and " + name + ".png; run it in this folder.\n" +
         std::string(kLook) + settings + "set terminal svg size " + size +
         " dynamic enhanced background '#ffffff' font 'sans,14' name " + gnuplot_quoted(name) +
         "\nset output " + gnuplot_quoted(name + ".svg") + "\n" + plot +
         "\nset terminal pngcairo size " + size + " noenhanced font 'sans,11'\nset output " +
         gnuplot_quoted(name + ".png") + "\nreplot\nset output\n";
}

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "''";
    } else if (c == '\n' || c == '\r') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string gnuplot_version() {
  const auto text = output_of({"gnuplot", "--version"}, std::chrono::seconds(10));
  return text ? text->substr(0, text->find('\n')) : std::string();
}

std::vector<Figure> make_figures(const std::filesystem::path& folder, const Results& results,
                                 const std::vector<SummaryRow>& rows) {
  std::vector<Figure> figures{trace_figure(folder, results, rows),
                              percentiles_figure(results, rows), throughput_figure(rows)};
  std::erase_if(figures, [](const Figure& figure) { return figure.script.empty(); });
  return figures;
}

Expected<bool> draw_figures(const std::filesystem::path& folder,
                            const std::vector<Figure>& figures) {
  const std::filesystem::path place = folder / "figures";
  std::error_code failure;
  std::filesystem::create_directories(place, failure);
  if (failure) return run_problem("can't make '" + place.string() + "': " + failure.message());
  for (const auto& figure : figures) {
    if (auto done = write_file(place / (figure.name + ".gp"), figure.script); !done) {
      return done.error();
    }
    if (figure.data.empty()) continue;
    if (auto done = write_file(place / (figure.name + ".csv"), figure.data); !done) {
      return done.error();
    }
  }
  if (gnuplot_version().empty()) return false;
  for (const auto& figure : figures) {
    if (auto done = run_gnuplot(place, figure.name + ".gp"); !done) return done.error();
  }
  return true;
}

}  // namespace workload
