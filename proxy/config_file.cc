#include "proxy/config_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <sstream>

namespace proxy {

namespace {

/// A number, a boolean or text as an option's value; nothing for anything else.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* number = node.as_floating_point()) {
    std::ostringstream out;
    out << number->get();
    return out.str();
  }
  return std::nullopt;
}

/// `scheme=ufs,path=DIR`: the scheme first, whatever the order in the file.
std::optional<std::string> table_text(const toml::table& table) {
  std::string text;
  for (const auto& [key, value] : table) {
    const auto scalar = scalar_text(value);
    if (!scalar) return std::nullopt;
    if (!text.empty()) text += ',';
    text += std::string(key.str()) + '=' + *scalar;
  }
  return text;
}

std::optional<std::string> value_text(const toml::node& node) {
  if (const auto* table = node.as_table()) return table_text(*table);
  return scalar_text(node);
}

std::string at(const std::filesystem::path& path, const toml::source_region& where) {
  return path.string() + ":" + std::to_string(where.begin.line) + ": ";
}

}  // namespace

ConfigFile read_config_file(const std::filesystem::path& path) {
  ConfigFile file;
  toml::table root;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    file.error = path.string() + ": is a folder; --config takes a TOML file";
    return file;
  }
  try {
    root = toml::parse_file(path.string());
  } catch (const toml::parse_error& failure) {
    file.error = at(path, failure.source()) + std::string(failure.description());
    return file;
  }
  // toml++ sorts keys; the file's own order is what repeated options and messages should follow.
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (auto&& [key, value] : root) entries.emplace_back(&key, &value);
  std::sort(entries.begin(), entries.end(), [](const auto& left, const auto& right) {
    return left.second->source().begin.line < right.second->source().begin.line;
  });
  for (const auto& [key, value] : entries) {
    const std::string name(key->str());
    std::vector<const toml::node*> values;
    if (const auto* array = value->as_array()) {
      for (const auto& element : *array) values.push_back(&element);
    } else {
      values.push_back(value);
    }
    for (const auto* element : values) {
      const auto text = value_text(*element);
      if (!text) {
        file.error = at(path, value->source()) + name +
                     " must be text, a number, true or false, a table of these, or a list of them";
        return file;
      }
      file.options.emplace_back(name, *text);
    }
  }
  return file;
}

}  // namespace proxy
