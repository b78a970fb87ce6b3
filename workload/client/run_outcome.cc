#include "workload/client/run_outcome.h"

#include <algorithm>

#include "storage/base/units.h"

namespace workload {
namespace {

/// Above this the generator, not the system under test, may have been the limit.
constexpr double kBusyPercent = 90;
constexpr double kLateMs = 100;
/// Of an open loop's requests, that may be offered and not sent.
constexpr double kUnsentShareMax = 0.01;
/// Of the requests that were sent, that may be under way at the end and in no response time.
constexpr double kUnfinishedShareMax = 0.05;

bool load_not_carried(const Tally& total) {
  const uint64_t unsent = total.offered - std::min(total.offered, total.sent);
  return static_cast<double>(unsent) > kUnsentShareMax * static_cast<double>(total.offered);
}

/// What the generator itself was short of; the worst first. Each is a warning, and the first one is
/// the limit.
std::vector<std::pair<std::string, std::string>> generator_limits(const GeneratorHealth& health,
                                                                  const LoadOptions& options) {
  std::vector<std::pair<std::string, std::string>> limits;
  const auto whole = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  if (health.ports_exhausted > 0) {
    limits.emplace_back("ports",
                        std::to_string(health.ports_exhausted) +
                            " times no local port was free: use --source-addresses, or widen "
                            "'sysctl net.ipv4.ip_local_port_range'");
  }
  if (health.descriptors_exhausted > 0) {
    limits.emplace_back("descriptors", std::to_string(health.descriptors_exhausted) +
                                           " times no descriptor was free: raise 'ulimit -n' or "
                                           "'sysctl fs.file-max'");
  }
  if (health.cpu_percent_max > kBusyPercent) {
    limits.emplace_back("cpu", "the load generator was busy to " + whole(health.cpu_percent_max) +
                                   " %: throughput is a lower bound; use more --threads");
  }
  const auto late_ns = health.start_lateness.percentile_ns(99);
  if (options.load.open_loop() && late_ns && static_cast<double>(*late_ns) > kLateMs * 1e6) {
    limits.emplace_back("lateness", "1 % of the requests started over " +
                                        whole(static_cast<double>(*late_ns) / 1e6) +
                                        " ms late, for the load generator's own reasons");
  }
  const auto lag_ns = health.event_loop_lag.percentile_ns(90);
  if (!options.load.open_loop() && lag_ns && static_cast<double>(*lag_ns) > kLateMs * 1e6) {
    limits.emplace_back("event_loop",
                        "the load generator's event loop was over " +
                            whole(static_cast<double>(*lag_ns) / 1e6) +
                            " ms late for a tenth of the time: use more --threads or fewer robots");
  }
  return limits;
}

/// The recorded phases that began, with their measurements. `end` is the run's.
std::vector<PhaseResult> collect_phases(const RunControl& control, storage::SteadyTime end,
                                        const RunPart& part) {
  std::vector<PhaseResult> results;
  const auto from = control.recorded_from();
  for (size_t index = 0; index < control.phases().size(); ++index) {
    const Phase& phase = control.phases()[index];
    const auto began = control.began(index);
    if (!phase.recorded || !began) continue;
    PhaseResult result;
    result.merge(part.phases[index]);
    result.name = phase.name;
    result.goal = goal_text(phase.goal);
    result.primary = phase.primary;
    result.start = *began - *from;
    const bool last = index + 1 == control.phases().size();
    const auto ended =
        last || index == control.current() ? end : control.ended(index).value_or(end);
    result.duration = std::max(std::min(ended, end) - *began, storage::Nanoseconds(0));
    result.goal_met = index < control.current() || control.phase_progress(end) >= 1;
    result.ended_by = control.ended_by(index, std::min(ended, end));
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

GeneratorHealth health_of(const RunPart& part, const LoadOptions& options) {
  GeneratorHealth health;
  const WorkerHealth& threads = part.health;
  health.cpu_s = threads.cpu_s;
  if (threads.wall_s > 0) health.cpu_percent = 100 * threads.cpu_s / threads.wall_s;
  health.cpu_percent_max = part.cpu_percent_max;
  health.event_loop_lag = threads.lag;
  health.event_loop_lag_ms_max = static_cast<double>(threads.lag.max_ns().value_or(0)) / 1e6;
  health.start_lateness = threads.lateness;
  health.connections = threads.connections;
  health.stale_connection_retries = threads.retries;
  health.ports_exhausted = threads.ports_exhausted;
  health.descriptors_exhausted = threads.descriptors_exhausted;
  health.source_addresses = std::max<size_t>(1, options.sources.size());
  const auto limits = generator_limits(health, options);
  if (!limits.empty()) health.limit = limits.front().first;
  return health;
}

std::vector<std::string> health_warnings(const GeneratorHealth& health,
                                         const LoadOptions& options) {
  std::vector<std::string> warnings;
  for (const auto& [limit, warning] : generator_limits(health, options)) {
    warnings.push_back(warning);
  }
  if (health.event_loop_lag_ms_max > kLateMs) {
    warnings.push_back("the load generator ran up to " +
                       std::to_string(static_cast<int>(health.event_loop_lag_ms_max)) +
                       " ms late: the machine was too busy for exact response times");
  }
  return warnings;
}

void collect(LoadOutcome& outcome, const LoadOptions& options, const RunControl& control,
             const RunPart& part) {
  RunResult& result = outcome.result;
  outcome.recorder.merge(part.recorder);
  result.first_error = part.first_error;
  result.generator = health_of(part, options);
  const auto from = control.recorded_from();
  if (from) {
    // An aborted run ends where it was aborted, whatever it was meant to do.
    const auto until = control.aborted() ? std::nullopt : control.run_end();
    const storage::SteadyTime last_end = part.last_counted_end;
    const storage::SteadyTime end = std::max({until.value_or(last_end), last_end, *from});
    outcome.recorder.series.finish(end - *from);
    std::vector<PhaseResult> phases = collect_phases(control, end, part);
    for (const PhaseResult& phase : phases) outcome.recorder.Measurements::merge(phase);
    take_phases(result, std::move(phases), outcome.recorder.series);
  }
  result.ideal_hit_ratio_percent = part.ideal.hit_ratio_percent();
  result.ideal_byte_hit_ratio_percent = part.ideal.byte_hit_ratio_percent();
  result.cache_size_bytes = options.cache_size_bytes;
  result.seed = options.seed;
  result.threads = static_cast<int>(options.all_threads());
}

void add_warnings(LoadOutcome& outcome, const LoadOptions& options,
                  const std::vector<std::string>& of_health) {
  RunResult& result = outcome.result;
  result.warnings.insert(result.warnings.end(), of_health.begin(), of_health.end());
  const uint64_t unsent = result.total.offered - std::min(result.total.offered, result.total.sent);
  if (options.load.kind == LoadShape::Kind::kRate && load_not_carried(result.total)) {
    result.warnings.push_back(std::to_string(unsent) + " of " +
                              std::to_string(result.total.offered) +
                              " requests were offered and never sent (more than 1 %): the offered "
                              "load was not carried");
  }
  const uint64_t unfinished =
      result.total.sent - std::min(result.total.sent, result.total.completed);
  if (static_cast<double>(unfinished) >
      kUnfinishedShareMax * static_cast<double>(result.total.sent)) {
    result.warnings.push_back(std::to_string(unfinished) + " of " +
                              std::to_string(result.total.sent) +
                              " requests were still under way at the end: the response times are "
                              "those of the quicker ones and too low; let the run last longer");
  }
  if (options.verification != Verification::kBytes) {
    result.warnings.push_back("bodies were not compared, only their lengths");
  }
  if (!(outcome.recorder.series.total() == outcome.recorder.total)) {
    result.warnings.push_back("the intervals do not add up to the run: a mistake of cacheoff");
    outcome.failure = "the intervals do not add up to the run";
  }
}

std::string failure_of(const LoadOutcome& outcome, const RunControl& control, bool interrupted) {
  if (control.aborted()) return control.abort_reason();
  if (interrupted) return "interrupted";
  const uint64_t errors = outcome.result.total.error_count();
  if (errors > 0) {
    return std::to_string(errors) + " errors, the first: " + outcome.result.first_error;
  }
  const Tally& total = outcome.result.total;
  if (total.good + total.aborted + total.cut == 0) {
    return "no response came within the measured part";
  }
  // Where the load is searched for, to offer too much for a while is a part of it.
  const uint64_t unsent = total.not_sent_count();
  if (unsent > 0 && !outcome.result.peak) {
    return std::to_string(unsent) + " requests were given up before they were sent";
  }
  if (!outcome.result.peak && !outcome.result.generator.limit.empty() && load_not_carried(total)) {
    return std::to_string(total.offered - total.sent) + " of " + std::to_string(total.offered) +
           " requests were due and never sent, as the load generator was behind (" +
           outcome.result.generator.limit + ")";
  }
  return outcome.failure;
}

}  // namespace workload
