#include "workload/client/goal.h"

#include <charconv>
#include <cmath>

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

}  // namespace

std::optional<Goal> parse_goal(std::string_view text, std::string& error) {
  const auto [name, value] = split(text);
  Goal goal;
  if (name == "duration") {
    const auto duration = storage::parse_duration(value);
    if (duration && duration->count() > 0) {
      goal.duration = *duration;
      return goal;
    }
  } else if (name == "requests") {
    const auto requests = storage::parse_count(value);
    if (requests && *requests > 0) {
      goal.kind = Goal::Kind::kRequests;
      goal.requests = *requests;
      return goal;
    }
  } else if (name == "fill") {
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), goal.fill);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
    if (whole && std::isfinite(goal.fill) && goal.fill > 0 && goal.fill <= kFillMax) {
      goal.kind = Goal::Kind::kFill;
      return goal;
    }
  }
  error = "'" + std::string(text) +
          "' is no goal; right would be duration=60s, requests=10000 or fill=2.0";
  return std::nullopt;
}

}  // namespace workload
