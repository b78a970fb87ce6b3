#include "workload/model/phases.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr double kRampsPerPlateau = 12;
/// The fill phases revisit 5 % instead of 55 %.
constexpr double kFillRecurrence = 5.0 / 55.0;
constexpr double kFillSpecial = 0.1;
constexpr double kIdleRobots = 0.1;
constexpr size_t kPhasesMax = 1000;
constexpr double kFillMax = 1e6;

std::chrono::nanoseconds scaled(std::chrono::nanoseconds duration, double time_scale) {
  return std::chrono::nanoseconds(
      std::max<int64_t>(1, std::llround(static_cast<double>(duration.count()) / time_scale)));
}

Phase timed_phase(const char* name, std::chrono::nanoseconds duration, PhaseFactor robots) {
  Phase phase;
  phase.name = name;
  phase.goal.duration = duration;
  phase.robots = robots;
  phase.primary = false;
  return phase;
}

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

bool is_factor(const PhaseFactor& factor) {
  const auto in_range = [](double value) { return value >= 0 && value <= 1; };
  return in_range(factor.begin) && in_range(factor.end);
}

bool parse_number(std::string_view text, double& value, double max) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() &&
         std::isfinite(value) && value > 0 && value <= max;
}

/// Sets one of the options; false where name or value is wrong.
bool set_option(PolymixPhaseOptions& options, std::string_view name, std::string_view value) {
  if (name == "fill") return parse_number(value, options.fill, kFillMax);
  if (name == "fill-rate") {
    const bool right = parse_number(value, options.fill_factor, 100);
    options.fill_factor /= 100;
    return right;
  }
  const auto duration = storage::parse_duration(value);
  if (!duration || duration->count() <= 0) return false;
  if (name == "plateau") {
    options.plateau = *duration;
  } else if (name == "ramp") {
    options.ramp = *duration;
  } else {
    return false;
  }
  return true;
}

/// Takes off one goal of `own` what the last phase in [from, index) with such a goal has reached by
/// its end.
template <class Value>
void take_off_earlier(PhaseGoal& own, std::optional<Value> PhaseGoal::*goal,
                      const std::vector<Phase>& phases, size_t from, size_t index) {
  if (!(own.*goal)) return;
  for (size_t before = index; before > from; --before) {
    const std::optional<Value>& earlier = phases[before - 1].goal.*goal;
    if (!earlier) continue;
    own.*goal = *(own.*goal) > *earlier ? *(own.*goal) - *earlier : Value{};
    return;
  }
}

}  // namespace

double PhaseFactor::at(double progress) const {
  return begin + (end - begin) * std::clamp(progress, 0.0, 1.0);
}

std::string check_phase(const Phase& phase) {
  if (!is_name(phase.name)) {
    return "name: must be 1 to 64 letters, digits, '_', '-' and '.'";
  }
  const PhaseGoal& goal = phase.goal;
  if (!goal.duration && !goal.requests && !goal.fill) {
    return "goal: duration, requests or fill is missing";
  }
  if (goal.duration && goal.duration->count() <= 0) return "duration: must be above 0";
  if (goal.requests && *goal.requests == 0) return "requests: must be above 0";
  if (goal.fill && !(*goal.fill > 0 && *goal.fill <= kFillMax)) return "fill: must be above 0";
  const std::pair<const char*, const PhaseFactor*> factors[] = {{"robots", &phase.robots},
                                                                {"load", &phase.load},
                                                                {"recurrence", &phase.recurrence},
                                                                {"special", &phase.special}};
  for (const auto& [name, factor] : factors) {
    if (!is_factor(*factor)) return std::string(name) + ": must lie from 0 to 1";
    const bool of_load = factor == &phase.robots || factor == &phase.load;
    if (of_load && !goal.duration && factor->begin <= 0 && factor->end <= 0) {
      return std::string(name) +
             ": is 0 all the time, so the goal is never reached; give the phase a duration";
    }
  }
  return {};
}

size_t counting_from(const std::vector<Phase>& phases, size_t index, const std::string& since) {
  for (size_t earlier = 0; !since.empty() && earlier < index; ++earlier) {
    if (phases[earlier].name == since) return earlier;
  }
  return index;
}

PhaseGoal own_goal(const std::vector<Phase>& phases, size_t index) {
  PhaseGoal own = phases[index].goal;
  const size_t from = counting_from(phases, index, own.since);
  take_off_earlier(own, &PhaseGoal::duration, phases, from, index);
  take_off_earlier(own, &PhaseGoal::requests, phases, from, index);
  take_off_earlier(own, &PhaseGoal::fill, phases, counting_from(phases, index, own.fill_since),
                   index);
  return own;
}

