#include "workload/disk/pending_data.h"

#include <algorithm>

namespace workload::disk {

DataPiece DataPiece::part(uint64_t from_bytes, uint64_t to_bytes) const {
  DataPiece result = *this;
  result.offset_bytes = from_bytes;
  result.begin = begin + static_cast<size_t>(from_bytes - offset_bytes);
  result.length_bytes = static_cast<size_t>(to_bytes - from_bytes);
  return result;
}

void PendingData::write(uint64_t offset_bytes, std::vector<std::byte> bytes) {
  if (bytes.empty()) return;
  take(offset_bytes, bytes.size());
  DataPiece piece;
  piece.offset_bytes = offset_bytes;
  piece.order = writes_++;
  piece.length_bytes = bytes.size();
  piece.buffer = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  add(std::move(piece));
}

std::vector<DataPiece> PendingData::find(uint64_t offset_bytes, uint64_t length_bytes) const {
  std::vector<DataPiece> found;
  const uint64_t end = offset_bytes + length_bytes;
  auto at = pieces_.upper_bound(offset_bytes);
  if (at != pieces_.begin()) --at;
  for (; at != pieces_.end() && at->first < end; ++at) {
    const DataPiece& piece = at->second;
    if (piece.end_bytes() <= offset_bytes) continue;
    found.push_back(
        piece.part(std::max(piece.offset_bytes, offset_bytes), std::min(piece.end_bytes(), end)));
  }
  return found;
}

std::vector<DataPiece> PendingData::take(uint64_t offset_bytes, uint64_t length_bytes) {
  std::vector<DataPiece> taken = find(offset_bytes, length_bytes);
  for (const DataPiece& part : taken) {
    const auto found = std::prev(pieces_.upper_bound(part.offset_bytes));
    const DataPiece whole = found->second;
    size_bytes_ -= whole.length_bytes;
    pieces_.erase(found);
    if (whole.offset_bytes < part.offset_bytes) {
      add(whole.part(whole.offset_bytes, part.offset_bytes));
    }
    if (part.end_bytes() < whole.end_bytes()) add(whole.part(part.end_bytes(), whole.end_bytes()));
  }
  return taken;
}

std::vector<DataPiece> PendingData::take_all() {
  std::vector<DataPiece> taken;
  taken.reserve(pieces_.size());
  for (auto& [offset, piece] : pieces_) taken.push_back(std::move(piece));
  pieces_.clear();
  size_bytes_ = 0;
  std::stable_sort(taken.begin(), taken.end(), [](const DataPiece& left, const DataPiece& right) {
    return left.order < right.order;
  });
  return taken;
}

void PendingData::add(DataPiece piece) {
  if (piece.length_bytes * 2 < piece.buffer->size()) {
    // A small rest must not keep a large buffer.
    const auto rest = piece.bytes();
    piece.buffer = std::make_shared<const std::vector<std::byte>>(rest.begin(), rest.end());
    piece.begin = 0;
  }
  size_bytes_ += piece.length_bytes;
  pieces_.emplace(piece.offset_bytes, std::move(piece));
}

}  // namespace workload::disk
