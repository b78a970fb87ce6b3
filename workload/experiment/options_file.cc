#include "workload/experiment/options_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "workload/client/goal.h"
#include "workload/client/load_shape.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/toml_values.h"
#include "workload/experiment/variation_file.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr uint64_t kFileBytesMax = 1 << 20;

Expected<std::vector<std::string>> option_values(const toml::node& node, const std::string& file,
                                                 const std::string& key) {
  std::vector<std::string> values;
  const auto add = [&](const toml::node& element) {
    auto text = scalar_text(element);
    if (text) values.push_back(std::move(*text));
    return text.has_value();
  };
  if (const auto* array = node.as_array()) {
    for (const auto& element : *array) {
      if (!add(element)) {
        return problem_at(file, element.source(), key + " must hold strings or numbers");
      }
    }
  } else if (!add(node)) {
    return problem_at(file, node.source(), key + " must be a string, a number or true or false");
  }
  return values;
}

Expected<void> read_scheme_options(ExperimentOptions& options, const toml::node& node,
                                   const std::string& file) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return problem_at(file, node.source(), "scheme-options must be a table, e.g. ufs = \"l1=16\"");
  }
  for (const auto& [scheme, value] : *table) {
    const auto text = value.value_exact<std::string>();
    if (!text || text->empty()) {
      return problem_at(file, value.source(),
                        "scheme-options." + std::string(scheme.str()) +
                            " must be a string such as \"l1=16,l2=64\"");
    }
    options.scheme_options[std::string(scheme.str())] = *text;
  }
  return {};
}

Expected<void> read_scheme_loads(ExperimentOptions& options, const toml::node& node,
                                 const std::string& file) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return problem_at(file, node.source(), "scheme-load must be a table, e.g. none = \"peak\"");
  }
  for (const auto& [scheme, value] : *table) {
    const std::string name = "scheme-load." + std::string(scheme.str());
    const auto text = value.value_exact<std::string>();
    std::string error = "must be a string such as \"peak,window=3s..4s\"";
    if (!text || !parse_load_shape(*text, error)) {
      return problem_at(file, value.source(), name + ": " + error);
    }
    options.scheme_loads[std::string(scheme.str())] = *text;
  }
  return {};
}

Expected<void> read_scheme_untils(ExperimentOptions& options, const toml::node& node,
                                  const std::string& file) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return problem_at(file, node.source(),
                      "scheme-until must be a table, e.g. none = \"duration=60s\"");
  }
  for (const auto& [scheme, value] : *table) {
    const std::string name = "scheme-until." + std::string(scheme.str());
    const auto text = value.value_exact<std::string>();
    std::string error = "must be a string such as \"duration=60s\"";
    if (!text || !parse_goal(*text, error)) {
      return problem_at(file, value.source(), name + ": " + error);
    }
    options.scheme_untils[std::string(scheme.str())] = *text;
  }
  return {};
}

Expected<void> read_proxy_options(ExperimentOptions& options, const toml::node& node,
                                  const std::string& file) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return problem_at(file, node.source(),
                      "proxy-options must be a table, e.g. memory-cache = \"64M\"");
  }
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (!is_proxy_option_free(name)) {
      return problem_at(file, value.source(), "proxy-options." + name + ": the bench sets it");
    }
    const auto text = scalar_text(value);
    if (!text || text->empty()) {
      return problem_at(file, value.source(),
                        "proxy-options." + name + " must be a string or a number");
    }
    options.proxy_options[name] = *text;
  }
  return {};
}

Expected<void> read_system_options(ExperimentOptions& options, const toml::node& node,
                                   const std::string& file) {
  const auto* systems = node.as_table();
  if (systems == nullptr) {
    return problem_at(file, node.source(), "write system-options as [system-options.nginx]");
  }
  for (const auto& [key, table_node] : *systems) {
    const std::string system(key.str());
    const auto* table = table_node.as_table();
    if (table == nullptr) {
      return problem_at(file, table_node.source(),
                        "system-options." + system + " must be a table, as [system-options.nginx]");
    }
    for (const auto& [name, value] : *table) {
      const auto text = system_text(value);
      if (!text) {
        return problem_at(file, value.source(),
                          "system-options." + system + "." + std::string(name.str()) +
                              " must be a string, a number or true or false");
      }
      options.system_options[system][std::string(name.str())] = *text;
    }
  }
  return {};
}

