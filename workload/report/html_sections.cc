#include "workload/report/html_sections.h"

#include <map>
#include <set>
#include <tuple>

#include "workload/report/html_text.h"
#include "workload/report/json_text.h"
#include "workload/report/request_cost.h"
#include "workload/report/response_percentiles.h"

namespace workload {
namespace {

/// Rows of a table of values: the environment has some dozens.
constexpr size_t kValuesMax = 5000;

constexpr std::string_view kTableStart = "<div class=\"scroll\"><table>\n<thead><tr>";

std::string row_head(std::string_view name) {
  return "<tr><th scope=\"row\">" + html_escape(name) + "</th>";
}

std::string column_head(std::string_view title, bool is_number) {
  return std::string(is_number ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">") +
         html_escape(title) + "</th>";
}

/// The rows that have a cell, with it.
std::vector<const CellResult*> cells_in_order(const std::vector<SummaryRow>& rows,
                                              const Results& results) {
  std::vector<const CellResult*> cells;
  for (const auto& row : rows) {
    if (const auto* cell = find_cell(results, row.name)) cells.push_back(cell);
  }
  return cells;
}

std::string plain_value_text(const boost::json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_null()) return "not known";
  std::string text = to_pretty_json(value);
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

bool is_plain(const boost::json::value& value) {
  return !value.is_object() && !value.is_array();
}

/// A list of plain values on one line; `none` where it is empty.
std::string list_text(const boost::json::array& list) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : " ") + plain_value_text(element);
  return text.empty() ? "none" : text;
}

void add_values(const std::string& path, const boost::json::value& value, std::string& html,
                size_t& count) {
  if (count >= kValuesMax) return;
  const std::string prefix = path.empty() ? "" : path + '.';
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      add_values(prefix + std::string(member.key()), member.value(), html, count);
    }
    return;
  }
  if (value.is_array()) {
    const auto& list = value.get_array();
    bool plain = true;
    for (const auto& element : list) plain = plain && is_plain(element);
    if (!plain) {
      size_t number = 0;
      for (const auto& element : list) {
        add_values(prefix + std::to_string(++number), element, html, count);
      }
      return;
    }
  }
  ++count;
  const std::string text =
      value.is_array() ? list_text(value.get_array()) : plain_value_text(value);
  html += row_head(path) + "<td class=\"value\">" + html_escape(text) + "</td></tr>\n";
}

std::string percentile_row(const CellResult& cell, ResponsePart part, std::string_view name) {
  const auto times = response_percentiles(cell, part);
  if (!times.front()) return {};
  std::string out = row_head(cell.name) + html_text_cell(name);
  for (const auto& time : times) out += html_figure_cell(time);
  return out + "</tr>\n";
}

}  // namespace

std::string costs_section(const std::vector<SummaryRow>& rows, const Results& results) {
  const auto cells = cells_in_order(rows, results);
  const auto costs = request_costs(cells);
  if (costs.empty()) return {};
  std::string out =
      "<p>Medians over the runs, to the requests that the proxy had (by its own log, else those of "
      "the robots). CPU time and operations of the disk are those while the load was on; "
      "<code>helper</code> is what the proxy has started.</p>\n";
  out += kTableStart;
  out += column_head("cell", false);
  for (const auto& cost : costs) out += column_head(cost.title, true);
  out += "</tr></thead>\n<tbody>\n";
  for (size_t i = 0; i < cells.size(); ++i) {
    out += row_head(cells[i]->name);
    for (const auto& cost : costs) out += html_figure_cell(cost.values[i]);
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string percentiles_table(const std::vector<SummaryRow>& rows, const Results& results) {
  std::string body;
  for (const auto* cell : cells_in_order(rows, results)) {
    body += percentile_row(*cell, ResponsePart::kHits, "hits") +
            percentile_row(*cell, ResponsePart::kMisses, "misses");
  }
  if (body.empty()) return {};
  std::string out = "<details><summary>Response times as a table, ms</summary>\n";
  out += kTableStart;
  out += column_head("cell", false) + column_head("of", false);
  for (const auto& percentile : kShownPercentiles) out += column_head(percentile.label, true);
  return out + "</tr></thead>\n<tbody>\n" + body + "</tbody></table></div></details>\n";
}

std::string mount_options_section(const std::vector<SummaryRow>& rows, const Results& results) {
  std::string body;
  for (const auto* cell : cells_in_order(rows, results)) {
    // Runs of one cell may differ, as when a kernel was changed in between.
    std::map<std::tuple<std::string, std::string, std::string>, size_t> outcomes;
    std::set<std::string> in_force;
    for (const auto& run : cell->runs) {
      const auto* list = find_json(run, "mount_option_outcomes");
      if (list == nullptr || !list->is_array() || list->get_array().empty()) continue;
      in_force.insert(text_at(run, "mount_options_in_force"));
      for (const auto& entry : list->get_array()) {
        if (!entry.is_object()) continue;
        const auto& outcome = entry.get_object();
        ++outcomes[{text_at(outcome, "option"), text_at(outcome, "outcome"),
                    text_at(outcome, "became")}];
      }
    }
    std::string mounted;
    for (const auto& options : in_force) mounted += (mounted.empty() ? "" : "; ") + options;
    for (const auto& [outcome, count] : outcomes) {
      const auto& [option, what, became] = outcome;
      body += row_head(cell->name) + html_text_cell(option) + html_text_cell(what) +
              html_text_cell(became) + "<td class=\"n\">" + std::to_string(count) + "</td>" +
              html_text_cell(mounted) + "</tr>\n";
    }
  }
  if (body.empty()) return {};
  std::string out =
      "<h2 id=\"mount-options\">What became of the mount options</h2>\n<p><code>effective</code>: "
      "the kernel shows it; <code>changed</code>: it shows another value; <code>ignored</code>: it "
      "would show it and does not; <code>not_shown</code>: ignored, or a default that this "
      "filesystem never shows.</p>\n";
  out += kTableStart;
  for (const std::string_view title : {"cell", "option", "outcome", "became"}) {
    out += column_head(title, false);
  }
  return out + column_head("runs", true) + column_head("mounted with", false) +
         "</tr></thead>\n<tbody>\n" + body + "</tbody></table></div>\n";
}

std::string object_section(std::string_view title, const boost::json::object& object, bool open) {
  std::string body;
  size_t count = 0;
  add_values({}, object, body, count);
  if (body.empty()) return {};
  return "<details" + std::string(open ? " open" : "") + "><summary>" + html_escape(title) +
         "</summary>\n<div class=\"scroll\"><table class=\"values\"><tbody>\n" + body +
         "</tbody></table></div>" +
         (count >= kValuesMax ? "<p>Too long to be shown as a whole.</p>" : "") + "</details>\n";
}

}  // namespace workload
