// The index that a clean stop leaves, so that the next start need not look at every stripe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/layout/coss_format.h"
#include "storage/layout/coss_index.h"
#include "storage/layout/coss_log.h"

namespace storage {

/// A stripe whose content counts.
struct CossLiveStripe {
  uint32_t stripe = 0;
  uint64_t generation = 0;
};

/// All of it, in a buffer that is padded to whole pages.
Space encode_coss_index(const CossLog& log, const CossIndex& index);

/// For CossState::index_checksum.
uint64_t coss_index_checksum(const CossGeometry& geometry, std::span<const std::byte> bytes);

/// Enters all objects into `index`, which is empty, and returns the stripes, oldest first. Nothing
/// where the bytes make no sense; the checksum has been compared before.
std::optional<std::vector<CossLiveStripe>> decode_coss_index(const CossGeometry& geometry,
                                                             std::span<const std::byte> bytes,
                                                             CossIndex& index);

}  // namespace storage
