#include "workload/disk/power_cut.h"

#include <algorithm>

namespace workload::disk {
namespace {

/// The piece sector by sector.
std::vector<DataPiece> sectors_of(const DataPiece& piece, uint64_t sector_bytes) {
  std::vector<DataPiece> sectors;
  for (uint64_t at = piece.offset_bytes; at < piece.end_bytes();) {
    const uint64_t end = std::min(piece.end_bytes(), (at / sector_bytes + 1) * sector_bytes);
    sectors.push_back(piece.part(at, end));
    at = end;
  }
  return sectors;
}

std::vector<DataPiece> oldest_up_to_a_torn_one(const std::vector<DataPiece>& unflushed,
                                               uint64_t sector_bytes, storage::Random& random) {
  const auto torn = static_cast<size_t>(random.below(unflushed.size()));
  const auto torn_at = unflushed.begin() + static_cast<std::ptrdiff_t>(torn);
  std::vector<DataPiece> left(unflushed.begin(), torn_at);
  const std::vector<DataPiece> sectors = sectors_of(*torn_at, sector_bytes);
  const auto written = static_cast<std::ptrdiff_t>(random.below(sectors.size() + 1));
  left.insert(left.end(), sectors.begin(), sectors.begin() + written);
  return left;
}

std::vector<DataPiece> any_of_them(const std::vector<DataPiece>& unflushed, uint64_t sector_bytes,
                                   storage::Random& random) {
  const auto torn = static_cast<size_t>(random.below(unflushed.size()));
  std::vector<DataPiece> left;
  for (size_t i = 0; i < unflushed.size(); ++i) {
    if (i != torn) {
      if (random.below(2) == 0) left.push_back(unflushed[i]);
      continue;
    }
    for (const DataPiece& sector : sectors_of(unflushed[i], sector_bytes)) {
      if (random.below(2) == 0) left.push_back(sector);
    }
  }
  return left;
}

}  // namespace

std::vector<DataPiece> survivors_of_cut(const std::vector<DataPiece>& unflushed, CutManner manner,
                                        uint64_t sector_bytes, storage::Random random) {
  if (unflushed.empty() || manner == CutManner::kDrop) return {};
  if (manner == CutManner::kTear) return oldest_up_to_a_torn_one(unflushed, sector_bytes, random);
  return any_of_them(unflushed, sector_bytes, random);
}

uint64_t total_bytes(const std::vector<DataPiece>& pieces) {
  uint64_t total = 0;
  for (const DataPiece& piece : pieces) total += piece.length_bytes;
  return total;
}

}  // namespace workload::disk
