#include "workload/client/load_run.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/base/units.h"
#include "workload/client/generator_limits.h"
#include "workload/client/load_worker.h"
#include "workload/client/peak_sampler.h"
#include "workload/client/run_control.h"

namespace workload {
namespace {

constexpr std::chrono::milliseconds kLook{200};
/// Above this the generator, not the system under test, may have been the limit.
constexpr double kBusyPercent = 90;
constexpr double kLateMs = 100;
/// Of an open loop's requests, that may be offered and not sent.
constexpr double kUnsentShareMax = 0.01;
constexpr uint64_t kArrivalPurpose = 0x6172726976616cULL;

/// Ends the run when nothing but errors has come for too long.
class GiveUpWatch {
 public:
  GiveUpWatch(std::chrono::nanoseconds patience, storage::SteadyTime now)
      : patience_(patience), last_good_at_(now) {}

  void look(RunControl& control, storage::SteadyTime now) {
    const LiveCounts counts = control.live();
    if (counts.good != good_) {
      good_ = counts.good;
      errors_ = counts.errors;
      last_good_at_ = now;
      return;
    }
    if (counts.errors == errors_ || now - last_good_at_ < patience_) return;
    control.abort("nothing but errors for " +
                  std::to_string(static_cast<int64_t>(storage::seconds_of(patience_))) + " s");
  }

 private:
  std::chrono::nanoseconds patience_;
  storage::SteadyTime last_good_at_;
  uint64_t good_ = 0;
  uint64_t errors_ = 0;
};

/// The threads of a run, and how many are still at work.
class Crew {
 public:
  void start(std::vector<std::unique_ptr<LoadWorker>>& workers, RunControl& control,
             storage::SteadyTime run_start) {
    running_ = workers.size();
    for (const auto& worker : workers) {
      threads_.emplace_back([this, &control, run_start, work = worker.get()] {
        try {
          work->run(run_start);
        } catch (const std::exception& error) {
          control.abort(std::string("a thread failed: ") + error.what());
        }
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_one();
      });
    }
  }

  /// Waits until all have ended, `wait_max` at most; true where they have.
  bool wait(std::chrono::nanoseconds wait_max) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, wait_max, [this] { return running_ == 0; });
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t running_ = 0;
  std::vector<std::thread> threads_;
};

/// Sets the load of an open loop: as told, as the phases say, or as the peak finder does.
class LoadControl {
 public:
  LoadControl(const LoadOptions& options, RunControl& control, RequestSource& source,
              storage::SteadyTime start)
      : options_(options), control_(control), source_(source) {
    if (options.load.kind == LoadShape::Kind::kPeak) {
      sampler_.emplace(options.load.peak.resolve(options.time_scale), start);
    }
    look(start);
  }

  /// How often look() is to be called.
  std::chrono::nanoseconds period() const {
    if (!options_.load.open_loop()) return kLook;
    if (!sampler_) return kRampLook;
    const auto part = std::chrono::nanoseconds(
        static_cast<int64_t>(sampler_->finder().options().sample_s * 1e9 / kLooksPerSample));
    return std::clamp<std::chrono::nanoseconds>(part, kLookMin, kLook);
  }

  void look(storage::SteadyTime now) {
    if (!options_.load.open_loop()) return;
    control_.look(now);
    if (sampler_ && !control_.over(now)) {
      const bool measured = control_.phases()[control_.current()].primary;
      sampler_->look(control_.live(), now, measured);
    }
    const PhaseFactors factors = control_.factors(now);
    const double full_rps = sampler_ ? sampler_->rate_rps() : options_.load.rate_rps;
    rate_rps_ = full_rps * factors.robots * factors.load;
    source_.set_rate(rate_rps_, now);
  }

  double rate_rps() const { return rate_rps_; }
  std::optional<PeakFinder> finder() const {
    if (!sampler_) return std::nullopt;
    return sampler_->finder();
  }

 private:
  static constexpr std::chrono::milliseconds kRampLook{20};
  static constexpr std::chrono::milliseconds kLookMin{5};
  static constexpr double kLooksPerSample = 50;

