#include "workload/report/html_report.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "workload/report/html_sections.h"
#include "workload/report/html_text.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

struct Column {
  std::string_view title;
  std::string_view unit;
  bool is_number;
};

constexpr Column kColumns[] = {{"scheme", "", false},
                               {"filesystem", "", false},
                               {"mount options", "", false},
                               {"throughput", "responses/s", true},
                               {"response time", "ms", true},
                               {"hit ratio", "%", true},
                               {"offered hit ratio", "%", true},
                               {"errors", "", true},
                               {"wrong bodies", "", true},
                               {"limited by", "", false},
                               {"runs", "", true}};

/// A chart of the page; report.js draws into it and shows it.
struct ChartFrame {
  std::string_view id;
  std::string_view title;        ///< Empty where the section has one already.
  std::string_view alternative;  ///< What it shows, for those who can't see it.
  std::string_view figure;       ///< The static figure of the same.
};

constexpr ChartFrame kTraceChart{
    "chart-trace", "Throughput trace",
    "Line chart of good responses a second over the fill volume in cache sizes, one line a cell, "
    "each of its median run. Arrow keys walk along the lines.",
    "throughput_trace"};
constexpr ChartFrame kThroughputChart{
    "chart-throughput", "Throughput by cell",
    "Bar chart of the median throughput of each cell with its interval; the figures are in the "
    "table above.",
    "throughput"};
constexpr ChartFrame kPercentilesChart{
    "chart-percentiles", "Response time percentiles",
    "Line chart of response times from the 50th to the 99.99th percentile, one line a cell; the "
    "figures are in the table below.",
    "response_time_percentiles"};
constexpr ChartFrame kProcessorsChart{
    "chart-processors", "",
    "Bar chart of the CPU time of each process a request; the figures are in the table below.", ""};

std::string cell(std::string_view html, bool is_number = false) {
  return std::string(is_number ? "<td class=\"n\">" : "<td>") + std::string(html) + "</td>";
}

/// The figure, marks beside it, and the interval below.
std::string estimate_html(const Estimate& estimate, const std::string& marks = {}) {
  std::string out = html_escape(figure_text(estimate.median)) + marks;
  if (estimate.low && estimate.high) {
    out += " <span class=\"interval\">" + html_escape(figure_text(estimate.low)) + "&ndash;" +
           html_escape(figure_text(estimate.high)) + "</span>";
  }
  return out;
}

/// A cell that sorts by the figure.
std::string sorted_cell(const std::optional<double>& figure, const std::string& html) {
  return "<td class=\"n\"" + html_sort_value(figure) + ">" + html + "</td>";
}

/// Mount options, which a line may end behind each comma of.
std::string options_cell(const std::string& options) {
  std::string out;
  for (const char c : html_text_cell(options)) {
    out += c;
    if (c == ',') out += "<wbr>";
  }
  return out;
}

std::string mark_html(std::string_view mark, std::string_view meaning) {
  return "<span class=\"mark\" title=\"" + std::string(meaning) + "\">" + std::string(mark) +
         "</span>";
}

std::string marks_html(const SummaryRow& row) {
  std::string marks;
  if (!row.is_cache) marks += mark_html("#", kNoCacheText);
  if (!row.valid) marks += mark_html("!", "not valid as it stands: see the notes");
  if (row.distinction == Distinction::kSame) {
    marks += mark_html("=", "not told apart from the next higher throughput");
  }
  if (row.distinction == Distinction::kTooFew) {
    marks += mark_html("?", "too few runs to tell it from the next higher throughput");
  }
  return marks;
}

std::string dash_or(const std::string& text) {
  return text.empty() ? "-" : html_escape(text);
}

std::string table_head() {
  std::string out = "<thead><tr>";
  for (const auto& column : kColumns) {
    out += "<th scope=\"col\"";
    if (column.is_number) out += " class=\"n\"";
    if (column.title == "throughput") out += " aria-sort=\"descending\"";
    out += ">" + std::string(column.title);
    if (!column.unit.empty()) out += "<span class=\"unit\">" + std::string(column.unit) + "</span>";
    out += "</th>";
  }
  return out + "</tr></thead>\n";
}

