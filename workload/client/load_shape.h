// How hard a run drives, as the command line says it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workload/measure/peak_finder.h"

namespace workload {

/// What `peak,...` says; what it leaves out follows from the time scale.
struct PeakShape {
  std::optional<std::chrono::nanoseconds> window_min;  ///< Of mean response times. Both or none.
  std::optional<std::chrono::nanoseconds> window_max;
  std::optional<std::chrono::nanoseconds> sample;
  std::optional<double> start_rps;
  std::optional<double> max_rps;
  std::optional<double> step_percent;

  /// With the defaults filled in: window 1.5 s to 1.75 s and sample 60 s, all divided by
  /// `time_scale`; start 10 requests/s times `time_scale`; max 100,000/s; step 5 %.
  PeakFinderOptions resolve(double time_scale) const;
  friend bool operator==(const PeakShape& left, const PeakShape& right) = default;
};

/// One of
///   best-effort=N  closed loop, robots without pause
///   robots=N       closed loop, robots that pause as the workload says
///   rate=N[,poisson|constant][,connections=N][,queue=N]
///                  open loop of N requests/s, embedded ones included
///   peak[,window=A..B][,sample=T][,start=RATE][,max=RATE][,step=P%][,constant][,connections=N]
///       [,queue=N] open loop whose rate the peak finder sets
struct LoadShape {
  enum class Kind { kBestEffort, kRobots, kRate, kPeak };
  Kind kind = Kind::kBestEffort;
  uint64_t robots = 1;              ///< 1 to 100,000; closed loops only.
  double rate_rps = 0;              ///< kRate only; above 0, up to a million.
  bool constant = false;            ///< Equal gaps instead of a Poisson process; open loops only.
  uint64_t connections_max = 4096;  ///< Of the whole run; open loops only.
  uint64_t queue_max = 16384;       ///< Requests that wait for a connection; open loops only.
  PeakShape peak;

  bool open_loop() const { return kind == Kind::kRate || kind == Kind::kPeak; }
  friend bool operator==(const LoadShape& left, const LoadShape& right) = default;
};

/// Nothing where the text is none of these; `error` then says what would be right.
std::optional<LoadShape> parse_load_shape(std::string_view text, std::string& error);

}  // namespace workload
