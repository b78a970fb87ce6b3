#include "workload/client/load_run.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "storage/base/units.h"
#include "workload/client/crew.h"
#include "workload/client/fill_pace.h"
#include "workload/client/generator_limits.h"
#include "workload/client/load_worker.h"
#include "workload/client/overdue.h"
#include "workload/client/peak_sampler.h"
#include "workload/client/request_source.h"
#include "workload/client/run_control.h"
#include "workload/client/run_outcome.h"
#include "workload/client/run_part.h"
#include "workload/client/run_phases.h"
#include "workload/ensemble/lead.h"
#include "workload/ensemble/muster.h"

namespace workload {
namespace {

constexpr std::chrono::milliseconds kLook{200};
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

/// Sets the load of an open loop: as told, as the phases say, or as the peak finder does.
class LoadControl {
 public:
  LoadControl(const LoadOptions& options, RunControl& control, RequestSource& source,
              storage::SteadyTime start)
      : options_(options), control_(control), source_(source) {
    if (options.load.kind == LoadShape::Kind::kPeak) {
      const auto peak = options.load.peak.resolve(options.time_scale);
      sampler_.emplace(peak, start);
      if (control.phases().front().name != kClimbPhase) fill_pace_.emplace(peak.start_rps, start);
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
      const Phase& phase = control_.phases()[control_.current()];
      const LiveCounts counts = control_.live();
      if (fill_pace_ && phase.name == kClimbPhase) begin_climb(counts, now);
      if (fill_pace_) {
        fill_pace_->look(counts, now);
      } else {
        sampler_->look(counts, now, phase.primary);
      }
    }
    const PhaseFactors factors = control_.factors(now);
    const double full_rps = fill_pace_ ? fill_pace_->rate_rps()
                            : sampler_ ? sampler_->rate_rps()
                                       : options_.load.rate_rps;
    rate_rps_ = full_rps * factors.robots * factors.load;
    source_.set_rate(rate_rps_, now);
  }

  double rate_rps() const { return rate_rps_; }
  std::optional<PeakFinder> finder() const {
    if (!sampler_) return std::nullopt;
    return sampler_->finder();
  }

 private:
  void begin_climb(const LiveCounts& counts, storage::SteadyTime now) {
    fill_pace_.reset();
    sampler_.emplace(options_.load.peak.resolve(options_.time_scale), now, counts);
  }

  static constexpr std::chrono::milliseconds kRampLook{20};
  static constexpr std::chrono::milliseconds kLookMin{5};
  static constexpr double kLooksPerSample = 50;