Expected<void> read_exclusions(ExperimentOptions& options, const toml::node& node,
                               const std::string& file) {
  const auto* array = node.as_array();
  if (array == nullptr || !array->is_homogeneous(toml::node_type::table)) {
    return problem_at(file, node.source(), "exclude must be written as [[exclude]]");
  }
  for (const auto& element : *array) {
    Exclusion exclusion;
    for (const auto& [key, value] : *element.as_table()) {
      const auto text = value.value_exact<std::string>();
      std::string* field = key.str() == "scheme"       ? &exclusion.scheme
                           : key.str() == "filesystem" ? &exclusion.filesystem
                           : key.str() == "mount"      ? &exclusion.mount_options
                                                       : nullptr;
      if (field == nullptr || !text || text->empty()) {
        return problem_at(file, value.source(),
                          "exclude." + std::string(key.str()) +
                              ": scheme, filesystem and mount may stand here, as strings");
      }
      *field = *text;
    }
    if (element.as_table()->empty()) {
      return problem_at(file, element.source(), "an [[exclude]] without a key excludes everything");
    }
    options.exclusions.push_back(std::move(exclusion));
  }
  return {};
}

std::string option_name(std::string_view key) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Expected<toml::table> parse_file(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return problem_at(file, error.source(), std::string(error.description()));
  }
}

Expected<void> apply_table(ExperimentOptions& options, const toml::table& table,
                           const std::string& file, bool is_short_form) {
  for (const auto& [key, node] : table) {
    const std::string name = option_name(key.str());
    if (name == "short" && !is_short_form) continue;  // it comes behind the rest
    Expected<void> done;
    if (name == "scheme-options") {
      done = read_scheme_options(options, node, file);
    } else if (name == "proxy-options") {
      done = read_proxy_options(options, node, file);
    } else if (name == "scheme-load") {
      done = read_scheme_loads(options, node, file);
    } else if (name == "scheme-until") {
      done = read_scheme_untils(options, node, file);
    } else if (name == "system-options") {
      done = read_system_options(options, node, file);
    } else if (name == "exclude") {
      done = read_exclusions(options, node, file);
    } else if (name == "vary") {
      done = read_vary_table(options.variation, node, file);
    } else if (name == "variant") {
      done = read_variant_tables(options.variation, node, file);
    } else {
      auto values = option_values(node, file, std::string(key.str()));
      if (!values) return values.error();
      if (auto set = set_option(options, name, *values); !set) {
        return problem_at(file, node.source(), set.error().text);
      }
    }
    if (!done) return done;
  }
  return {};
}

}  // namespace

Expected<void> apply_options_text(ExperimentOptions& options, std::string_view toml,
                                  const std::string& file) {
  auto table = parse_file(toml, file);
  if (!table) return table.error();
  if (auto done = apply_table(options, *table, file, false); !done) return done;
  const auto* short_form = table->get("short");
  if (short_form != nullptr && !short_form->is_table()) {
    return problem_at(file, short_form->source(), "short must be a table, written as [short]");
  }
  if (!options.short_form) return {};
  if (short_form == nullptr) {
    return usage_problem("--short: '" + file + "' has no table [short]");
  }
  return apply_table(options, *short_form->as_table(), file, true);
}

Expected<void> apply_options_file(ExperimentOptions& options, const std::string& path) {
  auto text = read_file(path, kFileBytesMax);
  if (!text) return usage_problem(text.error().text);
  return apply_options_text(options, *text, path);
}

Expected<bool> file_asks_for_quick(const std::string& path) {
  auto text = read_file(path, kFileBytesMax);
  if (!text) return usage_problem(text.error().text);
  auto table = parse_file(*text, path);
  if (!table) return table.error();
  return (*table)["quick"].value_or(false);
}

}  // namespace workload
