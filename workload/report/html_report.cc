#include "workload/report/html_report.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <iterator>

#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr std::string_view kStyle =
    "body{font:16px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;"
    "color:#1a1a1a;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0;font-size:.92rem}"
    "th,td{padding:.3rem .7rem;border-bottom:1px solid #ccc;text-align:left;vertical-align:top}"
    "th{border-bottom:2px solid #666}td.n,th.n{text-align:right;white-space:nowrap}"
    "tr.invalid{color:#777;background:#f4f4f4}.scroll{overflow-x:auto}"
    "figure{margin:1.5rem 0}figure svg{width:100%;height:auto}figcaption{color:#555}"
    "code,pre{font:.85rem/1.4 ui-monospace,monospace}pre{overflow-x:auto;background:#f4f4f4;"
    "padding:.8rem}.interval{color:#555;font-size:.85em}";

struct Column {
  std::string_view title;
  bool is_number;
};

constexpr Column kColumns[] = {{"scheme", false},
                               {"filesystem", false},
                               {"mount options", false},
                               {"throughput, responses/s", true},
                               {"response time, ms", true},
                               {"hit ratio, %", true},
                               {"offered hit ratio, %", true},
                               {"errors", true},
                               {"wrong bodies", true},
                               {"limited by", false},
                               {"runs", true}};

std::string cell(std::string_view html, bool is_number = false) {
  return std::string(is_number ? "<td class=\"n\">" : "<td>") + std::string(html) + "</td>";
}

std::string estimate_html(const Estimate& estimate) {
  std::string out = html_escape(figure_text(estimate.median));
  if (estimate.low && estimate.high) {
    out += " <span class=\"interval\">" + html_escape(figure_text(estimate.low)) + "&ndash;" +
           html_escape(figure_text(estimate.high)) + "</span>";
  }
  return out;
}

std::string_view distinction_html(Distinction distinction) {
  switch (distinction) {
    case Distinction::kSame:
      return " <span title=\"not told apart from the row above\">=</span>";
    case Distinction::kTooFew:
      return " <span title=\"too few runs to tell from the row above\">?</span>";
    case Distinction::kFirst:
    case Distinction::kDifferent:
      return "";
  }
  return "";
}

std::string dash_or(const std::string& text) {
  return text.empty() ? "-" : html_escape(text);
}

std::string table_html(const std::vector<SummaryRow>& rows) {
  std::string out = "<div class=\"scroll\"><table>\n<tr>";
  for (const auto& column : kColumns) {
    out += std::string(column.is_number ? "<th class=\"n\">" : "<th>") + std::string(column.title) +
           "</th>";
  }
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += row.valid ? "<tr>" : "<tr class=\"invalid\">";
    out += cell(html_escape(row.scheme) + (row.is_cache ? "" : " <b>#</b>")) +
           cell(dash_or(place_text(row))) + cell(dash_or(row.mount_options));
    out += cell(estimate_html(row.throughput_rps) + std::string(distinction_html(row.distinction)),
                true);
    out += cell(estimate_html(row.response_time_ms), true) +
           cell(estimate_html(row.hit_ratio_percent), true) +
           cell(html_escape(figure_text(row.offered_hit_ratio_percent)), true) +
           cell(count_text(row, row.errors, "-"), true) +
           cell(count_text(row, row.wrong_bodies, "-"), true) + cell(dash_or(row.limited_by)) +
           cell(std::to_string(row.runs), true) + "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string explanation_html(const std::vector<SummaryRow>& rows) {
  std::string out =
      "<p>Medians over the runs of each cell. Throughput counts good responses only; the response "
      "time is the mean over them. Grey rows are not valid as they stand: the notes say why. "
      "<b>=</b> the runs do not tell this throughput from the one above (Mann-Whitney with Holm's "
      "correction, 5&nbsp;%); <b>?</b> so few runs never could.";
  if (std::any_of(rows.begin(), rows.end(), [](const auto& row) { return !row.is_cache; })) {
    out += std::string(" <b>#</b> ") + kNoCacheText + ".";
  }
  if (const size_t missing = runs_missing(rows); missing > 0) {
    out += " No 95&nbsp;% intervals: " + std::to_string(missing) +
           " more runs of each cell are needed.";
  } else {
    out += " Small figures: 95&nbsp;% bootstrap intervals.";
  }
  return out + "</p>\n";
}

