#include "workload/experiment/effective_configuration.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "workload/report/json_text.h"

namespace workload {
namespace {

using SettingKey = std::pair<std::string_view, std::string_view>;
using Settings = std::map<SettingKey, std::vector<const ConfigurationLine*>>;

Settings settings_of(const EffectiveConfiguration& configuration) {
  Settings settings;
  for (const auto& line : configuration) settings[{line.place, line.name}].push_back(&line);
  for (auto& setting : settings) {
    std::sort(
        setting.second.begin(), setting.second.end(), [](const auto* left, const auto* right) {
          return std::tie(left->value, left->written) < std::tie(right->value, right->written);
        });
  }
  return settings;
}

bool equal_values(const std::vector<const ConfigurationLine*>& first,
                  const std::vector<const ConfigurationLine*>& second) {
  return std::equal(
      first.begin(), first.end(), second.begin(), second.end(),
      [](const auto* left, const auto* right) { return left->value == right->value; });
}

bool written_alike(const std::vector<const ConfigurationLine*>& first,
                   const std::vector<const ConfigurationLine*>& second) {
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const auto* left, const auto* right) {
                      return left->value == right->value && left->written == right->written;
                    });
}

std::string quoted_setting(const ConfigurationLine& line) {
  return "`" + line.name + " " + line.written + "`";
}

/// Why two lines of one value are the same; empty where they are written alike.
std::string reason_for(const ConfigurationLine& first, const ConfigurationLine& second) {
  if (first.written == second.written) return {};
  if (!first.written.empty() && !second.written.empty()) {
    return quoted_setting(second) + " is `" + first.written + "`";
  }
  const auto& explicit_line = first.written.empty() ? second : first;
  const auto& by_itself = first.written.empty() ? first : second;
  return quoted_setting(explicit_line) + (by_itself.said
                                              ? " is what it takes here by itself, as its log says"
                                              : " is the default here");
}

}  // namespace

void sort_configuration(EffectiveConfiguration& configuration) {
  std::sort(configuration.begin(), configuration.end(), [](const auto& left, const auto& right) {
    return std::tie(left.place, left.name, left.value) <
           std::tie(right.place, right.name, right.value);
  });
}

std::optional<std::string> why_same(const EffectiveConfiguration& first,
                                    const EffectiveConfiguration& second) {
  const Settings ours = settings_of(first);
  const Settings theirs = settings_of(second);
  if (ours.size() != theirs.size()) return std::nullopt;
  std::string reason;
  for (const auto& [key, lines] : ours) {
    const auto other = theirs.find(key);
    if (other == theirs.end() || !equal_values(lines, other->second)) return std::nullopt;
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string part = reason_for(*lines[i], *other->second[i]);
      if (!part.empty()) reason += (reason.empty() ? "" : ", ") + part;
    }
  }
  return reason;
}

void keep_differences(const std::vector<EffectiveConfiguration*>& configurations) {
  std::set<std::pair<std::string, std::string>> different;
  std::vector<Settings> all;
  for (const auto* configuration : configurations) all.push_back(settings_of(*configuration));
  for (const auto& settings : all) {
    for (const auto& setting : settings) {
      const bool alike = std::all_of(all.begin(), all.end(), [&](const Settings& others) {
        const auto other = others.find(setting.first);
        return other != others.end() && written_alike(setting.second, other->second);
      });
      if (!alike) different.emplace(setting.first.first, setting.first.second);
    }
  }
  for (auto* configuration : configurations) {
    std::erase_if(*configuration, [&](const ConfigurationLine& line) {
      return !different.contains({line.place, line.name});
    });
  }
}

void apply_said(EffectiveConfiguration& configuration,
                const std::map<std::string, std::string>& said) {
  for (auto& line : configuration) {
    const auto found = said.find(line.place + "." + line.name);
    if (found == said.end()) continue;
    line.value = found->second;
    line.said = true;
  }
}

boost::json::array configuration_to_json(const EffectiveConfiguration& configuration) {
  boost::json::array out;
  for (const auto& line : configuration) {
    out.push_back({{"place", line.place},
                   {"name", line.name},
                   {"value", line.value},
                   {"written", line.written.empty() ? nullptr : boost::json::value(line.written)}});
  }
  return out;
}

EffectiveConfiguration configuration_from_json(const boost::json::array& lines) {
  EffectiveConfiguration out;
  for (const auto& row : lines) {
    const auto* fields = row.if_object();
    if (fields == nullptr || text_at(*fields, "name").empty()) continue;
    out.push_back({text_at(*fields, "place"), text_at(*fields, "name"), text_at(*fields, "value"),
                   text_at(*fields, "written")});
  }
  return out;
}

}  // namespace workload