  const LoadOptions& options_;
  RunControl& control_;
  RequestSource& source_;
  std::optional<PeakSampler> sampler_;
  std::optional<FillPace> fill_pace_;  ///< Until the search for the peak begins.
  double rate_rps_ = 0;
};

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
  const PhaseGoal goal = own_goal(control.phases(), current);
  double left = whole_s * (1 - share);
  for (size_t index = current + 1; index < control.phases().size(); ++index) {
    const PhaseGoal next = own_goal(control.phases(), index);
    std::optional<double> soonest_s;
    const auto may_end = [&soonest_s](double after_s) {
      soonest_s = std::min(soonest_s.value_or(after_s), after_s);
    };
    if (next.duration) may_end(storage::seconds_of(*next.duration));
    if (next.fill && goal.fill) may_end(whole_s * *next.fill / *goal.fill);
    if (next.requests && goal.requests) {
      may_end(whole_s * static_cast<double>(*next.requests) / static_cast<double>(*goal.requests));
    }
    if (!soonest_s) return std::nullopt;
    left += *soonest_s;
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

/// A short line of a rank, with its name.
std::string line_of_rank(size_t rank, const std::string& host, const std::string& line) {
  return "rank " + std::to_string(rank) + " (" + host + "): " + line;
}

/// Threads, sources and counters of the process that decides.
class DecidingRun {
 public:
  DecidingRun(const LoadOptions& options, const storage::Clock& clock, Company* company,
              const RunStart& start)
      : options_(options),
        clock_(clock),
        start_(start),
        control_(phases_of(options), options.cache_size_bytes),
        source_(options.workload, options.seed, control_, schedule_of(options, start.at)),
        under_way_({start.transaction_base, 0, options.place.ranks},
                   options.workload.server.abort_percent > 0),
        part_(options.sample_interval, control_.phases().size()) {
    control_.start(start.at);
    if (!options.request_log.empty()) log_ = std::make_unique<RequestLog>(options.request_log);
    if (company != nullptr) {
      lead_.emplace(company->ensemble, clock, control_, source_, under_way_, options,
                    company->hosts, start.at, company->timing);
      poll_ = company->timing.poll;
    }
    PageSource& pages = lead_ ? lead_->pages() : source_;
    DoubtSink* const doubts = lead_ ? &lead_->doubts() : nullptr;
    for (uint64_t index = 0; index < static_cast<uint64_t>(options.threads); ++index) {
      workers_.push_back(std::make_unique<LoadWorker>(options, control_, pages, under_way_, clock,
                                                      log_.get(), doubts, index));
    }
  }

  void run(const std::atomic<bool>& interrupted,
           const std::function<void(const LoadProgress&)>& progress);
  void conclude(LoadOutcome& outcome);

 private:
  bool wait(std::chrono::nanoseconds period, bool threads_ended);

  const LoadOptions& options_;
  const storage::Clock& clock_;
  RunStart start_;
  RunControl control_;
  RequestSource source_;
  TransactionsUnderWay under_way_;
  std::unique_ptr<RequestLog> log_;
  std::optional<Lead> lead_;
  std::chrono::nanoseconds poll_{0};
  std::vector<std::unique_ptr<LoadWorker>> workers_;
  Crew crew_;
  RunPart part_;
  std::optional<PeakFinder> finder_;
  bool interrupted_ = false;
  bool all_through_ =
      false;  ///< All requests of the goal have ended before anything else ended it.
};

bool DecidingRun::wait(std::chrono::nanoseconds period, bool threads_ended) {
  if (lead_) period = std::min(period, poll_);
  if (!threads_ended) return crew_.wait(period);
  std::this_thread::sleep_for(period);
  return true;
}

void DecidingRun::run(const std::atomic<bool>& interrupted,
                      const std::function<void(const LoadProgress&)>& progress) {
  LoadControl load(options_, control_, source_, start_.at);
  GiveUpWatch give_up(options_.give_up_after, start_.at);
  storage::SteadyTime progress_due = start_.at + kLook;
  storage::SteadyTime load_due = start_.at;
  if (lead_) lead_->look(start_.at, load.rate_rps());
  // All ranks start at the same instant, which is a little ahead.
  std::this_thread::sleep_for(start_.at - clock_.steady_now());
  crew_.start(workers_, control_, start_.at);
  bool threads_ended = false;
  bool all_ended = false;
  while (!all_ended) {
    threads_ended = wait(load.period(), threads_ended);
    const storage::SteadyTime now = clock_.steady_now();
    if (now >= load_due || threads_ended) {
      load.look(now);
      load_due = now + load.period();
      give_up.look(control_, now);
    }
    if (lead_) lead_->look(now, load.rate_rps());
    interrupted_ = interrupted || (lead_ && lead_->interrupted());
    if (interrupted_) control_.end_now(now);
    all_ended = threads_ended && (!lead_ || lead_->all_ended());
    if (all_ended || !progress || now < progress_due) continue;
    progress_due = now + kLook;
    progress(progress_of(options_, control_, load, start_.at, now));
  }
  // Its requests were through before its time was up.
  all_through_ = control_.all_granted() && !control_.over(clock_.steady_now());
  crew_.join();
  finder_ = load.finder();
}

void DecidingRun::conclude(LoadOutcome& outcome) {
  for (const auto& worker : workers_) part_.add(*worker);
  if (all_through_) control_.end_now(part_.last_counted_end);
  add_never_taken(part_, control_, source_);
  std::vector<std::string> of_health;
  if (lead_) {
    const std::vector<std::string> own = health_warnings(health_of(part_, options_), options_);
    outcome.result.ranks = lead_->reports(part_);
    for (const std::string& warning : own) {
      of_health.push_back(line_of_rank(0, outcome.result.ranks.front().host, warning));
    }
    of_health.insert(of_health.end(), lead_->warnings().begin(), lead_->warnings().end());
    lead_->add_never_sent(part_);
    lead_->merge_into(part_);
    outcome.ranks_lost = lead_->lost_any();
  }
  outcome.result.peak = finder_;
  collect(outcome, options_, control_, part_);
  const auto from = control_.recorded_from();
  outcome.start += from ? *from - start_.at : storage::Nanoseconds(0);
  if (!lead_) of_health = health_warnings(outcome.result.generator, options_);
  add_warnings(outcome, options_, of_health);
  if (control_.aborted() || interrupted_) {
    const std::string reason = control_.aborted() ? control_.abort_reason() : "interrupted";
    outcome.result.warnings.insert(outcome.result.warnings.begin(),
                                   "the run was cut short, and its figures are of what was done "
                                   "until then: " +
                                       reason);
  }
  outcome.failure = failure_of(outcome, control_, interrupted_);
  if (log_ && !log_->close()) {
    outcome.failure = options_.request_log.string() + ": the request log cannot be written";
  }
}

}  // namespace

LoadOutcome run_load(const LoadOptions& options, const storage::Clock& clock,
                     const std::atomic<bool>& interrupted,
                     const std::function<void(const LoadProgress&)>& progress, Company* company) {
  LoadOutcome outcome(options.sample_interval);
  const std::string ports = port_warning(options, read_port_limits());
  if (!ports.empty()) outcome.result.warnings.push_back(ports);
  RunStart start;
  start.at = clock.steady_now();
  start.transaction_base = options.transaction_base;
  if (company != nullptr) {
    try {
      start = start_as_lead(company->ensemble, clock, options.transaction_base, company->timing);
    } catch (const WireError& error) {
      outcome.failure = error.what();
      outcome.ranks_lost = true;
      return outcome;
    }
  }
  outcome.start = clock.wall_now() + (start.at - clock.steady_now());
  DecidingRun run(options, clock, company, start);
  run.run(interrupted, progress);
  run.conclude(outcome);
  return outcome;
}

}  // namespace workload