  const LoadOptions& options_;
  RunControl& control_;
  RequestSource& source_;
  std::optional<PeakSampler> sampler_;
  double rate_rps_ = 0;
};

std::vector<Phase> phases_of(const LoadOptions& options) {
  if (!options.phases.empty()) return options.phases;
  if (options.load.kind == LoadShape::Kind::kPeak) return phases_of_peak(options.until);
  return phases_of_goals(options.until, options.warm_up);
}

std::optional<ArrivalSchedule> schedule_of(const LoadOptions& options, storage::SteadyTime start) {
  if (!options.load.open_loop()) return std::nullopt;
  const storage::Random random = storage::Random(options.seed).fork(kArrivalPurpose);
  return ArrivalSchedule(!options.load.constant, random, start);
}

/// Seconds that the run goes on: the current phase at the pace it shows, and the later ones as they
/// say or at that pace. Nothing where neither is known.
std::optional<double> left_s(const RunControl& control, storage::SteadyTime now) {
  const size_t current = control.current();
  const auto began = control.began(current);
  const double share = control.phase_progress(now);
  if (!began || share <= 0) return std::nullopt;
  const double whole_s = storage::seconds_of(now - *began) / share;
  const PhaseGoal& goal = control.phases()[current].goal;
  double left = whole_s * (1 - share);
  for (size_t index = current + 1; index < control.phases().size(); ++index) {
    const PhaseGoal& next = control.phases()[index].goal;
    if (next.duration) {
      left += storage::seconds_of(*next.duration);
    } else if (next.fill && goal.fill) {
      left += whole_s * *next.fill / *goal.fill;
    } else if (next.requests && goal.requests) {
      left += whole_s * static_cast<double>(*next.requests) / static_cast<double>(*goal.requests);
    } else {
      return std::nullopt;
    }
  }
  return left;
}

LoadProgress progress_of(const LoadOptions& options, const RunControl& control,
                         const LoadControl& load, storage::SteadyTime run_start,
                         storage::SteadyTime now) {
  LoadProgress progress;
  progress.elapsed_s = storage::seconds_of(now - run_start);
  if (control.phases().size() > 1) progress.phase = control.phases()[control.current()].name;
  progress.share = control.phase_progress(now);
  progress.left_s = left_s(control, now);
  progress.rate_rps = load.rate_rps();
  progress.counts = control.live();
  if (options.cache_size_bytes > 0) {
    progress.fill_ratio = static_cast<double>(progress.counts.fill_bytes) /
                          static_cast<double>(options.cache_size_bytes);
  }
  return progress;
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
  return limits;
}

void add_warnings(LoadOutcome& outcome, const LoadOptions& options) {
  RunResult& result = outcome.result;
  GeneratorHealth& health = result.generator;
  for (const auto& [limit, warning] : generator_limits(health, options)) {
    if (health.limit.empty()) health.limit = limit;
    result.warnings.push_back(warning);
  }
  if (health.event_loop_lag_ms_max > kLateMs) {
    result.warnings.push_back("the load generator ran up to " +
                              std::to_string(static_cast<int>(health.event_loop_lag_ms_max)) +
                              " ms late: the machine was too busy for exact response times");
  }
  const uint64_t unsent = result.total.offered - std::min(result.total.offered, result.total.sent);
  if (options.load.kind == LoadShape::Kind::kRate &&
      static_cast<double>(unsent) > kUnsentShareMax * static_cast<double>(result.total.offered)) {
    result.warnings.push_back(std::to_string(unsent) + " of " +
                              std::to_string(result.total.offered) +
                              " requests were offered and never sent (more than 1 %): the offered "
                              "load was not carried");
  }
  if (options.verification != Verification::kBytes) {
    result.warnings.push_back("bodies were not compared, only their lengths");
  }
  if (!(outcome.recorder.series.total() == outcome.recorder.total)) {
    result.warnings.push_back("the intervals do not add up to the run: a mistake of cacheoff");
    outcome.failure = "the intervals do not add up to the run";
  }
}

void collect_health(GeneratorHealth& health, const LoadOptions& options,
                    const std::vector<std::unique_ptr<LoadWorker>>& workers) {
  double wall_s = 0;
  for (const auto& worker : workers) {
    const WorkerHealth& own = worker->health();
    health.cpu_s += own.cpu_s;
    wall_s += own.wall_s;
    if (own.wall_s > 0) {
      health.cpu_percent_max = std::max(health.cpu_percent_max, 100 * own.cpu_s / own.wall_s);
    }
    health.event_loop_lag.merge(own.lag);
    health.start_lateness.merge(own.lateness);
    health.connections += own.connections;
    health.stale_connection_retries += own.retries;
    health.ports_exhausted += own.ports_exhausted;
    health.descriptors_exhausted += own.descriptors_exhausted;
  }
  if (wall_s > 0) health.cpu_percent = 100 * health.cpu_s / wall_s;
  health.event_loop_lag_ms_max =
      static_cast<double>(health.event_loop_lag.max_ns().value_or(0)) / 1e6;
  health.source_addresses = std::max<size_t>(1, options.sources.size());
}

/// The recorded phases that began, with all threads' measurements. `end` is the run's.
std::vector<PhaseResult> collect_phases(const RunControl& control, storage::SteadyTime end,
                                        const std::vector<std::unique_ptr<LoadWorker>>& workers) {
  std::vector<PhaseResult> results;
  const auto from = control.recorded_from();
  for (size_t index = 0; index < control.phases().size(); ++index) {
    const Phase& phase = control.phases()[index];
    const auto began = control.began(index);
    if (!phase.recorded || !began) continue;
    PhaseResult result;
    for (const auto& worker : workers) result.merge(worker->phases()[index]);
    result.name = phase.name;
    result.goal = goal_text(phase.goal);
    result.primary = phase.primary;
    result.start = *began - *from;
    const bool last = index + 1 == control.phases().size();
    const auto ended =
        last || index == control.current() ? end : control.ended(index).value_or(end);
    result.duration = std::max(std::min(ended, end) - *began, storage::Nanoseconds(0));
    result.goal_met = index < control.current() || control.phase_progress(end) >= 1;
    results.push_back(std::move(result));
  }
  return results;
}

void collect(LoadOutcome& outcome, const LoadOptions& options, const RunControl& control,
             const std::vector<std::unique_ptr<LoadWorker>>& workers) {
  RunResult& result = outcome.result;
  IdealTally ideal;
  storage::SteadyTime last_end{};
  for (const auto& worker : workers) {
    outcome.recorder.merge(worker->recorder());
    ideal.merge(worker->ideal());
    last_end = std::max(last_end, worker->last_counted_end());
    if (result.first_error.empty()) result.first_error = worker->first_error();
  }
  collect_health(result.generator, options, workers);
  const auto from = control.recorded_from();
  if (from) {
    // An aborted run ends where it was aborted, whatever it was meant to do.
    const auto until = control.aborted() ? std::nullopt : control.run_end();
    const storage::SteadyTime end = std::max({until.value_or(last_end), last_end, *from});
    outcome.recorder.series.finish(end - *from);
    std::vector<PhaseResult> phases = collect_phases(control, end, workers);
    for (const PhaseResult& phase : phases) outcome.recorder.Measurements::merge(phase);
    take_phases(result, std::move(phases), outcome.recorder.series);
  }
  result.ideal_hit_ratio_percent = ideal.hit_ratio_percent();
  result.ideal_byte_hit_ratio_percent = ideal.byte_hit_ratio_percent();
  result.cache_size_bytes = options.cache_size_bytes;
  result.seed = options.seed;
  result.threads = options.threads;
}

std::string failure_of(const LoadOutcome& outcome, const RunControl& control, bool interrupted) {
  if (control.aborted()) return control.abort_reason();
  if (interrupted) return "interrupted";
  const uint64_t errors = outcome.result.total.error_count();
  if (errors > 0) {
    return std::to_string(errors) + " errors, the first: " + outcome.result.first_error;
  }
  if (outcome.result.total.good == 0) return "no response came within the measured part";
  // Where the load is searched for, to offer too much for a while is a part of it.
  const uint64_t unsent = outcome.result.total.not_sent_count();
  if (unsent > 0 && !outcome.result.peak) {
    return std::to_string(unsent) + " requests were given up before they were sent";
  }
  return outcome.failure;
}

}  // namespace

