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
#include "workload/client/run_control.h"

namespace workload {
namespace {

constexpr std::chrono::milliseconds kLook{200};
/// Above this the generator, not the system under test, may have been the limit.
constexpr double kBusyPercent = 90;
constexpr double kLateMs = 100;

/// Ends the run when nothing but errors has come for too long.
class GiveUpWatch {
 public:
  GiveUpWatch(std::chrono::nanoseconds patience, storage::SteadyTime now)
      : patience_(patience), last_good_at_(now) {}

  void look(RunControl& control, storage::SteadyTime now) {
    if (control.good() != good_) {
      good_ = control.good();
      errors_ = control.errors();
      last_good_at_ = now;
      return;
    }
    if (control.errors() == errors_ || now - last_good_at_ < patience_) return;
    control.abort("nothing but errors for " +
                  std::to_string(static_cast<int64_t>(storage::seconds_of(patience_))) + " s");
  }

 private:
  std::chrono::nanoseconds patience_;
  storage::SteadyTime last_good_at_;
  uint64_t good_ = 0;
  uint64_t errors_ = 0;
};

/// CPU time of the process over the measured part, as far as it is looked at often enough.
class CpuWatch {
 public:
  void look(const RunControl& control, storage::SteadyTime now) {
    const auto from = control.measured_from();
    if (!from || now < *from) return;
    const auto until = control.measured_until();
    if (until && now > *until && begun_ && ended_) return;
    const double cpu_s = process_cpu_s();
    if (!begun_) {
      begun_ = true;
      begin_cpu_s_ = cpu_s;
      begin_ = now;
    }
    ended_ = true;
    end_cpu_s_ = cpu_s;
    end_ = now;
  }

  void report(GeneratorHealth& health, int threads) const {
    health.cpu_s = end_cpu_s_ - begin_cpu_s_;
    const double wall_s = storage::seconds_of(end_ - begin_);
    if (wall_s > 0) health.cpu_percent = 100 * health.cpu_s / wall_s / threads;
  }

 private:
  bool begun_ = false;
  bool ended_ = false;
  double begin_cpu_s_ = 0;
  double end_cpu_s_ = 0;
  storage::SteadyTime begin_{};
  storage::SteadyTime end_{};
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

std::vector<std::unique_ptr<LoadWorker>> make_workers(const LoadOptions& options,
                                                      RunControl& control,
                                                      const storage::Clock& clock,
                                                      RequestLog* log) {
  std::vector<std::unique_ptr<LoadWorker>> workers;
  const auto threads = static_cast<uint64_t>(options.threads);
  for (uint64_t index = 0; index < threads; ++index) {
    const uint64_t robots =
        options.load.robots / threads + (index < options.load.robots % threads ? 1 : 0);
    workers.push_back(std::make_unique<LoadWorker>(options, control, clock, log,
                                                   static_cast<uint16_t>(index), robots));
  }
  return workers;
}

void add_warnings(LoadOutcome& outcome, const LoadOptions& options) {
  RunResult& result = outcome.result;
  const GeneratorHealth& health = result.generator;
  if (health.cpu_percent > kBusyPercent) {
    result.warnings.push_back("the load generator was busy to " +
                              std::to_string(static_cast<int>(health.cpu_percent)) +
                              " %: throughput is a lower bound");
  }
  if (health.event_loop_lag_ms_max > kLateMs) {
    result.warnings.push_back("the load generator ran up to " +
                              std::to_string(static_cast<int>(health.event_loop_lag_ms_max)) +
                              " ms late: the machine was too busy for exact response times");
  }
  if (options.verification != Verification::kBytes) {
    result.warnings.push_back("bodies were not compared, only their lengths");
  }
  if (!(outcome.recorder.series.total() == outcome.recorder.total)) {
    result.warnings.push_back("the intervals do not add up to the run: a mistake of cacheoff");
    outcome.failure = "the intervals do not add up to the run";
  }
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
    result.generator.connections += worker->connections();
    result.generator.stale_connection_retries += worker->retries();
    result.generator.event_loop_lag_ms_max = std::max(result.generator.event_loop_lag_ms_max,
                                                      storage::seconds_of(worker->lag_max()) * 1e3);
    if (result.first_error.empty()) result.first_error = worker->first_error();
  }
  const auto from = control.measured_from();
  if (from) {
    // An aborted run ends where it was aborted, whatever it was meant to do.
    const auto until = control.aborted() ? std::nullopt : control.measured_until();
    const storage::SteadyTime end = std::max(until.value_or(last_end), last_end);
    result.duration = std::max(end - *from, storage::Nanoseconds(0));
    outcome.recorder.series.finish(result.duration);
  }
  result.ideal_hit_ratio_percent = ideal.hit_ratio_percent();
  result.ideal_byte_hit_ratio_percent = ideal.byte_hit_ratio_percent();
  result.cache_size_bytes = options.cache_size_bytes;
  result.seed = options.seed;
  result.threads = options.threads;
  take_measurements(result, outcome.recorder);
}

std::string failure_of(const LoadOutcome& outcome, const RunControl& control, bool interrupted) {
  if (control.aborted()) return control.abort_reason();
  if (interrupted) return "interrupted";
  const uint64_t errors = outcome.result.total.error_count();
  if (errors > 0) {
    return std::to_string(errors) + " errors, the first: " + outcome.result.first_error;
  }
  if (outcome.result.total.good == 0) return "no response came within the measured part";
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
  RunControl control(options.until, options.warm_up, options.cache_size_bytes);
  auto workers = make_workers(options, control, clock, log.get());

  const storage::SteadyTime run_start = clock.steady_now();
  const storage::WallTime wall_start = clock.wall_now();
  control.start(run_start);
  CpuWatch cpu;
  cpu.look(control, run_start);
  GiveUpWatch give_up(options.give_up_after, run_start);
  Crew crew;
  crew.start(workers, control, run_start);
  bool ended = false;
  while (!ended) {
    ended = crew.wait(kLook);
    const storage::SteadyTime now = clock.steady_now();
    cpu.look(control, now);
    if (interrupted) control.end_now(now);
    give_up.look(control, now);
    if (ended || !progress) continue;
    const bool warming_up = !control.measured_from() || now < *control.measured_from();
    progress({storage::seconds_of(now - run_start), control.progress(now), warming_up,
              control.good(), control.errors()});
  }
  crew.join();

  collect(outcome, options, control, workers);
  cpu.report(outcome.result.generator, options.threads);
  const auto from = control.measured_from();
  outcome.start = wall_start + (from ? *from - run_start : storage::Nanoseconds(0));
  add_warnings(outcome, options);
  outcome.failure = failure_of(outcome, control, interrupted);
  if (log && !log->close()) {
    outcome.failure = options.request_log.string() + ": the request log cannot be written";
  }
  return outcome;
}

}  // namespace workload
