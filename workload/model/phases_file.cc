#include "workload/model/phases_file.h"

#include <array>
#include <charconv>
#include <string_view>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr std::string_view kKeys =
    "name, duration, requests, fill, since, fill_since, working_set_frozen, robots, load, "
    "recurrence, special, primary";

/// A number, or a pair of them.
bool read_factor(const toml::node& node, PhaseFactor& factor) {
  if (node.is_number()) {
    factor.begin = factor.end = *node.value<double>();
    return true;
  }
  const toml::array* const pair = node.as_array();
  if (pair == nullptr || pair->size() != 2) return false;
  const toml::node& begin = (*pair)[0];
  const toml::node& end = (*pair)[1];
  if (!begin.is_number() || !end.is_number()) return false;
  factor = {*begin.value<double>(), *end.value<double>()};
  return true;
}

/// Empty where the value was taken, else what would be right.
std::string read_key(std::string_view key, const toml::node& value, Phase& phase) {
  const auto text = value.value_exact<std::string_view>();
  const auto number = value.is_number() ? value.value<double>() : std::nullopt;
  const auto flag = value.value_exact<bool>();
  if (key == "name") {
    if (!text) return "must be a text";
    phase.name = *text;
  } else if (key == "duration") {
    const auto duration = text ? storage::parse_duration(*text) : std::nullopt;
    if (!duration || duration->count() <= 0) return "must be a time such as \"20m\"";
    phase.goal.duration = *duration;
  } else if (key == "requests") {
    const auto count = value.value_exact<int64_t>();
    if (!count || *count <= 0) return "must be a whole number above 0";
    phase.goal.requests = static_cast<uint64_t>(*count);
  } else if (key == "fill") {
    if (!number || !(*number > 0)) return "must be a number above 0";
    phase.goal.fill = *number;
  } else if (key == "since" || key == "fill_since") {
    if (!text || text->empty()) return "must be the name of an earlier phase";
    (key == "since" ? phase.goal.since : phase.goal.fill_since) = *text;
  } else if (key == "working_set_frozen" || key == "primary") {
    if (!flag) return "must be true or false";
    (key == "primary" ? phase.primary : phase.goal.working_set_frozen) = *flag;
  } else if (key == "robots" || key == "load" || key == "recurrence" || key == "special") {
    PhaseFactor& factor = key == "robots"       ? phase.robots
                          : key == "load"       ? phase.load
                          : key == "recurrence" ? phase.recurrence
                                                : phase.special;
    if (!read_factor(value, factor)) return "must be a number or [begin, end], from 0 to 1";
  } else {
    return "unknown key; right would be one of " + std::string(kKeys);
  }
  return {};
}

void write_factor(std::ostream& out, const char* key, const PhaseFactor& factor) {
  out << key << " = [" << number_text(factor.begin) << ", " << number_text(factor.end) << "]\n";
}

}  // namespace

std::string number_text(double value) {
  std::array<char, 64> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

PhasesProblem read_phases(const toml::node& node, std::vector<Phase>& phases) {
  phases.clear();
  const toml::array* const array = node.as_array();
  if (array == nullptr || array->empty()) return {&node, "phases: must be [[phases]] tables"};
  Phase before;
  for (const toml::node& each : *array) {
    const std::string prefix = "phases[" + std::to_string(phases.size()) + "]";
    const toml::table* const table = each.as_table();
    if (table == nullptr) return {&each, prefix + ": must be a table"};
    Phase phase;
    const auto plateau = [](const PhaseFactor& factor) {
      return PhaseFactor{factor.end, factor.end};
    };
    phase.robots = plateau(before.robots);
    phase.load = plateau(before.load);
    phase.recurrence = plateau(before.recurrence);
    phase.special = plateau(before.special);
    for (const auto& [key, value] : *table) {
      const std::string problem = read_key(key.str(), value, phase);
      if (!problem.empty()) {
        return {&value, prefix + "." + std::string(key.str()) + ": " + problem};
      }
    }
    phases.push_back(phase);
    const std::string problem = check_phase(phase);
    if (!problem.empty()) return {&each, prefix + "." + problem};
    before = phase;
  }
  return {&node, check_phases(phases)};
}

void write_phases(std::ostream& out, const std::vector<Phase>& phases) {
  for (const Phase& phase : phases) {
    out << "\n[[phases]]\nname = \"" << phase.name << "\"\n";
    if (phase.goal.duration) {
      out << "duration = \"" << phase.goal.duration->count() << "ns\"\n";
    }
    if (phase.goal.requests) out << "requests = " << *phase.goal.requests << '\n';
    if (phase.goal.fill) out << "fill = " << number_text(*phase.goal.fill) << '\n';
    if (!phase.goal.since.empty()) out << "since = \"" << phase.goal.since << "\"\n";
    if (!phase.goal.fill_since.empty()) out << "fill_since = \"" << phase.goal.fill_since << "\"\n";
    out << "working_set_frozen = " << (phase.goal.working_set_frozen ? "true" : "false") << '\n';
    write_factor(out, "robots", phase.robots);
    write_factor(out, "load", phase.load);
    write_factor(out, "recurrence", phase.recurrence);
    write_factor(out, "special", phase.special);
    out << "primary = " << (phase.primary ? "true" : "false") << '\n';
  }
}

}  // namespace workload
