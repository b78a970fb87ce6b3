// What limited a run, and whether its figures may be believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// Values of `limited_by`.
inline constexpr std::string_view kLimitedByLoad = "load_generator_cpu";
inline constexpr std::string_view kLimitedByProxy = "proxy_cpu";
inline constexpr std::string_view kLimitedByHelper = "helper_cpu";
inline constexpr std::string_view kLimitedByDisk = "disk";
inline constexpr std::string_view kLimitedByOrigin = "origin_cpu";
inline constexpr std::string_view kLimitedByMachine = "machine_cpu";
inline constexpr std::string_view kLimitedByOffer = "offered_load";

inline constexpr std::string_view kLimitedByResponseTime = "response_time";

/// What was seen during one run. Shares are 0 to 1.
struct RunObservation {
  double load_cpu_share = 0;    ///< CPU time over wall time; 1 is one CPU, kept busy throughout.
  double proxy_cpu_share = 0;   ///< Likewise, all its threads together.
  double origin_cpu_share = 0;  ///< Likewise.
  /// The same of the thread that the proxy's event loop runs on: threads that do its I/O may use
  /// more than a CPU together while the loop has nothing to do.
  double proxy_loop_share = 0;
  /// Share of samples in which the proxy's event loop waited for a device.
  double proxy_blocked_share = 0;
  /// Of the helper process that was the fullest: CPU time, and samples in which it waited for a
  /// device.
  double helper_cpu_share = 0;
  double helper_blocked_share = 0;
  std::optional<double> disk_busy_share;     ///< Of the device under the cache.
  std::optional<double> machine_busy_share;  ///< Of all CPUs of the machine.
  /// Of all CPUs, what others than the run's three programs used; the kernel's own threads too.
  std::optional<double> others_busy_share;
  std::optional<double> steal_share;  ///< CPU time that the hypervisor gave to others.
  double clock_step_s = 0;            ///< How far the wall clock was set, either way.
  /// By how much the system under test exceeded its memory limit, as a share of it.
  double memory_excess_share = 0;
  uint64_t requests = 0;
  uint64_t errors = 0;
  uint64_t wrong_bodies = 0;
  std::optional<bool> steady;
  /// What the generator says it was short of (`generator.limit` of run.json); empty: nothing.
  std::string generator_limit;
  /// Who limited the peak that was looked for (`peak.limit` of run.json); empty: none was.
  std::string peak_limit;
  /// Of such a run: whether it settled, and what was found, in a sentence.
  std::optional<bool> peak_settled;
  std::string peak_note;
  /// Of an open loop whose rate was given: requests that were due, and of them those never sent.
  uint64_t offered = 0;
  uint64_t unsent = 0;
  /// Hits of the robots and of the proxy's access log; nothing where they can't be compared.
  std::optional<uint64_t> robot_hits;
  std::optional<uint64_t> proxy_hits;
};

/// The judgement.
struct RunVerdict {
  std::string limited_by;
  std::vector<std::string> warnings;  ///< One line each.
  /// False where a warning makes the figures unfit for the table.
  bool valid = true;
};

/// A share of one CPU from which a program that runs on one thread counts as saturated.
inline constexpr double kSaturatedShare = 0.9;
/// Share of requests that may fail in a valid run.
inline constexpr double kErrorShareMax = 0.001;
/// Share of CPU time that may be stolen in a valid run.
inline constexpr double kStealShareMax = 0.01;
/// Share of all CPUs that other programs may use in a valid run.
inline constexpr double kOthersShareMax = 0.25;
/// Share of the offered requests that may remain unsent in a valid run.
inline constexpr double kUnsentShareMax = 0.01;
/// From which share on what was the busiest counts as what held a peak's response time up. The
/// peak finder goes no higher than the response time allows, so that nothing need be saturated.
inline constexpr double kBusiestShare = 0.5;
/// By what share the memory limit may be exceeded in a valid run.
inline constexpr double kMemoryExcessMax = 0.05;
/// How far the wall clock may move in a valid run, in seconds.
inline constexpr double kClockStepMax = 0.1;

/// Names the limit (the generator before all else, since it makes the figure a lower bound; of a
/// peak that the system under test limited what was the busiest, or `response_time` where nothing
/// was much in use) and
/// lists what makes the run invalid. That all CPUs were busy is a warning only: the figures are
/// what this machine can do, although not what the proxy could do alone.
RunVerdict judge_run(const RunObservation& seen);

}  // namespace workload
