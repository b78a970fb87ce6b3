// Decides which phase a run is in, what belongs to it, and when it is over, for all of its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/goal.h"
#include "workload/measure/tally.h"
#include "workload/model/phases.h"

namespace workload {

/// Leave to send requests.
struct Grant {
  uint64_t requests = 0;  ///< 0: the run is over, unless `later`.
  size_t phase = 0;       ///< Index of the phase that they belong to.
  bool later = false;     ///< Nothing is here yet; there may be when pages have come.
};

/// The factors of a phase at a moment.
struct PhaseFactors {
  double robots = 1;
  double load = 1;
  double recurrence = 1;
  double special = 1;
};

/// What a run has come to so far, over all phases and threads; for progress and control.
struct LiveCounts {
  uint64_t offered = 0;
  uint64_t ended = 0;  ///< Completed, or given up before they were sent.
  uint64_t good = 0;
  uint64_t errors = 0;
  uint64_t not_sent = 0;
  uint64_t response_time_ns = 0;  ///< Sum over good ones.
  uint64_t basic = 0;
  uint64_t basic_hits = 0;
  uint64_t fill_bytes = 0;

  /// Requests that were due and have not ended.
  uint64_t unfinished() const { return offered > ended ? offered - ended : 0; }
};

/// Fill traffic of a phase's transactions.
struct PhaseFill {
  size_t phase = 0;
  uint64_t bytes = 0;
};

/// When a phase began and ends; nothing where that is not known.
struct PhaseTimes {
  size_t phase = 0;
  std::optional<storage::SteadyTime> from;
  std::optional<storage::SteadyTime> until;
};

/// What the process that decides over a run tells those that follow.
struct RunState {
  std::vector<PhaseTimes> times;  ///< In order, up to the current phase.
  std::optional<storage::SteadyTime> end;
  uint64_t granted = 0;     ///< In the current phase.
  uint64_t fill_bytes = 0;  ///< Likewise.
  bool all_granted = false;
};

/// Who decides over a run.
enum class Deciding {
  kHere,       ///< This process, for all.
  kElsewhere,  ///< Another one, which tells by RunControl::follow().
};

/// The phases that `--until` and `--warm-up` say: `warm-up`, which is not recorded, and `run`.
std::vector<Phase> phases_of_goals(const Goal& until, const std::optional<Goal>& warm_up);

/// Names of the phases of a run that looks for the peak.
inline constexpr std::string_view kClimbPhase = "climb";
inline constexpr std::string_view kPeakPhase = "peak";

/// A run to the goal of which the last quarter is what counts: kClimbPhase, until three quarters of
/// one of the goals are reached, then kPeakPhase (primary), until the whole of one is.
std::vector<Phase> phases_of_peak(const Goal& until);

/// The phases of a run, one after the other. Safe to call from any thread.
///
/// A request belongs to the phase in which it was granted. It is completed where it ends before the
/// run does; the others are sent but not completed. A run whose last phase has a goal of requests
/// lasts until all of them have ended.
///
/// Where another process decides, phases change as that one tells, or where only time ends them, by
/// themselves at the same instant; nothing is granted here, and what is counted is this process'
/// part.
class RunControl {
 public:
  /// `phases` must pass check_phases() and not be empty; `cache_size_bytes` must not be 0 where a
  /// goal is a fill.
  RunControl(std::vector<Phase> phases, uint64_t cache_size_bytes,
             Deciding deciding = Deciding::kHere);

  void start(storage::SteadyTime now);

  /// Grants up to `wanted` requests, which belong together as one page, and goes on to the next
  /// phase where that is due.
  Grant grant(uint64_t wanted, storage::SteadyTime now);
  /// The phase of what was granted before it was due: that of `due`, unless the phase has a goal of
  /// requests, which it was counted for.
  size_t phase_when_due(const Grant& grant, storage::SteadyTime due);
  /// Takes back what was granted and then not sent.
  void give_back(uint64_t requests, const Grant& grant);
  /// `requests` have become due.
  void offered(uint64_t requests);
  /// `requests` that were due were given up before they were sent.
  void not_sent(uint64_t requests);
  /// A transaction ended; moves goals of fill on.
  void completed(const TransactionRecord& record, size_t phase, storage::SteadyTime end);
  /// The working set has stopped growing.
  void working_set_frozen(storage::SteadyTime now);
  /// Goes on to the next phase where time says so. Call it now and then.
  void look(storage::SteadyTime now);

  const std::vector<Phase>& phases() const { return phases_; }
  size_t current() const { return current_.load(std::memory_order_acquire); }
  /// Share of the current phase's goal that is reached, 0 to 1.
  double phase_progress(storage::SteadyTime now) const;
  PhaseFactors factors(storage::SteadyTime now) const;

