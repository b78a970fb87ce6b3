// Finds the load at which the mean response time stays in a window.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace workload {

struct PeakFinderOptions {
  double window_min_ms = 1500;  ///< Of the mean response time; above 0 and below the maximum.
  double window_max_ms = 1750;
  double start_rps = 10;
  double max_rps = 100'000;  ///< The load is never set higher.
  double step = 0.05;        ///< First change of the load once the window is near, as a share.
  double sample_s = 60;

  /// The middle of the window: what the interpolated rate is for.
  double target_ms() const { return (window_min_ms + window_max_ms) / 2; }
};

/// What was seen within a sample.
struct PeakSample {
  PeakSample() = default;

  double offered_rps = 0;  ///< As the finder had set it.
  double length_s = 0;
  /// Of the good responses that ended in the sample, from their intended start; nothing where there
  /// were none.
  std::optional<double> response_time_ms;
  uint64_t good = 0;
  uint64_t failed = 0;      ///< Errors, and what was given up before it was sent.
  uint64_t unfinished = 0;  ///< Requests that were due and had not ended, at the sample's end.
  bool measured = false;    ///< The sample belongs to the part whose figures are the run's.
};

/// A sample and what the finder made of it.
struct PeakPoint {
  PeakSample sample;
  /// What the load was judged by: the mean response time, or by Little's law what those that have
  /// not ended must be waiting, where that is much more.
  double judged_ms = 0;
  bool overload = false;
  /// It was taken while a backlog of an overload was drained, so it says nothing of its load.
  bool draining = false;
};

/// Who set the limit.
enum class PeakLimit {
  kNone,     ///< The run ended before any was found.
  kOffered,  ///< The greatest load was offered, and the response time stayed below the window.
  kSystem,   ///< The system under test: its response time reached the window, or it failed.
};

/// `none`, `offered`, `system`.
std::string_view name_of(PeakLimit limit);

/// What was found.
struct PeakSummary {
  PeakLimit limit = PeakLimit::kNone;
  /// In the measured samples the load stayed within 5 % of its mean either way, and the mean of
  /// their response times lies in the window, give or take a tenth of its bounds.
  bool settled = false;
  double target_ms = 0;
  /// The load at which the measured curve crosses the target; nothing where it does not.
  std::optional<double> rate_at_target_rps;
  /// Over the measured samples; nothing where there are none.
  std::optional<double> load_mean_rps;
  std::optional<double> load_low_rps;
  std::optional<double> load_high_rps;
  size_t overloads = 0;  ///< Samples in overload, over the whole run.
  size_t samples = 0;
};

/// The thermostat of PolyMix-4's peak finder (below the window a step up, above it a step down),
/// without what made it hunt.
///
/// Near saturation a queue holds the sum of what was ever too much: with capacity c the response
/// time grows by (load - c) / c a second. Equal steps by the response time alone swing for ever in
/// such a loop. So, once the window was reached, the load is set to what the system was seen to do
/// while it was full, less (or plus) four tenths of what would bring the response time to the
/// target within a sample: proportional control, under which the distance to the target shrinks
/// with each sample. Before, the load grows by half a sample. Where two samples in a row stay on
/// one side of the window, that capacity is not true (any more), and steps of `step` / 8 and
/// growing, up to twice `step`, come in addition.
///
/// Overload is a mean of twice the window's upper bound, the same by Little's law from what is
/// unfinished (survivors alone look fast), or over 1 % failed. The load then falls at once, so far
/// below what the system did that the backlog is gone within a sample. A load at which requests
/// failed is approached again by a sixteenth of `step` a sample.
///
/// A pure class: driven by samples alone, it knows neither time nor threads.
class PeakFinder {
 public:
  explicit PeakFinder(PeakFinderOptions options);

  /// The load to offer now, requests/s.
  double rate_rps() const { return rate_rps_; }
  /// Whether a sample should end now instead of going on: what is unfinished says that the load is
  /// far too high, or that a backlog is drained.
  bool urgent(uint64_t unfinished) const;
  /// Takes a sample and sets the load anew.
  void add(const PeakSample& sample);

  const std::vector<PeakPoint>& points() const { return points_; }
  const PeakFinderOptions& options() const { return options_; }
  PeakSummary summary() const;

 private:
  /// What the system did in a sample in which it was full.
  struct Done {
    double good = 0;
    double length_s = 0;
  };

  /// By Little's law, the mean time in the system of what passes at `rate_rps`.
  static double little_ms(uint64_t unfinished, double rate_rps);
  void set_rate(double rate_rps);
  void note_done(const PeakSample& sample);
  double capacity_rps() const;
  /// How far above the target what is under way now will be answered, over a sample's length.
  double excess(const PeakSample& sample) const;
  void fall(const PeakSample& sample, bool failing);
  void steer(const PeakSample& sample, double judged_ms);

  PeakFinderOptions options_;
  double rate_rps_;
  double step_;
  int side_ = 0;          ///< Of the window on which the last samples were: -1 below, 1 above.
  int repetitions_ = 0;   ///< How many in a row.
  bool climbing_ = true;  ///< The window was never reached.
  bool draining_ = false;
  double ceiling_rps_;  ///< Above it requests failed.
  bool held_at_max_ = false;
  std::deque<Done> done_;  ///< The last ones.
  std::vector<PeakPoint> points_;
};

/// The rate of good responses at which response times cross the target, from points of a noisy
/// curve that rises (rates that were done, not offered: in a full system the two differ): by
/// isotonic regression (pool adjacent violators; Barlow, Bartholomew, Bremner, Brunk: "Statistical
/// inference under order restrictions", 1972), weighted by the number of responses, and linear
/// between its levels. Points in overload or draining are left out. Where all points lie on one
/// side of the target, the nearest level if it lies in the window, else nothing.
std::optional<double> interpolate_rate(const std::vector<PeakPoint>& points,
                                       const PeakFinderOptions& options);

}  // namespace workload
