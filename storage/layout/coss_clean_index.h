// The index that a clean stop leaves, so that the next start need not look at every stripe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/coss_format.h"
#include "storage/layout/coss_index.h"
#include "storage/layout/coss_log.h"

namespace storage {

/// A stripe whose content counts.
struct CossLiveStripe {
  uint32_t stripe = 0;
  uint64_t generation = 0;
};

/// The clean index in the file.
struct CossIndexExtent {
  uint64_t size_bytes = 0;  ///< Whole pages; 0 where there is no index.
  uint64_t checksum = 0;
};

/// Writes it to its place, a piece at a time; nothing of log and index may change meanwhile. Size 0
/// where it is larger than `size_bytes_max`.
Task<CossIndexExtent> write_coss_index(File& file, const CossGeometry& geometry, const CossLog& log,
                                       const CossIndex& index, uint64_t size_bytes_max);

/// Enters all objects into `index`, which is empty, and returns the stripes, oldest first. kCorrupt
/// where it is damaged or makes no sense; `index` is empty then.
Task<std::vector<CossLiveStripe>> read_coss_index(File& file, const CossGeometry& geometry,
                                                  CossIndexExtent extent, CossIndex& index);

}  // namespace storage
