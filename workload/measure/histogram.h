// Response times with three significant digits, whatever their range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace workload {

/// A high dynamic range histogram of times in nanoseconds: 1 ns to 24 h, each value kept to three
/// significant digits (an error of at most 1 in 2048 of the value). The layout of the counters is
/// the one that the public HdrHistogram formats describe, with a lowest discernible value of 1
/// and 2048 sub-buckets, so that a counter's index means the same there and here.
///
/// Counters are allocated up to the highest value that was seen. One thread at a time.
class Histogram {
 public:
  static constexpr uint64_t kLowestNs = 1;
  static constexpr uint64_t kHighestNs = 24ULL * 3600 * 1'000'000'000;
  static constexpr int kSignificantDigits = 3;

  /// Records a value `count` times. Values past kHighestNs are recorded as kHighestNs and counted
  /// in clamped_count().
  void record(uint64_t value_ns, uint64_t count = 1);

  /// Adds another histogram's values.
  void merge(const Histogram& other);

  /// Forgets all values and keeps the memory.
  void clear();

  uint64_t count() const { return count_; }
  uint64_t clamped_count() const { return clamped_count_; }
  bool empty() const { return count_ == 0; }

  /// The highest value, to three digits (rounded up within its bucket); nothing where empty.
  std::optional<uint64_t> max_ns() const;
  /// The lowest value, to three digits (rounded down); nothing where empty.
  std::optional<uint64_t> min_ns() const;
  /// Mean of the counters' middles, within 1 in 2048 of the true mean; nothing where empty.
  std::optional<double> mean_ns() const;
  /// The value that `percent` (0 to 100) of the values do not exceed, rounded up within its
  /// bucket; nothing where empty.
  std::optional<uint64_t> percentile_ns(double percent) const;

  /// Counters by index, up to the one of the highest value; for the interval log.
  std::span<const uint64_t> counters() const { return {counters_.data(), used_}; }
  /// Adds `count` to the counter of that index; false where the index is past kHighestNs or the
  /// counts would overflow.
  bool add_to_counter(size_t index, uint64_t count);

  /// Index of the counter of a value, and the lowest and highest value of a counter.
  static size_t index_of(uint64_t value_ns);
  static uint64_t lowest_of(size_t index);
  static uint64_t highest_of(size_t index);
  /// One past the index of kHighestNs.
  static size_t counter_count_max();

  /// Same counts of the same values (to three digits).
  friend bool operator==(const Histogram& left, const Histogram& right);

 private:
  void grow_to(size_t index);

  std::vector<uint64_t> counters_;
  size_t used_ = 0;  ///< One past the highest counter that is not 0.
  uint64_t count_ = 0;
  uint64_t clamped_count_ = 0;
};

}  // namespace workload
