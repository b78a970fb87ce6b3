#include "workload/client/peak_sampler.h"

#include <cmath>

#include "storage/base/units.h"

namespace workload {
namespace {

/// An urgent end comes no sooner than after this part of a sample.
constexpr int kShortestPart = 10;

}  // namespace

PeakSampler::PeakSampler(PeakFinderOptions options, storage::SteadyTime start)
    : finder_(options),
      length_(std::chrono::nanoseconds(std::llround(options.sample_s * 1e9))),
      begin_(start) {}

void PeakSampler::look(const LiveCounts& counts, storage::SteadyTime now, bool measured) {
  const auto elapsed = now - begin_;
  if (elapsed < length_ / kShortestPart) return;
  if (elapsed < length_ && !finder_.urgent(counts.unfinished())) return;
  PeakSample sample;
  sample.offered_rps = finder_.rate_rps();
  sample.length_s = storage::seconds_of(elapsed);
  sample.good = counts.good - at_begin_.good;
  if (sample.good > 0) {
    const auto sum_ns = static_cast<double>(counts.response_time_ns - at_begin_.response_time_ns);
    sample.response_time_ms = sum_ns / static_cast<double>(sample.good) / 1e6;
  }
  sample.failed = counts.errors - at_begin_.errors + counts.not_sent - at_begin_.not_sent;
  sample.unfinished = counts.unfinished();
  // One that began before the part that counts says what was before it.
  sample.measured = measured_ && measured;
  finder_.add(sample);
  begin_ = now;
  at_begin_ = counts;
  measured_ = measured;
}

}  // namespace workload
