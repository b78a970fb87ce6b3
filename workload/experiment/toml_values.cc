#include "workload/experiment/toml_values.h"

#include <charconv>

namespace workload {

Problem problem_at(const std::string& file, const toml::source_region& where, std::string text) {
  return usage_problem(file + ":" + std::to_string(where.begin.line) + ": " + std::move(text));
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto truth = node.value_exact<bool>()) return *truth ? "true" : "false";
  if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
  if (const auto number = node.value_exact<double>()) {
    char buffer[64];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, *number).ptr);
  }
  return std::nullopt;
}

std::optional<std::string> system_text(const toml::node& node) {
  if (const auto truth = node.value_exact<bool>()) return *truth ? "on" : "off";
  return scalar_text(node);
}

}  // namespace workload
