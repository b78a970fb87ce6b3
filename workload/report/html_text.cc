#include "workload/report/html_text.h"

#include <cmath>
#include <cstdio>

#include "workload/report/summary.h"

namespace workload {

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

std::string html_text_cell(std::string_view text) {
  return "<td>" + (text.empty() ? std::string("-") : html_escape(text)) + "</td>";
}

std::string html_sort_value(const std::optional<double>& figure) {
  if (!figure || !std::isfinite(*figure)) return " data-value=\"\"";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, " data-value=\"%.10g\"", *figure);
  return buffer;
}

std::string html_figure_cell(const std::optional<double>& figure) {
  return "<td class=\"n\"" + html_sort_value(figure) + ">" + figure_text(figure) + "</td>";
}

std::string json_for_page(std::string json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace workload
