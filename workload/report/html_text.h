// Text and figures as HTML.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace workload {

/// Text as HTML shows it: `&`, `<`, `>` and both quotes become entities, other control characters
/// than tabs and line breaks become spaces.
std::string html_escape(std::string_view text);

/// A cell of a table that holds text, escaped; `-` where it is empty.
std::string html_text_cell(std::string_view text);

/// A cell with a figure to four significant digits, `-` for nothing; it sorts by the figure itself.
std::string html_figure_cell(const std::optional<double>& figure);

/// The attribute that a cell is sorted by: ` data-value="12.5"`, empty for nothing.
std::string html_sort_value(const std::optional<double>& figure);

/// JSON text that may stand in a `<script>` element: no character in it can end the element or
/// begin another.
std::string json_for_page(std::string json);

}  // namespace workload
