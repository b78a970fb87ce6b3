#include "storage/replacement/frequency_sketch.h"

#include <algorithm>

#include "storage/base/random.h"

namespace storage {

FrequencySketch::FrequencySketch() : counts_(kRows * kColumnsMin) {}

size_t FrequencySketch::place(KeyHash hash, unsigned row) const {
  const uint64_t mixed = mix64(hash.low + mix64(hash.high + row));
  return row * columns_ + (static_cast<size_t>(mixed) & (columns_ - 1));
}

void FrequencySketch::record(KeyHash hash) {
  for (unsigned row = 0; row < kRows; ++row) {
    uint8_t& count = counts_[place(hash, row)];
    if (count < kCountMax) ++count;
  }
  if (++uses_ < kUsesPerColumn * columns_) return;
  for (uint8_t& count : counts_) count /= 2;
  uses_ /= 2;
}

unsigned FrequencySketch::estimate(KeyHash hash) const {
  uint8_t lowest = kCountMax;
  for (unsigned row = 0; row < kRows; ++row) lowest = std::min(lowest, counts_[place(hash, row)]);
  return lowest;
}

void FrequencySketch::grow_for(uint64_t objects) {
  while (columns_ < objects) {
    // A hash falls into one of two columns that were one before, so both begin as that was.
    std::vector<uint8_t> wider(2 * counts_.size());
    for (unsigned row = 0; row < kRows; ++row) {
      const auto from = counts_.begin() + static_cast<ptrdiff_t>(row * columns_);
      const auto to = wider.begin() + static_cast<ptrdiff_t>(2 * row * columns_);
      std::copy_n(from, columns_, to);
      std::copy_n(from, columns_, to + static_cast<ptrdiff_t>(columns_));
    }
    counts_ = std::move(wider);
    columns_ *= 2;
  }
}

}  // namespace storage