  /// All requests of the last phase's goal are granted: nothing more will be, unless some are given
  /// back.
  bool all_granted() const;
  /// Nothing more may be sent.
  bool over(storage::SteadyTime now) const;
  /// Ends the run at once, as failed; the first reason stays. Connections are to be closed.
  void abort(const std::string& reason);
  bool aborted() const { return aborted_.load(std::memory_order_acquire); }
  std::string abort_reason() const;
  /// Ends the run now, in order.
  void end_now(storage::SteadyTime now);

  /// When a phase began and ended; nothing where it has not.
  std::optional<storage::SteadyTime> began(size_t phase) const;
  std::optional<storage::SteadyTime> ended(size_t phase) const;
  /// The goal that ended a phase which began and ended at `end`: `duration`, `requests` or `fill`;
  /// empty where it was cut short.
  std::string_view ended_by(size_t phase, storage::SteadyTime end) const;
  /// Start of the first recorded phase; nothing while none has begun.
  std::optional<storage::SteadyTime> recorded_from() const;
  /// End of the run, once known; with a goal of requests never.
  std::optional<storage::SteadyTime> run_end() const;

  /// What followers are to know, with the phases from `first_phase` on.
  RunState state(size_t first_phase) const;
  /// Takes over what was decided elsewhere. What is known already stays, but for ends, which may
  /// become earlier.
  void follow(const RunState& state);
  /// Adds what another process has counted since it last said so.
  void add_elsewhere(const LiveCounts& more, const std::vector<PhaseFill>& fills,
                     storage::SteadyTime now);
  /// An end without an error turned out to be one.
  void was_error();
  /// Fill traffic of this process by phase, where another decides; nothing of phases without.
  std::vector<PhaseFill> own_fills() const;
  /// What was given back here since the last call, where another decides. Adds up by phase.
  std::vector<Grant> take_given_back();
  /// How often something was given back here, where another decides.
  uint64_t give_backs() const { return give_backs_.load(); }

  LiveCounts live() const;
  /// Fill traffic of recorded phases.
  uint64_t recorded_fill_bytes() const { return recorded_fill_bytes_.load(); }

 private:
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();

  /// What changes of a phase, and from which one on its goals count.
  struct State {
    size_t counts_from = 0;
    size_t fill_from = 0;
    std::atomic<int64_t> from_ns{kUnknown};
    std::atomic<int64_t> until_ns{kUnknown};
    std::atomic<uint64_t> granted{0};
    std::atomic<uint64_t> fill_bytes{0};
    std::atomic<uint64_t> own_fill_bytes{0};     ///< Where another process decides.
    uint64_t given_back = 0;                     ///< Likewise.
    std::atomic<int64_t> goal_met_ns{kUnknown};  ///< By fill, at the latest.
  };

  void begin_phase(size_t index, int64_t at_ns);
  void advance(int64_t now_ns);
  void advance_by_time(int64_t now_ns);
  void add_fill(size_t phase, uint64_t bytes, storage::SteadyTime end);
  int64_t end_of_current(int64_t now_ns) const;
  int64_t time_up_ns(size_t index) const;    ///< By a phase's duration, once it has begun.
  uint64_t granted_for(size_t index) const;  ///< What counts for a phase's requests.
  uint64_t filled_for(size_t index) const;   ///< What counts for its fill.
  uint64_t fill_goal_bytes(const Phase& phase) const;
  bool is_last(size_t index) const { return index + 1 == phases_.size(); }

  std::vector<Phase> phases_;
  uint64_t cache_size_bytes_;
  bool following_;
  std::vector<State> states_;
  mutable std::mutex mutex_;  ///< Held while phases change and while requests are granted.
  std::atomic<size_t> current_{0};
  std::atomic<int64_t> end_ns_{kUnknown};  ///< Of the run.
  std::atomic<int64_t> frozen_ns_{kUnknown};
  std::atomic<bool> all_granted_elsewhere_{false};
  std::atomic<uint64_t> give_backs_{0};
  std::atomic<uint64_t> offered_{0};
  std::atomic<uint64_t> ended_{0};
  std::atomic<uint64_t> good_{0};
  std::atomic<uint64_t> errors_{0};
  std::atomic<uint64_t> not_sent_{0};
  std::atomic<uint64_t> response_time_ns_{0};
  std::atomic<uint64_t> basic_{0};
  std::atomic<uint64_t> basic_hits_{0};
  std::atomic<uint64_t> fill_bytes_{0};
  std::atomic<uint64_t> recorded_fill_bytes_{0};
  std::atomic<bool> aborted_{false};
  std::string abort_reason_;
};

}  // namespace workload
