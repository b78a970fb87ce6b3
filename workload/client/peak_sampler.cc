#include "workload/client/peak_sampler.h"

#include <cmath>

#include "storage/base/units.h"

namespace workload {
namespace {

/// An urgent end comes no sooner than after this part of a sample.
constexpr int kShortestPart = 10;
constexpr int kBatches = 16;  ///< A sample as long as asked for.
constexpr size_t kBatchesMin = 8;

double ms_between(const LiveCounts& begin, const LiveCounts& end) {
  return static_cast<double>(end.response_time_ns - begin.response_time_ns) / 1e6;
}

}  // namespace

PeakSampler::PeakSampler(PeakFinderOptions options, storage::SteadyTime start,
                         const LiveCounts& counts)
    : finder_(options, counts.unfinished()),
      length_(std::chrono::nanoseconds(std::llround(options.sample_s * 1e9))),
      begin_(start),
      at_begin_(counts),
      batch_begin_(start),
      at_batch_begin_(counts) {}

void PeakSampler::end_batch(const LiveCounts& counts, storage::SteadyTime now) {
  batches_.push_back({static_cast<double>(counts.good - at_batch_begin_.good),
                      ms_between(at_batch_begin_, counts)});
  batch_begin_ = now;
  at_batch_begin_ = counts;
}

PeakSample PeakSampler::sample_of(const LiveCounts& counts, storage::SteadyTime now) const {
  PeakSample sample;
  sample.offered_rps = finder_.rate_rps();
  sample.length_s = storage::seconds_of(now - begin_);
  sample.good = counts.good - at_begin_.good;
  sample.failed = counts.errors - at_begin_.errors + counts.not_sent - at_begin_.not_sent;
  sample.unfinished = counts.unfinished();
  if (sample.good == 0) return sample;
  const auto good = static_cast<double>(sample.good);
  const double mean_ms = ms_between(at_begin_, counts) / good;
  sample.response_time_ms = mean_ms;
  if (batches_.size() < kBatchesMin) return sample;
  // Of a ratio of two sums, from the scatter of its parts: those that wait for one another are slow
  // together, so that the scatter of single responses would say too little.
  double squares = 0;
  for (const Batch& batch : batches_) {
    const double off = batch.sum_ms - mean_ms * batch.responses;
    squares += off * off;
  }
  const auto count = static_cast<double>(batches_.size());
  sample.error_ms = std::sqrt(squares * count / (count - 1)) / good;
  return sample;
}

void PeakSampler::look(const LiveCounts& counts, storage::SteadyTime now, bool measured) {
  if (now - batch_begin_ >= length_ / kBatches) end_batch(counts, now);
  const auto elapsed = now - begin_;
  if (elapsed < length_ / kShortestPart) return;
  PeakSample sample = sample_of(counts, now);
  if (!finder_.urgent(sample)) {
    if (elapsed < length_) return;
    if (elapsed < length_ * PeakFinder::kExtensionMax && !finder_.enough(sample)) return;
  }
  // One that began before the part that counts says what was before it.
  sample.measured = measured_ && measured;
  finder_.add(sample);
  begin_ = now;
  at_begin_ = counts;
  measured_ = measured;
  batches_.clear();
  batch_begin_ = now;
  at_batch_begin_ = counts;
}

}  // namespace workload