LoadOutcome run_load(const LoadOptions& options, const storage::Clock& clock,
                     const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& progress) {
  LoadOutcome outcome(options.sample_interval);
  const std::string ports = port_warning(options, read_port_limits());
  if (!ports.empty()) outcome.result.warnings.push_back(ports);
  std::unique_ptr<RequestLog> log;
  if (!options.request_log.empty()) log = std::make_unique<RequestLog>(options.request_log);
  RunControl control(phases_of(options), options.cache_size_bytes);
  const storage::SteadyTime run_start = clock.steady_now();
  const storage::WallTime wall_start = clock.wall_now();
  control.start(run_start);
  RequestSource source(options.workload, options.seed, control, schedule_of(options, run_start));
  TransactionsUnderWay under_way(options.transaction_base);
  std::vector<std::unique_ptr<LoadWorker>> workers;
  for (uint64_t index = 0; index < static_cast<uint64_t>(options.threads); ++index) {
    workers.push_back(
        std::make_unique<LoadWorker>(options, control, source, under_way, clock, log.get(), index));
  }
  LoadControl load(options, control, source, run_start);
  GiveUpWatch give_up(options.give_up_after, run_start);
  storage::SteadyTime progress_due = run_start + kLook;
  Crew crew;
  crew.start(workers, control, run_start);
  bool ended = false;
  while (!ended) {
    ended = crew.wait(load.period());
    const storage::SteadyTime now = clock.steady_now();
    load.look(now);
    if (interrupted) control.end_now(now);
    give_up.look(control, now);
    if (ended || !progress || now < progress_due) continue;
    progress_due = now + kLook;
    progress(progress_of(options, control, load, run_start, now));
  }
  crew.join();

  outcome.result.peak = load.finder();
  collect(outcome, options, control, workers);
  const auto from = control.recorded_from();
  outcome.start = wall_start + (from ? *from - run_start : storage::Nanoseconds(0));
  add_warnings(outcome, options);
  outcome.failure = failure_of(outcome, control, interrupted);
  if (log && !log->close()) {
    outcome.failure = options.request_log.string() + ": the request log cannot be written";
  }
  return outcome;
}

}  // namespace workload
