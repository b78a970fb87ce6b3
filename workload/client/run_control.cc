#include "workload/client/run_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace workload {
namespace {

/// The part of a peak run whose figures count, from its end.
constexpr double kPeakPart = 0.25;

int64_t ns_of(storage::SteadyTime time) {
  return time.time_since_epoch().count();
}

storage::SteadyTime time_of(int64_t ns) {
  return storage::SteadyTime(storage::Nanoseconds(ns));
}

/// Lowers `target` to `value`.
void lower_to(std::atomic<int64_t>& target, int64_t value) {
  int64_t current = target.load();
  while (value < current && !target.compare_exchange_weak(current, value)) {
  }
}

Phase phase_of_goal(std::string_view name, const Goal& goal) {
  Phase phase;
  phase.name = name;
  phase.goal.duration = goal.duration;
  phase.goal.requests = goal.requests;
  phase.goal.fill = goal.fill;
  return phase;
}

Goal part_of(const Goal& goal, double part) {
  Goal out;
  if (goal.duration) {
    out.duration = std::chrono::nanoseconds(
        std::max<int64_t>(1, std::llround(static_cast<double>(goal.duration->count()) * part)));
  }
  if (goal.requests) {
    out.requests = std::max<uint64_t>(
        1, static_cast<uint64_t>(std::floor(static_cast<double>(*goal.requests) * part)));
  }
  if (goal.fill) out.fill = *goal.fill * part;
  return out;
}

std::optional<storage::SteadyTime> known_time(int64_t ns) {
  if (ns == std::numeric_limits<int64_t>::max()) return std::nullopt;
  return time_of(ns);
}

}  // namespace

std::vector<Phase> phases_of_goals(const Goal& until, const std::optional<Goal>& warm_up) {
  std::vector<Phase> phases;
  if (warm_up) {
    phases.push_back(phase_of_goal("warm-up", *warm_up));
    phases.back().primary = phases.back().recorded = false;
  }
  phases.push_back(phase_of_goal("run", until));
  return phases;
}

std::vector<Phase> phases_of_peak(const Goal& until) {
  std::vector<Phase> phases{phase_of_goal(kClimbPhase, part_of(until, 1 - kPeakPart)),
                            phase_of_goal(kPeakPhase, until)};
  phases.front().primary = false;
  phases.back().goal.since = phases.back().goal.fill_since = kClimbPhase;
  return phases;
}

RunControl::RunControl(std::vector<Phase> phases, uint64_t cache_size_bytes, Deciding deciding)
    : phases_(std::move(phases)),
      cache_size_bytes_(cache_size_bytes),
      following_(deciding == Deciding::kElsewhere),
      states_(phases_.size()) {
  for (size_t index = 0; index < phases_.size(); ++index) {
    states_[index].counts_from = counting_from(phases_, index, phases_[index].goal.since);
    states_[index].fill_from = counting_from(phases_, index, phases_[index].goal.fill_since);
  }
}

void RunControl::start(storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  begin_phase(0, ns_of(now));
}

void RunControl::begin_phase(size_t index, int64_t at_ns) {
  const Phase& phase = phases_[index];
  State& state = states_[index];
  state.from_ns = at_ns;
  // Where nothing else can end the phase earlier or hold it up, its end is known at once.
  if (phase.goal.duration && !phase.goal.working_set_frozen) {
    const int64_t end_ns = std::max(at_ns, time_up_ns(index));
    lower_to(state.until_ns, end_ns);
    if (is_last(index)) lower_to(end_ns_, end_ns);
  }
  current_.store(index, std::memory_order_release);
}

int64_t RunControl::time_up_ns(size_t index) const {
  return states_[states_[index].counts_from].from_ns.load() + phases_[index].goal.duration->count();
}

uint64_t RunControl::granted_for(size_t index) const {
  uint64_t sum = 0;
  for (size_t each = states_[index].counts_from; each <= index; ++each) {
    sum += states_[each].granted.load();
  }
  return sum;
}

uint64_t RunControl::filled_for(size_t index) const {
  uint64_t sum = 0;
  for (size_t each = states_[index].fill_from; each <= index; ++each) {
    sum += states_[each].fill_bytes.load();
  }
  return sum;
}

