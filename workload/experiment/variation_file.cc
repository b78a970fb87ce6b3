#include "workload/experiment/variation_file.h"

#include <algorithm>

#include "workload/experiment/toml_values.h"

namespace workload {
namespace {

constexpr size_t kVariantNameMax = 60;

/// A list of different values, or one value alone.
Expected<std::vector<std::string>> different_values(const toml::node& node, const std::string& file,
                                                    const std::string& where) {
  std::vector<std::string> values;
  const auto add = [&](const toml::node& element) -> Expected<void> {
    auto text = system_text(element);
    if (!text) {
      return problem_at(file, element.source(),
                        where + " must list strings, numbers or true and false");
    }
    if (std::find(values.begin(), values.end(), *text) != values.end()) {
      return problem_at(file, element.source(), where + ": '" + *text + "' is listed twice");
    }
    values.push_back(std::move(*text));
    return {};
  };
  const auto* array = node.as_array();
  if (array == nullptr) {
    if (auto done = add(node); !done) return done.error();
    return values;
  }
  if (array->empty()) {
    return problem_at(file, node.source(), where + " must list at least one value");
  }
  for (const auto& element : *array) {
    if (auto done = add(element); !done) return done.error();
  }
  return values;
}

bool is_variant_name(const std::string& name) {
  return !name.empty() && name.size() <= kVariantNameMax && name != kBaseVariant &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

Expected<void> read_set(NamedVariant& named, const toml::node& node, const std::string& file) {
  const auto* table = node.as_table();
  if (table == nullptr || table->empty()) {
    return problem_at(file, node.source(),
                      "variant.options must be a table of options, e.g. { use = \"epoll\" }");
  }
  for (const auto& [key, value] : *table) {
    const std::string option(key.str());
    auto text = system_text(value);
    if (!text) {
      return problem_at(
          file, value.source(),
          "variant.options." + option + " must be a string, a number or true or false");
    }
    named.options[option] = std::move(*text);
  }
  return {};
}

Expected<NamedVariant> read_variant(const toml::table& table, const std::string& file) {
  NamedVariant named;
  for (const auto& [key, value] : table) {
    if (key.str() == "options") {
      if (auto done = read_set(named, value, file); !done) return done.error();
      continue;
    }
    const auto text = value.value_exact<std::string>();
    std::string* field = key.str() == "name"     ? &named.name
                         : key.str() == "system" ? &named.of
                                                 : nullptr;
    if (field == nullptr || !text) {
      return problem_at(file, value.source(),
                        "variant." + std::string(key.str()) +
                            ": name and system may stand here, as strings, and options");
    }
    *field = *text;
  }
  if (!is_variant_name(named.name)) {
    return problem_at(file, table.source(),
                      "variant.name '" + named.name + "': must be 1 to " +
                          std::to_string(kVariantNameMax) + " printable characters, and not base");
  }
  if (named.of.empty() || named.options.empty()) {
    return problem_at(file, table.source(),
                      "variant '" + named.name + "': needs system and options");
  }
  return named;
}

}  // namespace

Expected<void> read_vary_table(OptionVariation& variation, const toml::node& node,
                               const std::string& file) {
  variation.options.clear();
  const auto* systems = node.as_table();
  if (systems == nullptr) return problem_at(file, node.source(), "write vary as [vary.nginx]");
  for (const auto& [key, table_node] : *systems) {
    const std::string of(key.str());
    const auto* table = table_node.as_table();
    if (table == nullptr || table->empty()) {
      return problem_at(file, table_node.source(),
                        "vary." + of + " must be a table of options, as [vary.nginx]");
    }
    for (const auto& [name, value] : *table) {
      VariedOption varied{of, std::string(name.str()), {}};
      auto values = different_values(value, file, "vary." + of + "." + varied.option);
      if (!values) return values.error();
      varied.values = std::move(*values);
      variation.options.push_back(std::move(varied));
    }
  }
  return {};
}

Expected<void> read_variant_tables(OptionVariation& variation, const toml::node& node,
                                   const std::string& file) {
  variation.variants.clear();
  const auto* array = node.as_array();
  if (array == nullptr || !array->is_homogeneous(toml::node_type::table)) {
    return problem_at(file, node.source(), "variant must be written as [[variant]]");
  }
  for (const auto& element : *array) {
    auto named = read_variant(*element.as_table(), file);
    if (!named) return named.error();
    const auto known = std::find_if(variation.variants.begin(), variation.variants.end(),
                                    [&](const NamedVariant& other) {
                                      return other.name == named->name && other.of == named->of;
                                    });
    if (known != variation.variants.end()) {
      return problem_at(file, element.source(),
                        "variant '" + named->name + "': is there twice for " + named->of);
    }
    variation.variants.push_back(std::move(*named));
  }
  return {};
}

}  // namespace workload