std::string figures_html(const std::vector<DrawnFigure>& figures) {
  std::string out;
  for (const auto& drawn : figures) {
    if (drawn.svg.empty()) continue;
    out += "<figure>\n" + drawn.svg + "\n<figcaption>" + html_escape(drawn.figure.title) +
           " (<code>figures/" + html_escape(drawn.figure.name) +
           ".gp</code>)</figcaption>\n"
           "</figure>\n";
  }
  if (!out.empty()) return "<h2>Figures</h2>\n" + out;
  if (figures.empty()) return {};
  return "<h2>Figures</h2>\n<p>Pictures were not drawn: gnuplot is not installed, or it failed and "
         "<code>figures/gnuplot.log</code> says why. The scripts and their data are in "
         "<code>figures/</code>.</p>\n";
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
      "client, operations of the disks a request, and new objects that were declined, by "
      "reason.</p>\n<div class=\"scroll\"><table>\n"
      "<tr><th>cell</th><th class=\"n\">operations</th><th class=\"n\">evictions</th>"
      "<th class=\"n\">write amplification</th><th class=\"n\">I/O a request</th>"
      "<th class=\"n\">disk a request</th>"
      "<th>declined</th></tr>\n";
  for (const auto& row : rows) {
    out += "<tr>" + cell(html_escape(row.name)) + cell(whole_text(row.store_operations), true) +
           cell(whole_text(row.store_evictions), true) +
           cell(figure_text(row.write_amplification), true) +
           cell(figure_text(row.io_per_request), true) +
           cell(figure_text(row.disk_operations_per_request), true) +
           cell(dash_or(declined_text(row, " "))) + "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string costs_html(const std::vector<SummaryRow>& rows) {
  if (!any_costs_known(rows)) return {};
  constexpr std::string_view kTitles[] = {
      "CPU, &micro;s",     "context switches", "page faults",  "disk reads",
      "disk writes",       "read, KiB",        "written, KiB", "disk write amplification",
      "page cache hit, %", "most memory, MiB"};
  static_assert(std::size(kTitles) == kCostColumns.size());
  std::string out =
      "<p>What a request cost, medians over the runs: CPU time, context switches and page faults "
      "of the proxy and what it started; operations and bytes of the disks. Then disk bytes "
      "written to bytes published, the share of the bytes read that no disk had to give, and, "
      "where memory was limited, the most that was in use.</p>\n<div class=\"scroll\"><table>\n"
      "<tr><th>cell</th>";
  for (const auto& title : kTitles) out += "<th class=\"n\">" + std::string(title) + "</th>";
  out += "</tr>\n";
  for (const auto& row : rows) {
    out += "<tr>" + cell(html_escape(row.name));
    for (const auto& field : cost_fields(row.costs)) out += cell(html_escape(field), true);
    out += "</tr>\n";
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
  return out + "</table></div>\n" + costs_html(rows);
}

std::string details_html(std::string_view title, const boost::json::object& object) {
  return "<details><summary>" + std::string(title) + "</summary>\n<pre>" +
         html_escape(to_pretty_json(object)) + "</pre></details>\n";
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += (c >= 0 && c < 0x20 && c != '\n' && c != '\t') ? ' ' : c;
    }
  }
  return out;
}

std::string svg_for_page(std::string_view svg) {
  const size_t begin = svg.find("<svg");
  const size_t end = svg.rfind("</svg>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  if (svg.find("<script") != std::string_view::npos) return {};
  return std::string(svg.substr(begin, end + 6 - begin));
}

std::string html_document(std::string_view title, const std::string& body) {
  const std::string name = html_escape(title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
         "<title>" +
         name + "</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n<h1>" +
         name + "</h1>\n" + body + "</body>\n</html>\n";
}

std::string html_report(const Results& results, const std::vector<SummaryRow>& rows,
                        const std::vector<DrawnFigure>& figures) {
  std::vector<std::string> notes = results.warnings;
  for (const auto& row : rows) {
    for (const auto& note : row.notes) notes.push_back(row.name + ": " + note);
  }
  std::vector<std::string> skipped;
  for (const auto& entry : results.skipped) skipped.push_back(entry.name + ": " + entry.reason);
  const std::string started = text_at(results.environment, "started_at");
  std::string out = "<p>" + html_escape(started) + (started.empty() ? "" : ", ") +
                    html_escape(text_at(results.environment, "machine.cpu")) + ", " +
                    std::to_string(count_at(results.environment, "machine.cpus")) +
                    " CPUs, kernel " + html_escape(text_at(results.environment, "kernel.release")) +
                    ", seed " + std::to_string(results.seed) + "</p>\n";
  out += table_html(rows) + explanation_html(rows) + figures_html(figures);
  out += limits_html(rows, results) + stores_html(rows);
  out += list_html("Notes and warnings", notes) + list_html("Skipped", skipped);
  out += "<h2>How it was measured</h2>\n" + details_html("Experiment", results.experiment) +
         details_html("Environment", results.environment);
  return html_document("cacheoff report", out);
}

}  // namespace workload