uint64_t RunControl::fill_goal_bytes(const Phase& phase) const {
  return static_cast<uint64_t>(*phase.goal.fill * static_cast<double>(cache_size_bytes_));
}

int64_t RunControl::end_of_current(int64_t now_ns) const {
  const size_t index = current_.load();
  const Phase& phase = phases_[index];
  const State& state = states_[index];
  int64_t met_ns = state.goal_met_ns.load();
  if (phase.goal.duration) {
    met_ns = std::min(met_ns, time_up_ns(index));
  }
  // The last request of the run's last phase has yet to end: its end is not known by being sent.
  const bool all_sent = phase.goal.requests && granted_for(index) >= *phase.goal.requests;
  if (all_sent && !is_last(index)) met_ns = std::min(met_ns, now_ns);
  if (met_ns == kUnknown || !phase.goal.working_set_frozen) return met_ns;
  const int64_t frozen_ns = frozen_ns_.load();
  return frozen_ns == kUnknown ? kUnknown : std::max(met_ns, frozen_ns);
}

void RunControl::advance_by_time(int64_t now_ns) {
  for (;;) {
    const size_t index = current_.load();
    const PhaseGoal& goal = phases_[index].goal;
    // Any other goal is looked at where all of the run is known.
    if (goal.requests || goal.fill || goal.working_set_frozen) return;
    const int64_t until_ns = states_[index].until_ns.load();
    if (until_ns > now_ns || is_last(index)) return;
    begin_phase(index + 1, until_ns);
  }
}

void RunControl::advance(int64_t now_ns) {
  if (following_) return advance_by_time(now_ns);
  for (;;) {
    const size_t index = current_.load();
    const int64_t end_ns = end_of_current(now_ns);
    if (end_ns == kUnknown || end_ns > now_ns) return;
    State& state = states_[index];
    lower_to(state.until_ns, std::max(end_ns, state.from_ns.load()));
    if (is_last(index)) {
      lower_to(end_ns_, end_ns);
      return;
    }
    begin_phase(index + 1, state.until_ns.load());
  }
}

void RunControl::look(storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  advance(ns_of(now));
}

Grant RunControl::grant(uint64_t wanted, storage::SteadyTime now) {
  const std::lock_guard lock(mutex_);
  advance(ns_of(now));
  if (over(now)) return {};
  const size_t index = current_.load();
  State& state = states_[index];
  const auto& goal = phases_[index].goal.requests;
  uint64_t granted = wanted;
  // A phase that waits for the working set goes on past its number of requests.
  if (goal && !phases_[index].goal.working_set_frozen) {
    granted = std::min(wanted, *goal - std::min(*goal, granted_for(index)));
  }
  state.granted += granted;
  return {granted, index};
}

size_t RunControl::phase_when_due(const Grant& grant, storage::SteadyTime due) {
  if (phases_[grant.phase].goal.requests) return grant.phase;
  look(due);
  size_t index = current_.load();
  // It may have become due before the current phase began.
  while (index > grant.phase && ns_of(due) < states_[index].from_ns.load()) --index;
  return index;
}

void RunControl::give_back(uint64_t requests, const Grant& grant) {
  const std::lock_guard lock(mutex_);
  if (following_) {
    states_[grant.phase].given_back += requests;
    ++give_backs_;
    return;
  }
  if (grant.phase == current_.load()) states_[grant.phase].granted -= requests;
}

void RunControl::offered(uint64_t requests) {
  offered_.fetch_add(requests, std::memory_order_relaxed);
}

void RunControl::not_sent(uint64_t requests) {
  not_sent_.fetch_add(requests, std::memory_order_relaxed);
  ended_.fetch_add(requests, std::memory_order_relaxed);
}

