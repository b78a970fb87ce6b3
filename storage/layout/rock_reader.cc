#include "storage/layout/rock_reader.h"

#include <algorithm>
#include <utility>

#include "storage/base/guarded_task.h"

namespace storage {

namespace {

// How often an object may be replaced between looking it up and reading its head.
constexpr int kOpenAttempts = 8;

}  // namespace

RockReader::RockReader(std::shared_ptr<RockStore> store, RockHead head, RockStore::Pin body)
    : store_(std::move(store)), head_(std::move(head)), body_(std::move(body)) {}

Task<Piece> RockReader::read(uint64_t offset_bytes, size_t size_bytes_max) {
  return guarded(read_now(offset_bytes, size_bytes_max));
}

Task<Piece> RockReader::read_now(uint64_t offset_bytes, size_t size_bytes_max) {
  if (!store_->running()) co_return Error(Errc::kStopped);
  if (failure_.code != Errc::kNone) co_return failure_;
  if (offset_bytes >= head_.object.body_size_bytes || size_bytes_max == 0) co_return Piece();
  Piece piece = lend(offset_bytes, size_bytes_max);
  if (!piece.empty()) co_return piece;
  const RockStore::Operation operation(store_);
  const Result<void> loaded = co_await load(offset_bytes, size_bytes_max);
  if (!loaded) {
    const Errc code = loaded.error().code;
    if (code == Errc::kCorrupt || code == Errc::kIo) {
      failure_ = loaded.error();
      store_->drop(head_.version, code);
    }
    co_return loaded.error();
  }
  co_return lend(offset_bytes, size_bytes_max);
}

Piece RockReader::lend(uint64_t offset_bytes, size_t size_bytes_max) const {
  if (offset_bytes < prefix_.size()) {
    return prefix_.share(offset_bytes, std::min(size_bytes_max, prefix_.size() - offset_bytes));
  }
  for (const RockSegment& segment : head_.segments) {
    if (offset_bytes < segment.offset_bytes) continue;
    const uint64_t offset = offset_bytes - segment.offset_bytes;
    if (offset >= segment.bytes.size()) continue;
    return segment.bytes.share(offset, std::min(size_bytes_max, segment.bytes.size() - offset));
  }
  return Piece();
}

// A buffer of the pool goes back before another one is asked for.
void RockReader::keep_prefix() {
  const size_t size = head_.object.prefix_length_bytes;
  if (prefix_.empty() && size > 0) {
    const std::span<const std::byte> bytes = head_.segments.front().bytes.bytes();
    const auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
    prefix_ = Piece(*copy, copy);
  }
  head_.segments.clear();
}

Task<void> RockReader::load(uint64_t offset_bytes, size_t size_bytes_max) {
  keep_prefix();
  const uint64_t unit = store_->geometry().payload_max_bytes();
  const uint64_t in_part = offset_bytes - head_.object.body_part_offset();
  const auto first = static_cast<uint32_t>(in_part / unit);
  // As many slots as the caller can use.
  const uint64_t useful = std::min<uint64_t>(size_bytes_max, head_.object.body_size_bytes);
  const uint64_t count = (in_part % unit + useful + unit - 1) / unit;
  const uint64_t left = head_.chain.body().size() - first;
  Result<std::vector<RockSegment>> segments = co_await read_rock_body(
      store_, head_, first, static_cast<uint32_t>(std::min<uint64_t>(count, left)));
  if (!segments) co_return segments.error();
  head_.segments = std::move(*segments);
  co_return Result<void>();
}

Task<std::unique_ptr<Reader>> open_rock_object(std::shared_ptr<RockStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const RockStore::Operation operation(store);
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    const std::optional<RockVersion> version = store->index().find(key.hash());
    if (!version) co_return Error(Errc::kNotFound);
    if (version->hash != key.hash()) {
      ++store->counts().collisions;
      co_return Error(Errc::kNotFound);
    }
    const Result<void> admitted = store->admit_read();
    if (!admitted) co_return admitted.error();
    const RockStore::Pin head_pin(store, version->head_slot);
    RockStore::Pin body_pin(store, store->slots().chain(version->head_slot).first_body_slot());
    Result<RockHead> head = co_await read_rock_head(store, key, *version);
    if (head) {
      store->index().touch(key.hash());
      co_return std::make_unique<RockReader>(store, std::move(*head), std::move(body_pin));
    }
    const Errc code = head.error().code;
    // It has been replaced meanwhile, and its head slot cleared.
    if (code == Errc::kCorrupt && !store->index().current(*version)) continue;
    if (code == Errc::kCorrupt || code == Errc::kIo) store->drop(*version, code);
    co_return code == Errc::kCorrupt ? Error(Errc::kNotFound) : head.error();
  }
  co_return Error(Errc::kNotFound);
}

}  // namespace storage
