// The phases of a run: how long each lasts, and what it multiplies the workload's figures with.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// A factor over a phase: a plateau where both ends are equal, else a straight line from one to the
/// other. 0 to 1.
struct PhaseFactor {
  double begin = 1;
  double end = 1;

  /// Its value at `progress` of the phase (0 to 1; what lies outside is cut).
  double at(double progress) const;
  friend bool operator==(const PhaseFactor& left, const PhaseFactor& right) = default;
};

/// When a phase is over: any one of the goals that are there has been met. At least one is.
struct PhaseGoal {
  std::optional<std::chrono::nanoseconds> duration;
  std::optional<uint64_t> requests;  ///< So many were sent in this phase.
  std::optional<double> fill;        ///< Fill traffic of this phase, in cache sizes.
  /// Name of the phase, an earlier one, from whose beginning on duration and requests count; empty:
  /// this one.
  std::string since;
  std::string fill_since;           ///< Likewise of the fill.
  bool working_set_frozen = false;  ///< And the working set has stopped growing.
  friend bool operator==(const PhaseGoal& left, const PhaseGoal& right) = default;
};

struct Phase {
  std::string name;  ///< Letters, digits, `_`, `-` and `.`.
  PhaseGoal goal;
  PhaseFactor robots;      ///< Share of the robots that are active; of the rate in an open loop.
  PhaseFactor load;        ///< Multiplies the rate of each robot, and that of an open loop.
  PhaseFactor recurrence;  ///< Multiplies the share of revisits.
  PhaseFactor special;     ///< Chance that kind and method of a request are drawn at all.
  bool primary = true;     ///< Its figures are the run's; the others are warm-up.
  bool recorded = true;    ///< It is measured at all; a warm-up by --warm-up is not.
  friend bool operator==(const Phase& left, const Phase& right) = default;
};

/// What is wrong with a phase by itself, beginning with the key; empty where all is well.
std::string check_phase(const Phase& phase);

/// What is wrong with the phases, naming the phase and the key; empty where all is well. An empty
/// list is well: no phases of the workload's own.
std::string check_phases(const std::vector<Phase>& phases);

/// Index of the phase from whose beginning on the goals of phase `index` count (`since` is one of
/// its goal's two); `index` itself where `since` is empty or no earlier phase.
size_t counting_from(const std::vector<Phase>& phases, size_t index, const std::string& since);

/// The goal of phase `index` less what the phases before it have reached where each has met its
/// own: what is left for the phase itself, as far as it is known beforehand.
PhaseGoal own_goal(const std::vector<Phase>& phases, size_t index);

/// What the ten phases of PolyMix-4 leave open.
struct PolymixPhaseOptions {
  std::chrono::nanoseconds plateau = std::chrono::hours(4);
  std::optional<std::chrono::nanoseconds> ramp;  ///< Nothing: a twelfth of the plateau.
  double fill = 2;                               ///< Cache sizes of fill traffic.
  double fill_factor = 1;   ///< Fill rate over peak rate; the reference leaves it to the tester.
  double robot_factor = 0;  ///< One robot's share of the load.
  double time_scale = 1;    ///< Divides all durations.
  bool frozen_fill = true;  ///< The fill waits until the working set has stopped growing.
  friend bool operator==(const PolymixPhaseOptions& left,
                         const PolymixPhaseOptions& right) = default;
};

/// framp, fill, fexit, inc1, top1, dec1, idle, inc2, top2, dec2, as the public PolyMix-4 workload
/// files give them; top1 and top2 are primary.
std::vector<Phase> polymix4_phases(const PolymixPhaseOptions& options);

/// Reads `polymix4[,plateau=4h][,ramp=20m][,fill=2][,fill-rate=PERCENT]`; nothing for anything
/// else, and `error` says what would be right.
std::optional<PolymixPhaseOptions> parse_polymix_phases(std::string_view text, std::string& error);

/// The cap of PolyMix-4's working set: peak rate x 0.45 x 80 % x length of the plateau, in objects.
/// `requests_per_second` and `plateau` are both of the scaled run, or both of the unscaled one.
uint64_t polymix4_working_set_cap(double requests_per_second, std::chrono::nanoseconds plateau);

}  // namespace workload
