#include "storage/layout/coss_clean_index.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "storage/layout/byte_order.h"

namespace storage {

namespace {

constexpr uint64_t kIndexMagic = 0x31584449534f4343ULL;  // "CCOSIDX1"
constexpr size_t kItemSize = 24;
// Of whole items and of whole pages: what is written, read and checksummed at once.
constexpr size_t kPieceSize = 10 * kItemSize * kCossPageSize;

// Each piece's checksum is the next one's seed.
uint64_t next_checksum(uint64_t seed, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t index_size_bytes(uint64_t stripe_count, uint64_t object_count) {
  return round_up((1 + stripe_count + object_count) * kItemSize, kCossPageSize);
}

// Collects items and writes them whenever there is a piece of them.
class IndexWriter {
 public:
  IndexWriter(File& file, uint64_t offset_bytes, uint64_t seed)
      : file_(file), offset_bytes_(offset_bytes), checksum_(seed) {}

  bool full() const { return used_bytes_ == kPieceSize; }
  // Room for the next item, zeroed.
  std::span<std::byte> add() {
    const auto item = piece_.bytes().subspan(used_bytes_, kItemSize);
    std::ranges::fill(item, std::byte{0});
    used_bytes_ += kItemSize;
    return item;
  }
  Task<void> write() {
    const size_t size = round_up(used_bytes_, kCossPageSize);
    const auto bytes = piece_.bytes().first(size);
    std::ranges::fill(bytes.subspan(used_bytes_), std::byte{0});
    checksum_ = next_checksum(checksum_, bytes);
    const uint64_t offset = std::exchange(offset_bytes_, offset_bytes_ + size);
    used_bytes_ = 0;
    co_return co_await file_.write(offset, bytes);
  }
  uint64_t checksum() const { return checksum_; }

 private:
  File& file_;
  Space piece_ = make_coss_buffer(kPieceSize);
  uint64_t offset_bytes_;
  uint64_t checksum_;
  size_t used_bytes_ = 0;
};

// Makes sense of the items as they come.
class IndexDecoder {
 public:
  IndexDecoder(const CossGeometry& geometry, uint64_t size_bytes, CossIndex& index)
      : geometry_(geometry),
        size_bytes_(size_bytes),
        index_(index),
        known_(geometry.stripe_count) {}

  // False where this cannot be.
  bool take(std::span<const std::byte> item) {
    const uint64_t at = taken_++;
    if (at == 0) return take_header(item);
    if (at <= stripe_count_) return take_stripe(item);
    if (at <= stripe_count_ + object_count_) return take_object(item);
    return true;  // padding
  }
  bool complete() const { return taken_ > stripe_count_ + object_count_; }
  std::vector<CossLiveStripe> take_live() { return std::move(live_); }

 private:
  bool take_header(std::span<const std::byte> item) {
    stripe_count_ = load_u64(item.subspan(8));
    object_count_ = load_u64(item.subspan(16));
    return load_u64(item) == kIndexMagic && stripe_count_ <= geometry_.stripe_count &&
           object_count_ <= size_bytes_ / kItemSize &&
           index_size_bytes(stripe_count_, object_count_) == size_bytes_;
  }
  bool take_stripe(std::span<const std::byte> item) {
    CossLiveStripe live;
    live.stripe = load_u32(item);
    live.generation = load_u64(item.subspan(8));
    const bool newer = live_.empty() || live.generation > live_.back().generation;
    if (live.stripe >= geometry_.stripe_count || known_[live.stripe] || !newer ||
        live.generation >= kCossGenerationMax) {
      return false;
    }
    known_[live.stripe] = true;
    live_.push_back(live);
    return true;
  }
  bool take_object(std::span<const std::byte> item) {
    CossLocation location;
    location.block = load_u32(item.subspan(16));
    location.size_bytes = load_u32(item.subspan(20));
    const uint64_t offset = uint64_t{location.block} * geometry_.block_size_bytes;
    const uint64_t stripe = offset / geometry_.stripe_size_bytes;
    const bool sensible =
        stripe < geometry_.stripe_count && known_[stripe] && location.size_bytes > 0 &&
        offset % geometry_.stripe_size_bytes + location.size_bytes <= geometry_.stripe_size_bytes;
    if (sensible) index_.put(KeyHash{load_u64(item), load_u64(item.subspan(8))}, location);
    return sensible;
  }

  const CossGeometry geometry_;
  const uint64_t size_bytes_;
  CossIndex& index_;
  std::vector<bool> known_;
  std::vector<CossLiveStripe> live_;
  uint64_t taken_ = 0;
  uint64_t stripe_count_ = 0;
  uint64_t object_count_ = 0;
};

Task<std::vector<CossLiveStripe>> read_pieces(File& file, const CossGeometry& geometry,
                                              CossIndexExtent extent, CossIndex& index) {
  IndexDecoder decoder(geometry, extent.size_bytes, index);
  const Space buffer = make_coss_buffer(std::min<uint64_t>(extent.size_bytes, kPieceSize));
  uint64_t checksum = geometry.store_id;
  for (uint64_t done = 0; done < extent.size_bytes;) {
    const size_t size = std::min<uint64_t>(extent.size_bytes - done, kPieceSize);
    std::span<std::byte> bytes = buffer.bytes().first(size);
    const Result<size_t> got = co_await file.read(geometry.index_offset() + done, bytes);
    if (!got) co_return got.error();
    if (*got < size) co_return Error(Errc::kCorrupt);
    checksum = next_checksum(checksum, bytes);
    for (; bytes.size() >= kItemSize; bytes = bytes.subspan(kItemSize)) {
      if (!decoder.take(bytes.first(kItemSize))) co_return Error(Errc::kCorrupt);
    }
    done += size;
  }
  if (checksum != extent.checksum || !decoder.complete()) co_return Error(Errc::kCorrupt);
  co_return decoder.take_live();
}

}  // namespace

Task<CossIndexExtent> write_coss_index(File& file, const CossGeometry& geometry, const CossLog& log,
                                       const CossIndex& index, uint64_t size_bytes_max) {
  CossIndexExtent extent;
  const uint64_t size = index_size_bytes(log.live().size(), index.count());
  if (size > size_bytes_max) co_return extent;
  IndexWriter writer(file, geometry.index_offset(), geometry.store_id);
  Result<void> written;
  std::span<std::byte> item = writer.add();
  store_u64(item, kIndexMagic);
  store_u64(item.subspan(8), log.live().size());
  store_u64(item.subspan(16), index.count());
  for (const uint32_t stripe : log.live()) {
    if (writer.full()) written = co_await writer.write();
    if (!written) co_return written.error();
    item = writer.add();
    store_u32(item, stripe);
    store_u64(item.subspan(8), log.generation(stripe));
  }
  for (uint32_t slot = 0; slot < index.slot_count(); ++slot) {
    const std::optional<CossObject> object = index.object_in(slot);
    if (!object) continue;
    if (writer.full()) written = co_await writer.write();
    if (!written) co_return written.error();
    item = writer.add();
    store_u64(item, object->hash.high);
    store_u64(item.subspan(8), object->hash.low);
    store_u32(item.subspan(16), object->location.block);
    store_u32(item.subspan(20), object->location.size_bytes);
  }
  written = co_await writer.write();
  if (!written) co_return written.error();
  extent.size_bytes = size;
  extent.checksum = writer.checksum();
  co_return extent;
}

Task<std::vector<CossLiveStripe>> read_coss_index(File& file, const CossGeometry& geometry,
                                                  CossIndexExtent extent, CossIndex& index) {
  Result<std::vector<CossLiveStripe>> live = co_await read_pieces(file, geometry, extent, index);
  if (!live) index.clear();
  co_return live;
}

}  // namespace storage
