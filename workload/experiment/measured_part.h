// The moment from which a run's figures count, told by the phases that its load's log names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"

namespace workload {

/// The phase that the last whole line of progress in a load's log names, of those that
/// MeasuredPart knows; empty where none does.
std::string_view last_phase(std::string_view log);

/// Follows a load to its measured part by its log, so that counters of disks, CPU and machine are
/// those of the same requests as the rates. One thread.
class MeasuredPart {
 public:
  /// What is to be done next.
  enum class Step {
    kNothing,
    kBeginTiming,    ///< The fast fill is there: let the disks take their time.
    kBeginMeasured,  ///< The measured part has begun.
  };

  /// `fills_fast`: the run begins with a fast fill; otherwise the peak finder's climb.
  MeasuredPart(std::filesystem::path log, bool fills_fast)
      : log_(std::move(log)), state_(fills_fast ? State::kFilling : State::kWaiting) {}

  /// Looks once; each step is asked for once. A Problem where the measured part began before the
  /// disks took their time, so that its figures are none.
  Expected<Step> look();
  /// After what kBeginTiming asked for was done: a Problem where that took too long.
  Expected<void> timing_began();
  /// Whether the measured part was seen to begin.
  bool began() const { return state_ == State::kMeasuring; }

 private:
  enum class State { kFilling, kWaiting, kMeasuring };
  std::string phase() const;

  std::filesystem::path log_;
  State state_;
};

/// Whether the figures of such a run are those of a later part of it.
inline bool has_measured_part(const ExperimentOptions& options) {
  return options.fast_fill > 0 || (options.finds_peak() && options.phases.empty());
}

}  // namespace workload
