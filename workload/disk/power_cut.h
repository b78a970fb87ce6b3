// What a power cut leaves of the writes that were not flushed.
#pragma once

#include <vector>

#include "storage/base/random.h"
#include "workload/disk/pending_data.h"
#include "workload/disk/profile.h"

namespace workload::disk {

/// Of `unflushed`, in the order in which it was written, the parts that reach the medium. Writes
/// are torn at multiples of `sector_bytes` of the disk alone. The same writes and the same state of
/// `random` leave the same.
std::vector<DataPiece> survivors_of_cut(const std::vector<DataPiece>& unflushed, CutManner manner,
                                        uint64_t sector_bytes, storage::Random random);

/// Of the bytes of these pieces.
uint64_t total_bytes(const std::vector<DataPiece>& pieces);

}  // namespace workload::disk
