#include "workload/report/figures.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "workload/experiment/child_process.h"
#include "workload/report/chart_data.h"
#include "workload/report/json_text.h"
#include "workload/report/response_percentiles.h"

namespace workload {
namespace {

constexpr auto kDrawingTimeMax = std::chrono::seconds(60);
/// Of figures with a line a cell: for all but the key, and for each of its rows.
constexpr unsigned kLineFrameHeight = 460;
constexpr unsigned kKeyRowHeight = 20;
constexpr size_t kKeyColumns = 3;
constexpr size_t kKeyRowsMax = 40;
/// Of figures with a bar a cell: for the frame, and for each bar up to kBarsMax of them.
constexpr unsigned kBarFrameHeight = 130;
constexpr unsigned kBarHeight = 30;
constexpr size_t kBarsMax = 60;

/// Colours that people with colour-blindness tell apart (Okabe, Ito: "Color Universal Design").
constexpr std::array<std::string_view, 8> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#56b4e9", "#e69f00", "#000000", "#8c8c00"};
constexpr std::array<int, 8> kPoints{7, 5, 9, 11, 13, 6, 4, 8};
constexpr std::array<std::string_view, 4> kDashes{"1", "'-'", "'.'", "'_.'"};

/// Height of a figure with so many lines.
unsigned line_figure_height(size_t lines) {
  const size_t rows = std::min((lines + kKeyColumns - 1) / kKeyColumns, kKeyRowsMax);
  return kLineFrameHeight + static_cast<unsigned>(rows) * kKeyRowHeight;
}

/// What all figures have in common. Neighbouring lines differ in colour and in their dashes.
std::string common_look() {
  std::string look = "set datafile separator ','\nset grid\nset tics nomirror\nset border 3\n";
  for (size_t i = 0; i < kColours.size() * kDashes.size(); ++i) {
    const size_t colour = i % kColours.size();
    look += "set linetype " + std::to_string(i + 1) + " lc rgb '" + std::string(kColours[colour]) +
            "' lw 2 pt " + std::to_string(kPoints[colour]) + " dt " +
            std::string(kDashes[(i + i / kColours.size()) % kDashes.size()]) + '\n';
  }
  return look;
}

/// The published form: throughput over the fill volume in cache sizes. Over time where no run
/// knows how much it filled.
Figure trace_figure(const std::filesystem::path& folder, const std::vector<SummaryRow>& rows) {
  Figure figure{"throughput_trace", "Throughput trace", {}, {}};
  auto traces = cell_traces(folder, rows, TraceAxis::kFill);
  const bool by_fill = !traces.empty();
  if (!by_fill) traces = cell_traces(folder, rows, TraceAxis::kTime);
  if (traces.empty()) return figure;
  // The averages are made here and not by gnuplot, which would scale the axis to single intervals.
  figure.data = "cell,place,throughput\n";
  std::string plot;
  for (const auto& trace : traces) {
    for (const auto& mean : trace.points) {
      figure.data += trace.name + ',' + std::to_string(mean.place) + ',' +
                     std::to_string(mean.throughput_rps) + '\n';
    }
    plot += plot.empty() ? "plot " : ", \\\n     ";
    plot += gnuplot_quoted(figure.name + ".csv") + " using 2:(strcol(1) eq " +
            gnuplot_quoted(trace.name) + " ? $3 : NaN) every ::1 with lines title " +
            gnuplot_quoted(trace.name) + " noenhanced";
  }
  figure.script = figure_script(
      figure.name,
      "set title 'Throughput trace, one line a cell (its median run)'\nset xlabel '" +
          std::string(by_fill ? "fill volume / cache size" : "time since the start, s") +
          "'\nset ylabel 'good responses a second'\nset xrange [0:*]\nset yrange [0:*]\n"
          "set key tmargin center horizontal maxcols " +
          std::to_string(kKeyColumns) + "\n",
      plot, line_figure_height(traces.size()));
  return figure;
}

std::string number_field(const std::optional<double>& number) {
  return number ? std::to_string(*number) : std::string();
}

struct PercentilesFigure {
  ResponsePart part;
  std::string_view name;
  std::string_view title;
};

constexpr std::array<PercentilesFigure, 3> kPercentilesFigures{
    {{ResponsePart::kAll, "response_time_percentiles", "Response time of good responses"},
     {ResponsePart::kHits, "hit_response_time_percentiles", "Response time of hits"},
     {ResponsePart::kMisses, "miss_response_time_percentiles", "Response time of misses"}}};

Figure percentiles_figure(const PercentilesFigure& what, const Results& results,
                          const std::vector<SummaryRow>& rows) {
  Figure figure{std::string(what.name), std::string(what.title), {}, {}};
  std::string header = "percent,place";
  std::array<std::string, kShownPercentiles.size()> lines;
  std::string plot;
  size_t column = 2;
  double last_place = 0;
  for (const auto& row : rows) {
    const CellResult* cell = find_cell(results, row.name);
    if (cell == nullptr) continue;
    const auto times = response_percentiles(*cell, what.part);
    if (!times.front()) continue;
    header += ',' + row.name;
    for (size_t i = 0; i < times.size(); ++i) {
      lines[i] += ',' + number_field(times[i]);
      if (times[i]) last_place = std::max(last_place, kShownPercentiles[i].place());
    }
    plot += plot.empty() ? "plot " : ", \\\n     ";
    plot += gnuplot_quoted(figure.name + ".csv") + " using 2:" + std::to_string(++column) +
            " every ::1 with linespoints title " + gnuplot_quoted(row.name) + " noenhanced";
  }
  if (plot.empty()) return figure;
  figure.data = header + '\n';
  std::string tics;
  for (size_t i = 0; i < kShownPercentiles.size(); ++i) {
    const auto& percentile = kShownPercentiles[i];
    const std::string place = std::to_string(percentile.place());
    figure.data += figure_text(percentile.percent) + ',' + place + lines[i] + '\n';
    // In a label of a tic `%` begins a format.
    tics += (tics.empty() ? "" : ", ") + gnuplot_quoted(std::string(percentile.label) + '%') + ' ' +
            place;
  }
  figure.script = figure_script(
      figure.name,
      "set title '" + figure.title +
          ": percentiles (medians over the runs)'\nset xlabel 'share of the responses'\n"
          "set ylabel 'response time, ms'\nset logscale y\nset xrange [0.2:" +
          std::to_string(last_place + 0.1) + "]\nset xtics (" + tics +
          ")\nset key tmargin center horizontal maxcols " + std::to_string(kKeyColumns) + "\n",
      plot, line_figure_height(column - 2));
  return figure;
}

/// A figure with a bar a cell.
struct BarFigure {
  std::string name;
  std::string title;
  std::string axis;
  std::string range;
  Estimate SummaryRow::*estimate;
  /// Marked with a point; null: no points.
  std::optional<double> SummaryRow::*mark;
  std::string mark_title;
};

/// Bars from 0 with the intervals where there are some, the first row on top.
Figure bar_figure(const BarFigure& what, const std::vector<SummaryRow>& rows) {
  Figure figure{what.name, what.title, {}, {}};
  std::string data;
  bool has_interval = false;
  bool has_mark = false;
  size_t count = 0;
  for (const auto& row : rows) {
    const Estimate& estimate = row.*what.estimate;
    if (!estimate.median) continue;
    const double median = *estimate.median;
    has_interval = has_interval || estimate.low.has_value();
    data += std::to_string(++count) + ',' + row.name + ',' + std::to_string(median) + ',' +
            std::to_string(estimate.low.value_or(median)) + ',' +
            std::to_string(estimate.high.value_or(median));
    if (what.mark != nullptr) {
      has_mark = has_mark || (row.*what.mark).has_value();
      data += ',' + number_field(row.*what.mark);
    }
    data += '\n';
  }
  if (count == 0) return figure;
  figure.data = "place,cell,median,low,high" +
                std::string(what.mark != nullptr ? "," + what.mark_title : "") + '\n' + data;
  const std::string file = gnuplot_quoted(figure.name + ".csv");
  std::string plot = "plot " + file +
                     " using (0):1:(0):3:($1-0.32):($1+0.32):ytic(2) every ::1 with boxxyerror "
                     "fill solid 0.6 noborder lc 1 notitle";
  if (has_interval) {
    plot += ", \\\n     " + file +
            " using 3:1:4:5 every ::1 with xerrorbars lc rgb 'black' lw 1.5 dt 1 pt 0 notitle";
  }
  if (has_mark) {
    plot += ", \\\n     " + file +
            " using 6:1 every ::1 with points lc 2 pt 12 ps 1.2 lw 2 title " +
            gnuplot_quoted(what.mark_title);
  }
  const auto bars = static_cast<unsigned>(std::min(count, kBarsMax));
  figure.script =
      figure_script(figure.name,
                    "set title '" + what.title + ": median over the runs" +
                        (has_interval ? ", 95 % interval" : "") + "'\nset xlabel '" + what.axis +
                        "'\nset xrange " + what.range + "\nset yrange [" + std::to_string(count) +
                        ".6:0.4]\nset ytics noenhanced scale 0\nset grid noytics\nset bars small\n"
                        "set key tmargin right\n",
                    plot, kBarFrameHeight + bars * kBarHeight);
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
  return "# Draws " + name + ".svg and " + name + ".png; run it in this folder.\n" + common_look() +
         settings + "set terminal svg size " + size +
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
  std::vector<Figure> figures{trace_figure(folder, rows), bar_figure({"throughput",
                                                                      "Throughput",
                                                                      "good responses a second",
                                                                      "[0:*]",
                                                                      &SummaryRow::throughput_rps,
                                                                      nullptr,
                                                                      {}},
                                                                     rows)};
  for (const auto& what : kPercentilesFigures) {
    figures.push_back(percentiles_figure(what, results, rows));
  }
  figures.push_back(bar_figure(
      {"hit_ratio", "Hit ratio", "hits, % of good basic requests", "[0:100]",
       &SummaryRow::hit_ratio_percent, &SummaryRow::offered_hit_ratio_percent, "offered"},
      rows));
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