void RunControl::completed(const TransactionRecord& record, size_t phase, storage::SteadyTime end) {
  ended_.fetch_add(1, std::memory_order_relaxed);
  if (record.error != ErrorKind::kNone) {
    errors_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!record.good()) return;  // Broken off, as it was meant to be.
  good_.fetch_add(1, std::memory_order_relaxed);
  response_time_ns_.fetch_add(record.response_time_ns, std::memory_order_relaxed);
  if (record.basic) {
    basic_.fetch_add(1, std::memory_order_relaxed);
    if (is_hit(record.outcome)) basic_hits_.fetch_add(1, std::memory_order_relaxed);
  }
  if (!record.fill) return;
  fill_bytes_ += record.received_bytes;
  if (following_) {
    states_[phase].own_fill_bytes += record.received_bytes;
  } else {
    add_fill(phase, record.received_bytes, end);
  }
}

void RunControl::add_fill(size_t phase, uint64_t bytes, storage::SteadyTime end) {
  if (phases_[phase].recorded) recorded_fill_bytes_ += bytes;
  // Late responses of a phase that is over fill the cache all the same, for the phase that is on.
  const size_t index = phases_[phase].recorded ? current() : phase;
  State& state = states_[index];
  state.fill_bytes += bytes;
  if (!phases_[index].goal.fill || filled_for(index) < fill_goal_bytes(phases_[index])) return;
  lower_to(state.goal_met_ns, ns_of(end));
  look(end);
}

void RunControl::add_elsewhere(const LiveCounts& more, const std::vector<PhaseFill>& fills,
                               storage::SteadyTime now) {
  // In this order what has ended is never more than what was offered.
  offered_ += more.offered;
  good_ += more.good;
  errors_ += more.errors;
  not_sent_ += more.not_sent;
  response_time_ns_ += more.response_time_ns;
  basic_ += more.basic;
  basic_hits_ += more.basic_hits;
  fill_bytes_ += more.fill_bytes;
  ended_ += more.ended;
  for (const PhaseFill& fill : fills) add_fill(fill.phase, fill.bytes, now);
}

