#include "workload/system/directives.h"

#include <algorithm>

#include "storage/base/units.h"

namespace workload {

void Directives::add(std::string section, std::string name, std::string value) {
  lines_.push_back({std::move(section), std::move(name), std::move(value)});
}

void Directives::replace(const std::map<std::string, std::string>& options,
                         const std::map<std::string, std::string, std::less<>>& section_of,
                         const std::string& default_section) {
  for (const auto& row : options) {
    // Names of a binding can be in no lambda of clang 14.
    const std::string& option = row.first;
    const std::string& value = row.second;
    std::string name = option;
    std::string section;
    const size_t dot = option.find('.');
    const bool names_section = dot != std::string::npos &&
                               std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
                                 return line.section == option.substr(0, dot);
                               });
    if (names_section) {
      section = option.substr(0, dot);
      name = option.substr(dot + 1);
    }
    const auto is_meant = [&](const Line& line) {
      return line.name == name && (section.empty() || line.section == section);
    };
    const auto first = std::find_if(lines_.begin(), lines_.end(), is_meant);
    if (first == lines_.end()) {
      if (value.empty()) continue;
      const auto known = section_of.find(name);
      lines_.push_back({!section.empty()            ? section
                        : known != section_of.end() ? known->second
                                                    : default_section,
                        name, value});
      continue;
    }
    section = first->section;
    first->value = value;
    const auto from = value.empty() ? first : std::next(first);
    lines_.erase(std::remove_if(from, lines_.end(), is_meant), lines_.end());
  }
}

std::string Directives::text(std::string_view section, std::string_view indent,
                             std::string_view end) const {
  std::string out;
  for (const auto& line : lines_) {
    if (line.section != section) continue;
    out += std::string(indent) + line.name + " " + line.value + std::string(end) + "\n";
  }
  return out;
}

std::string kind_of_scheme(std::string_view scheme) {
  const size_t colon = scheme.find(':');
  return colon == std::string_view::npos ? std::string() : std::string(scheme.substr(colon + 1));
}

std::string whole_mib(uint64_t bytes) {
  return std::to_string(std::max<uint64_t>(1, bytes / storage::kMiB));
}

}  // namespace workload
