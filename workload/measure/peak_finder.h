// Finds the load at which the mean response time stays in a window.
#pragma once

#include <cstdint>
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
  double step = 0.05;        ///< Twice the first step after an overload, as a share of the load.
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
  /// Standard error of this mean; nothing where there were too few to tell.
  std::optional<double> error_ms;
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
  bool failing = false;  ///< More failed than may; that is overload too.
  /// It was taken while a backlog of an overload was drained, so it says nothing of its load.
  bool draining = false;
};

/// Who set the limit.
enum class PeakLimit {
  kNone,     ///< None was found: the run ended before, or the window lies below all response times.
  kOffered,  ///< The greatest load was offered, and the response time stayed below the window.
  kSystem,   ///< The system under test: its response time reached the target, or it failed.
};

/// `none`, `offered`, `system`.
std::string_view name_of(PeakLimit limit);

/// What was found.
struct PeakSummary {
  PeakLimit limit = PeakLimit::kNone;
  /// In the measured samples the load stayed within 5 % of its mean either way, and the mean of
  /// their response times lies in the window, give or take a tenth of its bounds (or, where the
  /// offered load is the limit, below).
  bool settled = false;
  double target_ms = 0;
  /// The load at which the measured curve crosses the target; nothing where it does not.
  std::optional<double> rate_at_target_rps;
  /// Over the measured samples; nothing where there are none.
  std::optional<double> load_mean_rps;
  std::optional<double> load_low_rps;
  std::optional<double> load_high_rps;
  /// The response time above the target that half the load did not lower: no load brings it there.
  /// Nothing where the target can be reached, as far as was seen.
  std::optional<double> base_response_time_ms;
  bool failing = false;  ///< Requests failed at the limit, of the last samples in one at least.
  size_t overloads = 0;  ///< Samples in overload, over the whole run.
  size_t samples = 0;
};

/// Finds the load at which the mean response time is the middle of the window, from noisy samples
/// of a curve that may drift. PolyMix-4's peak finder (below the window a step up, above it a step
/// down) does so too, but hunts.
///
/// - The load doubles until a response time is above the target by more than its noise, in two
///   samples at one load, or until there is overload.
/// - From then on it moves by steps, down where the response time is above the target and up where
///   it is below, by a whole step from half the target away. A step halves whenever the response
///   time has come to the other side (Kesten: "Accelerated stochastic approximation", 1958), and
///   grows where it stays on one side for longer than chance would have it, up to twice the load.
///   So steps are small near the target, and neither a strange sample nor a drift holds the load
///   for good.
/// - Near saturation a queue holds the sum of what was ever too much, and steps by its length alone
///   swing for ever. So the load is, besides, lower (or higher) by four tenths of what would bring
///   what is under way to the target within a sample; that does not add up.
/// - Where half the load is answered no faster, it is not the load that makes responses slow. The
///   load stays then until they are faster, and the search begins anew. But where a lower load was
///   answered below the target, it falls to that first: a system that sheds load by turning hits
///   into misses answers as slowly at half the load, and comes back only at much less.
/// - Overload is twice the window's upper bound and a backlog that grows (by Little's law from what
///   is unfinished: survivors alone look fast), or over 1 % failed. The load then falls at once, so
///   far below what the system did that the backlog is gone within a sample, and goes on at what
///   the system did meanwhile.
///
/// A pure class: driven by samples alone, it knows neither time nor threads.
class PeakFinder {
 public:
  /// `unfinished` requests are under way when the search begins.
  explicit PeakFinder(PeakFinderOptions options, uint64_t unfinished = 0);

  /// The load to offer now, requests/s.
  double rate_rps() const { return rate_rps_; }
  /// Whether a sample should end now instead of going on: it shows overload, or that a backlog is
  /// drained.
  bool urgent(const PeakSample& sample) const;
  /// Whether a sample that is as long as asked for says enough: it has a thousand responses, or a
  /// hundred that are clearly outside the window. If not it may go on, up to `kExtensionMax` times
  /// that length.
  bool enough(const PeakSample& sample) const;
  static constexpr int kExtensionMax = 4;
  /// Takes a sample and sets the load anew.
  void add(const PeakSample& sample);

  const std::vector<PeakPoint>& points() const { return points_; }
  const PeakFinderOptions& options() const { return options_; }
  PeakSummary summary() const;

 private:
  /// A load and what came of it.
  struct Seen {
    double load_rps = 0;
    double response_ms = 0;
  };

  /// The last points: what they say holds now.
  std::vector<PeakPoint> recent() const;
  void set_rate(double rate_rps);
  /// The centre, corrected for the backlog.
  void set_load();
  /// How far above the target what is under way will be answered, over a sample's length.
  double excess(double rate_rps) const;
  /// Whether more became unfinished in a sample than chance brings.
  bool overloaded(const PeakSample& sample, double judged_ms) const;
  /// What the system did in the last overload and while it was drained.
  double capacity_rps() const;
  void note_drained(const PeakSample& sample);
  void fall(const PeakSample& sample);
  void drained(const PeakSample& sample);
  void climb(const PeakPoint& point);
  void steer(const PeakPoint& point);
  void note_answered_in_time(double rate_rps);
  /// Takes a point above the target: whether half the load was answered no faster.
  bool load_independent(const PeakPoint& point);

  PeakFinderOptions options_;
  double rate_rps_;
  double centre_rps_ = 0;  ///< The load but for what corrects the backlog; once not climbing.
  double step_;            ///< The next whole one, of the logarithm of the load.
  int run_ = 0;            ///< Samples in a row above the target; below it: negative.
  bool climbing_ = true;   ///< Nothing was seen above the target.
  int above_ = 0;          ///< Samples in a row above the target, while climbing.
  bool draining_ = false;
  double drained_good_ = 0;  ///< Good responses in overload and draining, in
  double drained_s_ = 0;     ///< so long.
  double failing_rps_ = 0;   ///< The load in overload at which requests failed; 0: none did.
  uint64_t unfinished_ = 0;  ///< At the end of the last sample.
  bool held_at_max_ = false;
  std::optional<Seen> above_target_;  ///< Where a way down began.
  /// The lowest load that was answered below the target, until one as low is answered above it.
  std::optional<double> answered_in_time_rps_;
  std::optional<Seen> base_;  ///< Half this load was answered no faster.
  std::vector<PeakPoint> points_;
};

/// The load at which response times cross the target, from points of a noisy curve that rises: by
/// isotonic regression (pool adjacent violators; Barlow, Bartholomew, Bremner, Brunk: "Statistical
/// inference under order restrictions", 1972), weighted by the number of responses, and linear
/// between its levels. Loads within 1 % count as one. Points in overload or draining are left out.
/// Where all levels lie on one side of the target, the nearest one's load if it lies in the window
/// or single points lie on the other side (in a full system the load hardly depends on the response
/// time), else nothing.
std::optional<double> interpolate_rate(const std::vector<PeakPoint>& points,
                                       const PeakFinderOptions& options);

}  // namespace workload
