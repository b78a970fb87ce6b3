// How often objects were used lately, in little memory, for objects in the store and out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/types.h"

namespace storage {

/// A count-min sketch of four rows of counters from 0 to 15 (Cormode, Muthukrishnan: "An Improved
/// Data Stream Summary: the Count-Min Sketch and its Applications", 2005), aged as TinyLFU does:
/// after 10 uses a column all counters are halved, so that what was popular once is forgotten. An
/// estimate is never too low but for ageing and the limit of 15. The column of a hash in row r is
/// `mix64(low + mix64(high + r)) mod columns()`.
class FrequencySketch {
 public:
  static constexpr unsigned kRows = 4;
  static constexpr uint8_t kCountMax = 15;
  static constexpr size_t kColumnsMin = 1024;
  static constexpr uint64_t kUsesPerColumn = 10;

  FrequencySketch();

  /// Counts a use.
  void record(KeyHash hash);
  /// Uses that were counted, 0 to 15.
  unsigned estimate(KeyHash hash) const;
  /// Doubles the columns until there is one for each of `objects`. No estimate changes.
  void grow_for(uint64_t objects);
  /// A power of two.
  size_t columns() const { return columns_; }

 private:
  size_t place(KeyHash hash, unsigned row) const;

  size_t columns_ = kColumnsMin;
  uint64_t uses_ = 0;            // since the last ageing, and half of those before
  std::vector<uint8_t> counts_;  // row after row
};

}  // namespace storage
