#include "storage/layout/coss_draft.h"

#include <algorithm>
#include <utility>

namespace storage {

namespace {

constexpr size_t kChunkSizeMin = 4 * 1024;
constexpr size_t kChunkSizeMax = 64 * 1024;

}  // namespace

Result<Space> CossDraft::make_chunk(size_t size_bytes) {
  if (sum_->load() + size_bytes > sum_max_) return Error(Errc::kOverloaded);
  const std::span<std::byte> bytes(new std::byte[size_bytes], size_bytes);
  *sum_ += size_bytes;
  std::shared_ptr<void> owner(bytes.data(), [sum = sum_, size_bytes](std::byte* gone) {
    delete[] gone;
    *sum -= size_bytes;
  });
  return Space(bytes, std::move(owner));
}

Result<Space> CossDraft::reserve(size_t size_hint_bytes) {
  if (chunks_.empty() || chunks_.back().used_bytes == chunks_.back().space.size()) {
    const uint64_t left = declared_size_bytes_.value_or(0) > size_bytes_
                              ? *declared_size_bytes_ - size_bytes_
                              : std::max(size_hint_bytes, kChunkSizeMin);
    Result<Space> made = make_chunk(std::min<uint64_t>(left, kChunkSizeMax));
    if (!made) return made.error();
    chunks_.push_back(Chunk{std::move(*made), 0});
  }
  const Chunk& chunk = chunks_.back();
  return Space(chunk.space.bytes().subspan(chunk.used_bytes), chunk.space.owner());
}

Result<void> CossDraft::append(const Space& space, size_t used_bytes) {
  if (chunks_.empty()) return Error(Errc::kAborted);
  Chunk& chunk = chunks_.back();
  const std::span<std::byte> rest = chunk.space.bytes().subspan(chunk.used_bytes);
  if (space.bytes().data() != rest.data() || used_bytes > rest.size()) {
    return Error(Errc::kAborted);
  }
  chunk.used_bytes += used_bytes;
  size_bytes_ += used_bytes;
  return {};
}

void CossDraft::copy_to(std::span<std::byte> out) const {
  for (const Chunk& chunk : chunks_) {
    const auto bytes = chunk.space.bytes().first(chunk.used_bytes);
    std::ranges::copy(bytes, out.begin());
    out = out.subspan(bytes.size());
  }
}

void CossDraft::clear() {
  chunks_.clear();
}

}  // namespace storage
