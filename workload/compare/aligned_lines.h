// Lines of fields under each other, for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// A line; a colour (ANSI) wraps its last field, and empty is none.
struct AlignedLine {
  std::vector<std::string> fields;
  std::string_view colour;
};

/// The lines, each field as wide as the widest of its column, with a line break behind each.
std::string align(const std::vector<AlignedLine>& lines);

}  // namespace workload