std::string table_html(const std::vector<SummaryRow>& rows) {
  std::string out = "<div class=\"scroll\"><table id=\"results\" class=\"sortable\">\n";
  out += table_head() + "<tbody>\n";
  for (const auto& row : rows) {
    out += row.valid ? "<tr>" : "<tr class=\"invalid\">";
    out += "<th scope=\"row\">" + html_escape(scheme_text(row)) + "</th>" +
           html_text_cell(place_text(row)) + options_cell(row.mount_options);
    out +=
        sorted_cell(row.throughput_rps.median, estimate_html(row.throughput_rps, marks_html(row)));
    out +=
        sorted_cell(row.response_time_ms.median, estimate_html(row.response_time_ms)) +
        sorted_cell(row.hit_ratio_percent.median, estimate_html(row.hit_ratio_percent)) +
        html_figure_cell(row.offered_hit_ratio_percent) +
        sorted_cell(static_cast<double>(row.errors), count_text(row, row.errors, "-")) +
        sorted_cell(static_cast<double>(row.wrong_bodies), count_text(row, row.wrong_bodies, "-")) +
        html_text_cell(row.limited_by) +
        sorted_cell(static_cast<double>(row.runs), std::to_string(row.runs)) + "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string explanation_html(const std::vector<SummaryRow>& rows) {
  std::string out =
      "<p>Medians over the runs of each cell, highest throughput first. Throughput counts good "
      "responses only; the response time is the mean over them.";
  if (const size_t missing = runs_missing(rows); missing > 0) {
    out += " No 95&nbsp;% intervals: " + std::to_string(missing) +
           (missing == 1 ? " more run of each cell is needed."
                         : " more runs of each cell are needed.");
  } else {
    out += " Small figures: 95&nbsp;% bootstrap intervals.";
  }
  if (std::ranges::any_of(rows, [](const auto& row) { return !row.is_cache; })) {
    out += std::string(" <b>#</b> ") + kNoCacheText + ".";
  }
  return out +
         "</p>\n<p><b>!</b> (grey) not valid as it stands: the notes say why. <b>=</b> the runs do "
         "not tell this throughput from the next higher one (Mann-Whitney with Holm's correction, "
         "5&nbsp;%). <b>?</b> so few runs never could.</p>\n";
}

std::string static_figure(const DrawnFigure& drawn) {
  if (drawn.svg.empty()) return {};
  return "<figure role=\"group\">\n" + drawn.svg + "\n<figcaption>" +
         html_escape(drawn.figure.title) + " (<code>figures/" + html_escape(drawn.figure.name) +
         ".gp</code>)</figcaption>\n</figure>\n";
}

/// All the figures that were drawn, or why there are none.
std::string figures_html(const std::vector<DrawnFigure>& figures) {
  std::string out;
  for (const auto& drawn : figures) out += static_figure(drawn);
  if (!out.empty() || figures.empty()) return out;
  return "<p>Pictures were not drawn: gnuplot is not installed, or it failed and "
         "<code>figures/gnuplot.log</code> says why. The scripts and their data are in "
         "<code>figures/</code>.</p>\n";
}

/// A chart that appears where scripts run, and else its static figure.
std::string chart_html(const ChartFrame& frame, const std::vector<DrawnFigure>& figures) {
  const std::string head =
      frame.title.empty() ? std::string() : "<h2>" + std::string(frame.title) + "</h2>\n";
  std::string out = "<section class=\"chart\" id=\"" + std::string(frame.id) + "\" hidden>\n" +
                    head +
                    "<div class=\"controls\" role=\"group\" aria-label=\"What is shown\"></div>\n"
                    "<div class=\"canvas\"><canvas role=\"img\" aria-label=\"" +
                    html_escape(frame.alternative) +
                    "\"></canvas></div>\n<div class=\"legend\" role=\"group\" "
                    "aria-label=\"Cells\"></div>\n</section>\n";
  for (const auto& drawn : figures) {
    if (drawn.figure.name != frame.figure || drawn.svg.empty()) continue;
    out += "<noscript>" + head + static_figure(drawn) + "</noscript>\n";
  }
  return out;
}

std::string figures_section(const PageContent& content, const PageFiles& files) {
  if (!files.chart_library.text.empty()) {
    return chart_html(kTraceChart, content.figures) +
           chart_html(kThroughputChart, content.figures) +
           chart_html(kPercentilesChart, content.figures);
  }
  return "<h2>Figures</h2>\n<p class=\"muted\">Static ones: Chart.js (Debian's package "
         "libjs-chart.js) was not there when cacheoff was built.</p>\n" +
         figures_html(content.figures);
}

std::string list_html(std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string out = "<h2>" + std::string(title) + "</h2>\n<ul>\n";
  for (const auto& line : lines) out += "<li>" + html_escape(line) + "</li>\n";
  return out + "</ul>\n";
}

std::string stores_html(const std::vector<SummaryRow>& rows) {
  if (!any_store_told(rows)) return {};
  std::string out =
      "<h2>What the stores did</h2>\n<p>Medians over the runs, warm-up included: calls to the "
      "scheme, objects evicted, bytes written to bytes published, file operations a request of a "
      "client, and new objects that were declined, by reason.</p>\n<div class=\"scroll\"><table>\n"
      "<tr><th>cell</th><th class=\"n\">operations</th><th class=\"n\">evictions</th>"
      "<th class=\"n\">write amplification</th><th class=\"n\">I/O a request</th>"
      "<th>declined</th></tr>\n";
  for (const auto& row : rows) {
    out += "<tr>" + cell(html_escape(row.name)) + cell(whole_text(row.store_operations), true) +
           cell(whole_text(row.store_evictions), true) +
           cell(figure_text(row.write_amplification), true) +
           cell(figure_text(row.io_per_request), true) + cell(dash_or(declined_text(row, " "))) +
           "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string limits_html(const std::vector<SummaryRow>& rows, const Results& results) {
  std::string out =
      "<h2>What limited each cell</h2>\n<div class=\"scroll\"><table>\n<tr><th>cell</th>"
      "<th>limited by</th><th class=\"n\">proxy CPU, s</th><th class=\"n\">load CPU, s</th>"
      "<th class=\"n\">origin CPU, s</th><th class=\"n\">proxy memory, MiB</th>"
      "<th class=\"n\">disk busy, %</th><th class=\"n\">disk writes, MiB</th></tr>\n";
  const auto median = [](const CellResult& result, std::string_view path, double unit) {
    auto value = median_of(run_values(result, path));
    if (value) *value /= unit;
    return cell(figure_text(value), true);
  };
  constexpr double kMebibyte = 1024.0 * 1024.0;
  for (const auto& row : rows) {
    for (const auto& result : results.cells) {
      if (result.name != row.name) continue;
      out += "<tr>" + cell(html_escape(row.name)) + cell(dash_or(row.limited_by)) +
             median(result, "cpu_s.proxy", 1) + median(result, "cpu_s.load", 1) +
             median(result, "cpu_s.origin", 1) + median(result, "peak_rss_bytes.proxy", kMebibyte) +
             median(result, "disk.busy_percent", 1) +
             median(result, "disk.write_bytes", kMebibyte) + "</tr>\n";
    }
  }
  return out + "</table></div>\n";
}

/// What stands under the title: when, on what, with which seed.
std::string origin_html(const Results& results) {
  const std::string started = text_at(results.environment, "started_at");
  return "<p class=\"muted\">" + html_escape(started) + (started.empty() ? "" : ", ") +
         html_escape(text_at(results.environment, "machine.cpu")) + ", " +
         std::to_string(count_at(results.environment, "machine.cpus")) + " CPUs, kernel " +
         html_escape(text_at(results.environment, "kernel.release")) + ", seed " +
         std::to_string(results.seed) + "</p>\n";
}

std::string script_element(const PageScript& script) {
  return "<script>" + std::string(script.text) + "</script>\n";
}

std::string scripts_html(const boost::json::object& chart_data, const PageFiles& files) {
  std::string out;
  if (!files.chart_library.text.empty()) {
    out += "<script type=\"application/json\" id=\"report-data\">" +
           json_for_page(boost::json::serialize(chart_data)) + "</script>\n" +
           script_element(files.chart_library);
  }
  return out + script_element(files.script);
}

std::string unfinished_note(const CellResult& cell) {
  return cell.name + ": has " + std::to_string(cell.runs.size()) +
         " of its runs so far (go on with --resume)";
}

}  // namespace

std::string svg_for_page(std::string_view svg) {
  const size_t begin = svg.find("<svg");
  const size_t end = svg.rfind("</svg>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  if (svg.find("<script") != std::string_view::npos) return {};
  return std::string(svg.substr(begin, end + 6 - begin));
}

std::string html_document(std::string_view title, const std::string& body, const PageFiles& files) {
  const std::string name = html_escape(title);
  // Only the two scripts that the build has embedded may run, whatever stands in the text, and
  // nothing is loaded from anywhere.
  std::string scripts;
  for (const auto* script : {&files.chart_library, &files.script}) {
    if (!script->text.empty()) scripts += " 'sha256-" + std::string(script->sha256) + "'";
  }
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src" +
         scripts +
         "; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         name + "</title>\n<style>\n" + std::string(files.style) +
         "</style>\n</head>\n<body>\n<h1>" + name + "</h1>\n" + body + "</body>\n</html>\n";
}

std::string html_report(const PageContent& content, const PageFiles& files) {
  const Results& results = content.results;
  const auto& rows = content.rows;
  std::vector<std::string> notes = results.warnings;
  for (const auto& row : rows) {
    for (const auto& note : row.notes) notes.push_back(row.name + ": " + note);
  }
  for (const auto& result : results.cells) {
    if (result.unfinished) notes.push_back(unfinished_note(result));
  }
  std::vector<std::string> skipped;
  for (const auto& entry : results.skipped) skipped.push_back(entry.name + ": " + entry.reason);
  std::string out = origin_html(results) + table_html(rows) + explanation_html(rows);
  out += content.addition;
  out += figures_section(content, files) + percentiles_table(rows, results);
  out += limits_html(rows, results);
  if (const auto costs = costs_section(rows, results); !costs.empty()) {
    out += "<h2>What a request cost</h2>\n";
    if (!files.chart_library.text.empty()) out += chart_html(kProcessorsChart, {});
    out += costs;
  }
  out += stores_html(rows) + mount_options_section(rows, results);
  out += list_html("Notes and warnings", notes) + list_html("Skipped cells", skipped);
  out += "<h2>How it was measured</h2>\n" +
         object_section("Options of the experiment", results.experiment, true) +
         object_section("Environment", results.environment, false);
  return html_document("cacheoff report", out + scripts_html(content.chart_data, files), files);
}

}  // namespace workload
