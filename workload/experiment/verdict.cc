#include "workload/experiment/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace workload {
namespace {

std::string decimal(double number, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, number);
  return buffer;
}

/// What was the busiest of a run in which nothing was saturated.
std::string_view find_busiest(const RunObservation& seen) {
  const std::array<std::pair<double, std::string_view>, 4> shares{
      {{std::max({seen.disk_busy_share.value_or(0), seen.proxy_blocked_share,
                  seen.helper_blocked_share}),
        kLimitedByDisk},
       {seen.proxy_loop_share, kLimitedByProxy},
       {seen.helper_cpu_share, kLimitedByHelper},
       {seen.origin_cpu_share, kLimitedByOrigin}}};
  const auto* busiest = std::max_element(
      shares.begin(), shares.end(),
      [](const auto& left, const auto& right) { return left.first < right.first; });
  return busiest->first >= kBusiestShare ? busiest->second : kLimitedByResponseTime;
}

std::string_view find_limit(const RunObservation& seen) {
  if (seen.load_cpu_share >= kSaturatedShare || !seen.generator_limit.empty()) {
    return kLimitedByLoad;
  }
  if (seen.proxy_loop_share + seen.proxy_blocked_share >= kSaturatedShare) {
    return seen.proxy_blocked_share > seen.proxy_loop_share ? kLimitedByDisk : kLimitedByProxy;
  }
  if (seen.helper_cpu_share + seen.helper_blocked_share >= kSaturatedShare) {
    return seen.helper_blocked_share > seen.helper_cpu_share ? kLimitedByDisk : kLimitedByHelper;
  }
  if (seen.disk_busy_share.value_or(0) >= kSaturatedShare) return kLimitedByDisk;
  if (seen.origin_cpu_share >= kSaturatedShare) return kLimitedByOrigin;
  if (seen.machine_busy_share.value_or(0) >= 0.95) return kLimitedByMachine;
  return seen.peak_limit == "system" ? find_busiest(seen) : kLimitedByOffer;
}

}  // namespace

RunVerdict judge_run(const RunObservation& seen) {
  RunVerdict verdict;
  verdict.limited_by = find_limit(seen);
  const auto warn = [&](std::string text) {
    verdict.warnings.push_back(std::move(text));
    verdict.valid = false;
  };
  if (seen.requests == 0) warn("no request was completed");
  if (seen.wrong_bodies > 0) {
    warn(std::to_string(seen.wrong_bodies) + " responses had wrong bytes");
  }
  if (verdict.limited_by == kLimitedByLoad) {
    const std::string why = seen.load_cpu_share >= kSaturatedShare
                                ? decimal(seen.load_cpu_share * 100, 0) + " % of a CPU"
                                : seen.generator_limit;
    warn("the load generator was the limit (" + why + "): the throughput is a lower bound");
  }
  if (verdict.limited_by == kLimitedByMachine) {
    verdict.warnings.emplace_back(
        "all CPUs of the machine were busy: proxy, origin and load generator held each other up");
  }
  if (static_cast<double>(seen.errors) > kErrorShareMax * static_cast<double>(seen.requests)) {
    warn(std::to_string(seen.errors) + " of " + std::to_string(seen.requests) +
         " requests failed (more than 0.1 %)");
  }
  if (static_cast<double>(seen.unsent) > kUnsentShareMax * static_cast<double>(seen.offered)) {
    warn(std::to_string(seen.unsent) + " of " + std::to_string(seen.offered) +
         " offered requests were never sent (more than 1 %)");
  }
  // Of a peak that was found, its own judgement counts: its load follows the response time.
  if (seen.peak_settled == false) {
    warn("the search for the peak did not settle: " + seen.peak_note);
  } else if (seen.steady == false && !seen.peak_settled) {
    warn("throughput was not steady");
  }
  if (seen.steal_share.value_or(0) > kStealShareMax) {
    warn("the hypervisor took " + decimal(*seen.steal_share * 100, 1) + " % of the CPU time");
  }
  if (seen.others_busy_share.value_or(0) > kOthersShareMax) {
    warn("other programs used " + decimal(*seen.others_busy_share * 100, 0) +
         " % of the machine's CPU time");
  }
  if (seen.memory_excess_share > kMemoryExcessMax) {
    warn("the memory limit was exceeded by " + decimal(seen.memory_excess_share * 100, 0) + " %");
  }
  if (std::fabs(seen.clock_step_s) > kClockStepMax) {
    warn("the wall clock was set by " + decimal(seen.clock_step_s, 3) + " s during the run");
  }
  if (seen.robot_hits && seen.proxy_hits && *seen.robot_hits != *seen.proxy_hits) {
    warn("the robots saw " + std::to_string(*seen.robot_hits) +
         " hits, the proxy's access log has " + std::to_string(*seen.proxy_hits));
  }
  return verdict;
}

}  // namespace workload