std::string check_phases(const std::vector<Phase>& phases) {
  if (phases.empty()) return {};
  if (phases.size() > kPhasesMax) return "phases: at most 1000";
  std::set<std::string> names;
  for (size_t index = 0; index < phases.size(); ++index) {
    const Phase& phase = phases[index];
    std::string problem = check_phase(phase);
    if (problem.empty() && !names.insert(phase.name).second) {
      problem = "name: '" + phase.name + "' stands there twice";
    }
    for (const auto& [key, since] :
         {std::pair<const char*, const std::string*>{"since", &phase.goal.since},
          {"fill_since", &phase.goal.fill_since}}) {
      if (problem.empty() && !since->empty() && counting_from(phases, index, *since) == index) {
        problem = std::string(key) + ": '" + *since + "' is no earlier phase";
      }
    }
    const PhaseGoal own = own_goal(phases, index);
    const bool late = (own.duration && own.duration->count() == 0) ||
                      (own.requests && *own.requests == 0) || (own.fill && *own.fill <= 0);
    if (problem.empty() && late) {
      problem = "goal: is reached by the phases before, which count too";
    }
    if (!problem.empty()) return "phases[" + std::to_string(index) + "]." + problem;
  }
  const auto primary = [](const Phase& phase) { return phase.primary; };
  if (std::none_of(phases.begin(), phases.end(), primary)) {
    return "phases: none is primary, so the run would have no figures";
  }
  return {};
}

std::vector<Phase> polymix4_phases(const PolymixPhaseOptions& options) {
  const auto plateau = scaled(options.plateau, options.time_scale);
  const auto unscaled_ramp = options.ramp.value_or(std::chrono::nanoseconds(
      std::llround(static_cast<double>(options.plateau.count()) / kRampsPerPlateau)));
  const auto ramp = scaled(unscaled_ramp, options.time_scale);
  const double one = std::min(options.robot_factor, options.fill_factor);
  const double fill_factor = options.fill_factor;

  Phase framp = timed_phase("framp", ramp, {one, fill_factor});
  framp.recurrence = {kFillRecurrence, kFillRecurrence};
  framp.special = {kFillSpecial, kFillSpecial};
  Phase fill = framp;
  fill.name = "fill";
  fill.goal.duration.reset();
  fill.goal.fill = options.fill;
  fill.goal.working_set_frozen = options.frozen_fill;
  fill.robots = {fill_factor, fill_factor};
  Phase fexit = timed_phase("fexit", ramp, {fill_factor, one});
  fexit.recurrence = {kFillRecurrence, 1};
  fexit.special = {kFillSpecial, 1};
  Phase top1 = timed_phase("top1", plateau, {1, 1});
  top1.primary = true;
  Phase top2 = top1;
  top2.name = "top2";
  return {framp,
          fill,
          fexit,
          timed_phase("inc1", ramp, {one, 1}),
          top1,
          timed_phase("dec1", ramp, {1, kIdleRobots}),
          timed_phase("idle", ramp, {kIdleRobots, kIdleRobots}),
          timed_phase("inc2", ramp, {kIdleRobots, 1}),
          top2,
          timed_phase("dec2", ramp, {1, 0})};
}

std::optional<PolymixPhaseOptions> parse_polymix_phases(std::string_view text, std::string& error) {
  PolymixPhaseOptions options;
  size_t begin = 0;
  bool right = text.substr(0, text.find(',')) == "polymix4";
  while (right && (begin = text.find(',', begin)) != std::string_view::npos) {
    ++begin;
    const std::string_view part = text.substr(begin, text.find(',', begin) - begin);
    const size_t equals = part.find('=');
    right = equals != std::string_view::npos &&
            set_option(options, part.substr(0, equals), part.substr(equals + 1));
  }
  if (right) return options;
  error = "'" + std::string(text) +
          "': right would be polymix4,plateau=4h,ramp=20m,fill=2,fill-rate=100 (in percent of the "
          "peak rate), each part behind polymix4 optional";
  return std::nullopt;
}

uint64_t polymix4_working_set_cap(double requests_per_second, std::chrono::nanoseconds plateau) {
  const double plateau_s = storage::seconds_of(plateau);
  return static_cast<uint64_t>(
      std::max(1.0, std::round(requests_per_second * 0.45 * 0.8 * plateau_s)));
}

}  // namespace workload