void RunControl::was_error() {
  errors_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<PhaseFill> RunControl::own_fills() const {
  std::vector<PhaseFill> fills;
  for (size_t index = 0; index < phases_.size(); ++index) {
    const uint64_t bytes = states_[index].own_fill_bytes.load();
    if (bytes > 0) fills.push_back({index, bytes});
  }
  return fills;
}

std::vector<Grant> RunControl::take_given_back() {
  const std::lock_guard lock(mutex_);
  std::vector<Grant> given_back;
  for (size_t index = 0; index < phases_.size(); ++index) {
    const uint64_t requests = std::exchange(states_[index].given_back, 0);
    if (requests > 0) given_back.push_back({requests, index, false});
  }
  return given_back;
}

RunState RunControl::state(size_t first_phase) const {
  const std::lock_guard lock(mutex_);
  const size_t last = current_.load();
  RunState state;
  for (size_t index = std::min(first_phase, last); index <= last; ++index) {
    const State& phase = states_[index];
    state.times.push_back(
        {index, known_time(phase.from_ns.load()), known_time(phase.until_ns.load())});
  }
  state.end = run_end();
  state.granted = states_[last].granted.load();
  state.fill_bytes = states_[last].fill_bytes.load();
  state.all_granted = all_granted();
  return state;
}

void RunControl::follow(const RunState& state) {
  const std::lock_guard lock(mutex_);
  for (const PhaseTimes& times : state.times) {
    State& phase = states_[times.phase];
    if (times.from && phase.from_ns.load() == kUnknown) {
      begin_phase(times.phase, ns_of(*times.from));
    }
    if (times.until) lower_to(phase.until_ns, ns_of(*times.until));
  }
  if (state.end) lower_to(end_ns_, ns_of(*state.end));
  all_granted_elsewhere_ = state.all_granted;
  // It may have gone on by time already; then these are of the phase before.
  if (state.times.empty() || state.times.back().phase != current_.load()) return;
  states_[current_].granted = state.granted;
  states_[current_].fill_bytes = state.fill_bytes;
}

void RunControl::working_set_frozen(storage::SteadyTime now) {
  if (frozen_ns_.load(std::memory_order_relaxed) != kUnknown) return;
  lower_to(frozen_ns_, ns_of(now));
  look(now);
}

double RunControl::phase_progress(storage::SteadyTime now) const {
  const size_t index = current();
  const Phase& phase = phases_[index];
  const State& state = states_[index];
  const int64_t from_ns = state.from_ns.load();
  if (from_ns == kUnknown) return 0;
  double share = 0;
  const auto reach = [&share](double reached, double goal) {
    share = std::max(share, reached / std::max(1.0, goal));
  };
  // Of what counts from an earlier phase on, this phase's part.
  if (phase.goal.duration) {
    reach(static_cast<double>(ns_of(now) - from_ns),
          static_cast<double>(time_up_ns(index) - from_ns));
  }
  if (phase.goal.requests) {
    const uint64_t granted = state.granted.load();
    reach(static_cast<double>(granted), static_cast<double>(*phase.goal.requests) -
                                            static_cast<double>(granted_for(index) - granted));
  }
  if (phase.goal.fill) {
    const uint64_t filled = state.fill_bytes.load();
    reach(static_cast<double>(filled),
          static_cast<double>(fill_goal_bytes(phase)) -
              (static_cast<double>(filled_for(index)) - static_cast<double>(filled)));
  }
  return std::clamp(share, 0.0, 1.0);
}

PhaseFactors RunControl::factors(storage::SteadyTime now) const {
  const Phase& phase = phases_[current()];
  const double progress = phase_progress(now);
  return {phase.robots.at(progress), phase.load.at(progress), phase.recurrence.at(progress),
          phase.special.at(progress)};
}

bool RunControl::all_granted() const {
  if (following_) return all_granted_elsewhere_.load();
  const size_t index = current();
  const PhaseGoal& goal = phases_[index].goal;
  return is_last(index) && goal.requests && !goal.working_set_frozen &&
         granted_for(index) >= *goal.requests;
}

std::string_view RunControl::ended_by(size_t index, storage::SteadyTime end) const {
  const PhaseGoal& goal = phases_[index].goal;
  if (goal.fill && states_[index].goal_met_ns.load() <= ns_of(end)) return "fill";
  if (goal.requests && granted_for(index) >= *goal.requests) return "requests";
  if (goal.duration && time_up_ns(index) <= ns_of(end)) return "duration";
  return {};
}

bool RunControl::over(storage::SteadyTime now) const {
  return aborted() || ns_of(now) >= end_ns_.load(std::memory_order_relaxed);
}

void RunControl::end_now(storage::SteadyTime now) {
  lower_to(end_ns_, ns_of(now));
}

void RunControl::abort(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (aborted_.load()) return;
  abort_reason_ = reason;
  aborted_.store(true, std::memory_order_release);
}

std::string RunControl::abort_reason() const {
  const std::lock_guard lock(mutex_);
  return abort_reason_;
}

std::optional<storage::SteadyTime> RunControl::began(size_t phase) const {
  return known_time(states_[phase].from_ns.load());
}

std::optional<storage::SteadyTime> RunControl::ended(size_t phase) const {
  return known_time(std::min(states_[phase].until_ns.load(), end_ns_.load()));
}

std::optional<storage::SteadyTime> RunControl::recorded_from() const {
  for (size_t index = 0; index < phases_.size(); ++index) {
    if (phases_[index].recorded) return began(index);
  }
  return std::nullopt;
}

std::optional<storage::SteadyTime> RunControl::run_end() const {
  return known_time(end_ns_.load());
}

LiveCounts RunControl::live() const {
  LiveCounts counts;
  // What has ended was offered before, so in this order the difference is never negative.
  counts.ended = ended_.load(std::memory_order_relaxed);
  counts.offered = offered_.load(std::memory_order_relaxed);
  counts.good = good_.load(std::memory_order_relaxed);
  counts.errors = errors_.load(std::memory_order_relaxed);
  counts.not_sent = not_sent_.load(std::memory_order_relaxed);
  counts.response_time_ns = response_time_ns_.load(std::memory_order_relaxed);
  counts.basic = basic_.load(std::memory_order_relaxed);
  counts.basic_hits = basic_hits_.load(std::memory_order_relaxed);
  counts.fill_bytes = fill_bytes_.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace workload
