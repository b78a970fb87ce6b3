#include "workload/measure/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace workload {
namespace {

// 2048 sub-buckets tell three significant digits apart: neighbours differ by at most 1 in 1024,
// a value from its bucket's middle by half of that. The lower half of all buckets but the first
// is the bucket before it at half the resolution, so each further bucket has 1024 counters.
constexpr int kSubBucketBits = 11;
constexpr uint64_t kSubBucketCount = 1ULL << kSubBucketBits;
constexpr uint64_t kSubBucketHalf = kSubBucketCount / 2;

/// log2 of the width of the counters in the value's bucket.
int shift_of(uint64_t value) {
  return std::max(0, static_cast<int>(std::bit_width(value)) - kSubBucketBits);
}

}  // namespace

size_t Histogram::index_of(uint64_t value_ns) {
  const int shift = shift_of(value_ns);
  return static_cast<size_t>(static_cast<uint64_t>(shift) * kSubBucketHalf + (value_ns >> shift));
}

uint64_t Histogram::lowest_of(size_t index) {
  if (index < kSubBucketCount) return index;
  const uint64_t shift = index / kSubBucketHalf - 1;
  return (index - shift * kSubBucketHalf) << shift;
}

uint64_t Histogram::highest_of(size_t index) {
  return lowest_of(index + 1) - 1;
}

size_t Histogram::counter_count_max() {
  return index_of(kHighestNs) + 1;
}

void Histogram::grow_to(size_t index) {
  if (index < used_) return;
  if (index >= counters_.size()) {
    // Whole buckets, so that a slowly growing maximum does not reallocate each time.
    const size_t rounded = (index / kSubBucketHalf + 1) * kSubBucketHalf;
    counters_.resize(rounded);
  }
  used_ = index + 1;
}

void Histogram::record(uint64_t value_ns, uint64_t count) {
  if (count == 0) return;
  if (value_ns > kHighestNs) {
    value_ns = kHighestNs;
    clamped_count_ += count;
  }
  const size_t index = index_of(value_ns);
  grow_to(index);
  counters_[index] += count;
  count_ += count;
}

bool Histogram::add_to_counter(size_t index, uint64_t count) {
  if (index >= counter_count_max()) return false;
  if (count > std::numeric_limits<uint64_t>::max() - count_) return false;
  if (count == 0) return true;
  grow_to(index);
  counters_[index] += count;
  count_ += count;
  return true;
}

void Histogram::merge(const Histogram& other) {
  if (other.used_ == 0) return;
  grow_to(other.used_ - 1);
  for (size_t index = 0; index < other.used_; ++index) counters_[index] += other.counters_[index];
  count_ += other.count_;
  clamped_count_ += other.clamped_count_;
}

void Histogram::clear() {
  std::fill_n(counters_.begin(), used_, 0);
  used_ = 0;
  count_ = 0;
  clamped_count_ = 0;
}

std::optional<uint64_t> Histogram::max_ns() const {
  if (empty()) return std::nullopt;
  return highest_of(used_ - 1);
}

std::optional<uint64_t> Histogram::min_ns() const {
  if (empty()) return std::nullopt;
  size_t index = 0;
  while (counters_[index] == 0) ++index;
  return lowest_of(index);
}

std::optional<double> Histogram::mean_ns() const {
  if (empty()) return std::nullopt;
  double sum = 0;
  for (size_t index = 0; index < used_; ++index) {
    if (counters_[index] == 0) continue;
    const double middle =
        (static_cast<double>(lowest_of(index)) + static_cast<double>(highest_of(index))) / 2;
    sum += middle * static_cast<double>(counters_[index]);
  }
  return sum / static_cast<double>(count_);
}

std::optional<uint64_t> Histogram::percentile_ns(double percent) const {
  if (empty()) return std::nullopt;
  const double bounded = std::clamp(percent, 0.0, 100.0);
  const double wanted = std::ceil(bounded / 100.0 * static_cast<double>(count_));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, count_);
  uint64_t seen = 0;
  for (size_t index = 0; index < used_; ++index) {
    seen += counters_[index];
    if (seen >= rank) return highest_of(index);
  }
  return highest_of(used_ - 1);
}

bool operator==(const Histogram& left, const Histogram& right) {
  return left.count_ == right.count_ && std::ranges::equal(left.counters(), right.counters());
}

}  // namespace workload
