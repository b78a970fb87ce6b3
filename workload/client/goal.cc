#include "workload/client/goal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr double kFillMax = 1e6;

struct NameAndValue {
  std::string_view name;
  std::string_view value;
};

NameAndValue split(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Sets one goal; false where it is none.
bool set_goal(Goal& goal, const NameAndValue& part) {
  if (part.name == "duration") {
    goal.duration = storage::parse_duration(part.value);
    return goal.duration && goal.duration->count() > 0;
  }
  if (part.name == "requests") {
    goal.requests = storage::parse_count(part.value);
    return goal.requests && *goal.requests > 0;
  }
  if (part.name != "fill") return false;
  const std::string_view value = part.value;
  double fill = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), fill);
  goal.fill = fill;
  return parsed.ec == std::errc() && parsed.ptr == value.data() + value.size() &&
         std::isfinite(fill) && fill > 0 && fill <= kFillMax;
}

}  // namespace

std::optional<Goal> parse_goal(std::string_view text, std::string& error) {
  Goal goal;
  std::set<std::string_view> names;
  const std::string all = "'" + std::string(text) + "'";
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.empty() && text.find(',') != std::string_view::npos) {
      error = all + ": a goal is missing beside a comma; right would be fill=2.0,duration=60s";
      return std::nullopt;
    }
    const NameAndValue goal_text = split(part);
    if (!set_goal(goal, goal_text)) {
      error = "'" + std::string(part) +
              "' is no goal; right would be duration=60s, requests=10000 or fill=2.0, or several "
              "of them (fill=2.0,duration=60s: the first that is reached is the end)";
      return std::nullopt;
    }
    if (!names.insert(goal_text.name).second) {
      error = all + ": " + std::string(goal_text.name) + " stands there twice";
      return std::nullopt;
    }
    begin = end + 1;
  }
  return goal;
}

}  // namespace workload
