#include "storage/layout/coss_reader.h"

#include <algorithm>
#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/layout/coss_rewrite.h"

namespace storage {

namespace {

// What decoding a record gives, from wherever its bytes come.
Result<CossReader::Found> decode(CossStore& store, const Key& key, CossLocation location,
                                 uint64_t seed, const CossRecord& record,
                                 std::span<const std::byte> bytes) {
  const Result<CossHead> head = decode_coss_head(bytes, seed, record);
  if (!head) return head.error();
  if (head->key != key.text()) {
    ++store.counts().collisions;
    return Error(Errc::kNotFound);
  }
  CossReader::Found found;
  found.hash = key.hash();
  found.version.location = location;
  found.version.generation = store.log().generation(store.index().stripe_of(location));
  found.seed = seed;
  found.record = record;
  found.metadata = Metadata(std::string(head->metadata));
  found.checksums.assign(head->checksums.begin(), head->checksums.end());
  return found;
}

// The part of the body in `bytes`, which are the beginning of the record, that can be verified:
// whole blocks, or all of it.
size_t verifiable_size(const CossRecord& record, size_t bytes_size) {
  if (bytes_size <= record.body_offset()) return 0;
  const size_t body = bytes_size - record.body_offset();
  if (body >= record.body_size_bytes) return record.body_size_bytes;
  return body / kCossChecksumBlockSize * kCossChecksumBlockSize;
}

Task<CossReader::Found> read_record(std::shared_ptr<CossStore> store, const Key& key,
                                    CossLocation location, uint64_t seed) {
  const uint64_t offset = store->file_offset(location);
  const size_t pooled = store->pooled_read_size_max(offset);
  const size_t first_size =
      std::min<size_t>(location.size_bytes, std::max(pooled, CossRecord::kFieldsSize));
  Result<Piece> first = co_await store->read_bytes(offset, first_size);
  if (!first) co_return first.error();
  const Result<CossRecord> record = decode_coss_sizes(first->bytes(), location.size_bytes);
  if (!record) co_return record.error();
  if (record->body_offset() > first->size()) {
    first = Piece();  // back to the pool before a longer one is made
    first = co_await store->read_bytes(offset, record->body_offset());
    if (!first) co_return first.error();
  }
  Result<CossReader::Found> found = decode(*store, key, location, seed, *record, first->bytes());
  if (!found) co_return found.error();
  const size_t verifiable = verifiable_size(*record, first->size());
  if (verifiable > 0) {
    found->window = first->share(record->body_offset(), verifiable);
    if (!verify_coss_blocks(seed, found->checksums, 0, found->window.bytes())) {
      co_return Error(Errc::kCorrupt);
    }
  }
  co_return found;
}

}  // namespace

CossReader::CossReader(std::shared_ptr<CossStore> store, Found found, CossStore::Pin pin)
    : store_(std::move(store)), found_(std::move(found)), pin_(std::move(pin)) {
  if (found_.window.size() == found_.record.body_size_bytes) pin_.release();
}

std::span<const std::byte> CossReader::body_in_memory() const {
  if (found_.window.size() == found_.record.body_size_bytes) return {};
  const std::shared_ptr<std::byte>& memory = store_->log().memory(stripe());
  if (memory == nullptr) return {};
  const size_t offset =
      store_->index().offset_of(found_.version.location) + found_.record.body_offset();
  return {memory.get() + offset, found_.record.body_size_bytes};
}

bool CossReader::in_memory() const {
  return !body_in_memory().empty();
}

std::optional<std::span<const std::byte>> CossReader::whole_body() const {
  if (window_offset_bytes_ == 0 && found_.window.size() == found_.record.body_size_bytes) {
    return found_.window.bytes();
  }
  return std::nullopt;
}

Task<Piece> CossReader::read(uint64_t offset_bytes, size_t size_bytes_max) {
  return guarded(read_now(offset_bytes, size_bytes_max));
}

Task<Piece> CossReader::read_now(uint64_t offset_bytes, size_t size_bytes_max) {
  if (!store_->running()) co_return Error(Errc::kStopped);
  if (failure_.code != Errc::kNone) co_return failure_;
  const uint64_t body_size = found_.record.body_size_bytes;
  if (offset_bytes >= body_size || size_bytes_max == 0) co_return Piece();
  const CossStore::Operation operation(store_);
  if (in_memory()) co_return co_await lend_memory(offset_bytes, size_bytes_max);
  const bool in_window = offset_bytes >= window_offset_bytes_ &&
                         offset_bytes - window_offset_bytes_ < found_.window.size();
  if (!in_window) {
    const Result<void> loaded = co_await load(offset_bytes, size_bytes_max);
    if (!loaded) {
      const Errc code = loaded.error().code;
      if (code == Errc::kCorrupt || code == Errc::kIo) {
        failure_ = loaded.error();
        store_->drop(found_.hash, found_.version.location, code);
      }
      co_return loaded.error();
    }
  }
  const size_t offset = offset_bytes - window_offset_bytes_;
  co_return found_.window.share(offset, std::min(size_bytes_max, found_.window.size() - offset));
}

Task<Piece> CossReader::lend_memory(uint64_t offset_bytes, size_t size_bytes_max) {
  const std::shared_ptr<std::byte> memory = store_->log().memory(stripe());
  const std::span<const std::byte> rest = body_in_memory().subspan(offset_bytes);
  const size_t size = std::min(size_bytes_max, rest.size());
  if (!store_->log().membufs_scarce()) co_return Piece(rest.first(size), memory);
  // Who reads slowly must not keep the membufs from being filled again.
  Result<Space> buffer = co_await store_->buffers().acquire();
  if (!buffer) co_return buffer.error();
  const size_t copied = std::min(size, buffer->size());
  std::ranges::copy(rest.first(copied), buffer->bytes().begin());
  co_return buffer->share(copied);
}

Task<void> CossReader::load(uint64_t offset_bytes, size_t size_bytes_max) {
  found_.window = Piece();  // back to the pool before another buffer is asked for
  const uint64_t first_block = offset_bytes / kCossChecksumBlockSize;
  const uint64_t begin = first_block * kCossChecksumBlockSize;
  const uint64_t body_left = found_.record.body_size_bytes - begin;
  const uint64_t offset =
      store_->file_offset(found_.version.location) + found_.record.body_offset() + begin;
  // As many whole blocks as the caller can use and a buffer can hold.
  const uint64_t useful = offset_bytes - begin + std::min<uint64_t>(size_bytes_max, body_left);
  const uint64_t held =
      store_->pooled_read_size_max(offset) / kCossChecksumBlockSize * kCossChecksumBlockSize;
  const uint64_t wanted = std::min(round_up(useful, kCossChecksumBlockSize),
                                   std::max<uint64_t>(held, kCossChecksumBlockSize));
  Result<Piece> read = co_await store_->read_bytes(offset, std::min(wanted, body_left));
  if (!read) co_return read.error();
  if (!verify_coss_blocks(found_.seed, found_.checksums, first_block, read->bytes())) {
    co_return Error(Errc::kCorrupt);
  }
  found_.window = std::move(*read);
  window_offset_bytes_ = begin;
  co_return Result<void>();
}

Task<std::unique_ptr<CossReader>> find_coss_object(std::shared_ptr<CossStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const CossStore::Operation operation(store);
  const std::optional<CossLocation> location = store->index().find(key.hash());
  if (!location) co_return Error(Errc::kNotFound);
  const uint32_t stripe = store->index().stripe_of(*location);
  const uint32_t offset = store->index().offset_of(*location);
  CossStore::Pin pin(store, stripe);
  const uint64_t seed =
      coss_record_seed(store->geometry().store_id, store->log().generation(stripe), offset);
  Result<CossReader::Found> found = Error(Errc::kCorrupt);
  const std::shared_ptr<std::byte> memory = store->log().memory(stripe);
  if (memory != nullptr) {
    const std::span<const std::byte> bytes(memory.get() + offset, location->size_bytes);
    const Result<CossRecord> record = decode_coss_sizes(bytes, location->size_bytes);
    if (record) found = decode(*store, key, *location, seed, *record, bytes);
    ++store->counts().reads_in_memory;
  } else {
    found = co_await read_record(store, key, *location, seed);
  }
  if (!found) {
    const Errc code = found.error().code;
    if (code == Errc::kCorrupt || code == Errc::kIo) store->drop(key.hash(), *location, code);
    co_return code == Errc::kCorrupt ? Error(Errc::kNotFound) : found.error();
  }
  co_return std::make_unique<CossReader>(store, std::move(*found), std::move(pin));
}

Task<std::unique_ptr<Reader>> open_coss_object(std::shared_ptr<CossStore> store, Key key) {
  Result<std::unique_ptr<CossReader>> reader = co_await find_coss_object(store, key);
  if (!reader) co_return reader.error();
  relocate_coss_object(std::move(store), std::move(key), **reader);
  co_return std::unique_ptr<Reader>(std::move(*reader));
}

}  // namespace storage
