// The first fill of a cache on modelled disks that take no time, and the moment from which they do.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/model/workload.h"

namespace workload {

/// Names of the phases of such a run.
inline constexpr std::string_view kFastFillPhase = "fast_fill";
inline constexpr std::string_view kSettlePhase = "settle";
inline constexpr std::string_view kMeasuredPhase = "measured";

/// The workload with three phases: the fill of `options.fast_fill` cache sizes and a time to
/// settle, which are warm-up, and then as long as the goal says the measured part.
Workload fast_fill_workload(const Workload& workload, const ExperimentOptions& options);

/// The phase that the last whole line of progress in a load's log names; empty where none does.
std::string_view last_phase(std::string_view log);

/// Follows a load through these phases by its log. One thread.
class FastFill {
 public:
  /// What is to be done next.
  enum class Step {
    kNothing,
    kBeginTiming,    ///< The fill is there: let the disks take their time.
    kBeginMeasured,  ///< The measured part has begun.
  };

  explicit FastFill(std::filesystem::path log) : log_(std::move(log)) {}

  /// Looks once; each step is asked for once. A Problem where the measured part began before the
  /// disks took their time, so that its figures are none.
  Expected<Step> look();
  /// After what kBeginTiming asked for was done: a Problem where that took too long.
  Expected<void> timing_began();
  /// Whether the measured part was seen to begin.
  bool measured() const { return state_ == State::kMeasuring; }

 private:
  enum class State { kFilling, kSettling, kMeasuring };
  std::string phase() const;

  std::filesystem::path log_;
  State state_ = State::kFilling;
};

}  // namespace workload
