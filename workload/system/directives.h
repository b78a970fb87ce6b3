// A generated configuration as names and values, so that single ones can be replaced.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// Names and values in sections, in order. A name can be there several times.
class Directives {
 public:
  void add(std::string section, std::string name, std::string value);

  /// For each option: replaces all directives of that name in a section, the first that has one, by
  /// one with its value; an empty value removes them. What is not there is added to the section
  /// that `section_of` names for it. An option `SECTION.NAME` concerns that section, where there is
  /// one of that name.
  void replace(const std::map<std::string, std::string>& options,
               const std::map<std::string, std::string, std::less<>>& section_of,
               const std::string& default_section);

  /// A line for each directive of the section: `indent`, name, a space, value, `end`.
  std::string text(std::string_view section, std::string_view indent, std::string_view end) const;

  struct Line {
    std::string section;
    std::string name;
    std::string value;
  };
  const std::vector<Line>& lines() const { return lines_; }

 private:
  std::vector<Line> lines_;
};

/// The part of a scheme's name behind its colon: `ufs` of `squid:ufs`; empty where there is none.
std::string kind_of_scheme(std::string_view scheme);

/// Bytes as whole mebibytes, rounded down, at least one.
std::string whole_mib(uint64_t bytes);

}  // namespace workload
