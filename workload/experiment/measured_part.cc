#include "workload/experiment/measured_part.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "workload/client/run_control.h"
#include "workload/experiment/fast_fill.h"

namespace workload {
namespace {

/// As much of a log's end as holds a line of progress.
constexpr std::streamoff kLogTailBytes = 4096;

constexpr std::array<std::string_view, 5> kPhases{kFastFillPhase, kSettlePhase, kMeasuredPhase,
                                                  kClimbPhase, kPeakPhase};

bool is_measured(std::string_view phase) {
  return phase == kMeasuredPhase || phase == kPeakPhase;
}

/// Whether the disks must take their time in it.
bool is_timed(std::string_view phase) {
  return is_measured(phase) || phase == kClimbPhase;
}

Problem began_too_early() {
  return run_problem(
      "the measured part began before the disks took their time, so it has no figures: what the "
      "fill left to be written took longer than 5 s");
}

}  // namespace

std::string_view last_phase(std::string_view log) {
  constexpr std::string_view kStart = "load: ";
  while (!log.empty()) {
    const size_t end = log.rfind('\n');
    if (end == std::string_view::npos) return {};
    log = log.substr(0, end);
    const size_t before = log.rfind('\n');
    std::string_view line = log.substr(before == std::string_view::npos ? 0 : before + 1);
    if (line.rfind(kStart, 0) != 0) continue;
    // `load: 12 s, fast_fill 34 %, ...`
    const size_t comma = line.find(", ");
    if (comma == std::string_view::npos) continue;
    line.remove_prefix(comma + 2);
    const std::string_view name = line.substr(0, line.find(' '));
    const auto* phase = std::find(kPhases.begin(), kPhases.end(), name);
    if (phase != kPhases.end()) return *phase;
  }
  return {};
}

std::string MeasuredPart::phase() const {
  std::ifstream in(log_, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  const std::streamoff from = std::max<std::streamoff>(0, size - kLogTailBytes);
  std::string tail(static_cast<size_t>(size - from), '\0');
  in.seekg(from);
  in.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return std::string(last_phase(tail));
}

Expected<MeasuredPart::Step> MeasuredPart::look() {
  if (state_ == State::kMeasuring) return Step::kNothing;
  const std::string now = phase();
  if (state_ == State::kFilling) {
    if (is_timed(now)) return began_too_early();
    if (now != kSettlePhase) return Step::kNothing;
    state_ = State::kWaiting;
    return Step::kBeginTiming;
  }
  if (!is_measured(now)) return Step::kNothing;
  state_ = State::kMeasuring;
  return Step::kBeginMeasured;
}

Expected<void> MeasuredPart::timing_began() {
  if (is_timed(phase())) return began_too_early();
  return {};
}

}  // namespace workload
