#include "workload/compare/aligned_lines.h"

#include <algorithm>

namespace workload {
namespace {

constexpr std::string_view kColourOff = "\x1b[0m";

}  // namespace

std::string align(const std::vector<AlignedLine>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.fields.size()));
    for (size_t i = 0; i < line.fields.size(); ++i) {
      widths[i] = std::max(widths[i], line.fields[i].size());
    }
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.fields.size(); ++i) {
      const bool is_last = i + 1 == line.fields.size();
      if (i > 0) text += "  ";
      if (is_last && !line.colour.empty()) {
        text += std::string(line.colour) + line.fields[i] + std::string(kColourOff);
      } else {
        text += line.fields[i];
        if (!is_last) text += std::string(widths[i] - line.fields[i].size(), ' ');
      }
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

}  // namespace workload
