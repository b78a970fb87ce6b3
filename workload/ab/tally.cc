#include "workload/ab/tally.h"

#include <algorithm>
#include <cmath>

namespace workload::ab {

void TimeSamples::record(uint64_t value_ns) {
  if (value_ns == 0) return record_zeros(1);
  histogram_.record(value_ns);
  min_ns_ = std::min(min_ns_, value_ns);
  max_ns_ = std::max(max_ns_, value_ns);
  const auto value = static_cast<double>(value_ns);
  sum_ns_ += value;
  sum_of_squares_ += value * value;
}

void TimeSamples::record_zeros(uint64_t count) {
  zeros_ += count;
}

void TimeSamples::merge(const TimeSamples& other) {
  histogram_.merge(other.histogram_);
  zeros_ += other.zeros_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  sum_of_squares_ += other.sum_of_squares_;
}

uint64_t TimeSamples::min_ns() const {
  return zeros_ > 0 || histogram_.empty() ? 0 : min_ns_;
}

double TimeSamples::mean_ns() const {
  return count() == 0 ? 0 : sum_ns_ / static_cast<double>(count());
}

double TimeSamples::deviation_ns() const {
  if (count() < 2) return 0;
  const auto n = static_cast<double>(count());
  return std::sqrt(std::max(0.0, (sum_of_squares_ - sum_ns_ * sum_ns_ / n) / (n - 1)));
}

uint64_t TimeSamples::percentile_ns(double percent) const {
  if (count() == 0) return 0;
  if (percent >= 100) return max_ns_;
  // The zeros are the least values; the rest of the rank lies in the histogram.
  const auto all = static_cast<double>(count());
  const double rank = percent / 100 * all - static_cast<double>(zeros_);
  if (rank <= 0 || histogram_.empty()) return zeros_ > 0 ? 0 : min_ns_;
  const double percent_of_rest = 100 * rank / static_cast<double>(histogram_.count());
  return std::min(histogram_.percentile_ns(percent_of_rest).value_or(0), max_ns_);
}

uint64_t Tally::failed() const {
  uint64_t sum = 0;
  for (size_t at = 1; at < failures.size(); ++at) sum += failures[at];
  return sum;
}

void Tally::merge(const Tally& other) {
  complete += other.complete;
  good += other.good;
  not_2xx += other.not_2xx;
  kept_alive += other.kept_alive;
  write_errors += other.write_errors;
  received_bytes += other.received_bytes;
  body_bytes += other.body_bytes;
  sent_bytes += other.sent_bytes;
  for (size_t at = 0; at < failures.size(); ++at) failures[at] += other.failures[at];
  truncated += other.truncated;
  surplus += other.surplus;
  timeouts += other.timeouts;
  other_length += other.other_length;
  other_content += other.other_content;
  connections += other.connections;
  stale_retries += other.stale_retries;
  for (size_t at = 0; at < by_class.size(); ++at) by_class[at] += other.by_class[at];
  connect.merge(other.connect);
  processing.merge(other.processing);
  waiting.merge(other.waiting);
  total.merge(other.total);
  good_times.merge(other.good_times);
  requests.insert(requests.end(), other.requests.begin(), other.requests.end());
  if (first_failure.empty()) first_failure = other.first_failure;
}

}  // namespace workload::ab
