#include "storage/layout/rock_clean_index.h"

#include <xxhash.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/random.h"
#include "storage/layout/aligned_buffer.h"
#include "storage/layout/byte_order.h"
#include "storage/layout/rounding.h"

namespace storage {

namespace {

constexpr uint64_t kBlockMagic = 0x3158444e494b4f52ULL;  // "ROKINDX1"
constexpr size_t kBlockSizeMax = 1024 * 1024;
constexpr size_t kHeaderSize = 32;
constexpr size_t kRecordSize = 28;          // and 4 bytes for each slot
constexpr uint32_t kEndsHead = 0x80000000;  // marks the last slot of the head part

static_assert(kHeaderSize + kRecordSize + 4 * uint64_t{kRockObjectSlotsMax} <= kBlockSizeMax);

uint64_t block_checksum(const RockGeometry& geometry, uint64_t generation,
                        std::span<const std::byte> block) {
  const uint64_t seed = mix64(geometry.store_id ^ mix64(generation));
  const uint64_t front = XXH3_64bits_withSeed(block.data(), 24, seed);
  return XXH3_64bits_withSeed(block.data() + kHeaderSize, block.size() - kHeaderSize, front);
}

void encode_record(const RockVersion& version, const RockChain& chain, std::span<std::byte> at) {
  store_u64(at, version.hash.high);
  store_u64(at.subspan(8), version.hash.low);
  store_u64(at.subspan(16), version.generation);
  store_u32(at.subspan(24), static_cast<uint32_t>(chain.slots.size()));
  for (size_t i = 0; i < chain.slots.size(); ++i) {
    const uint32_t mark = i + 1 == chain.head_count ? kEndsHead : 0;
    store_u32(at.subspan(kRecordSize + 4 * i), chain.slots[i] | mark);
  }
}

// Collects records and writes them block by block.
class IndexWriter {
 public:
  IndexWriter(File& file, const RockGeometry& geometry, uint64_t generation)
      : file_(file),
        geometry_(geometry),
        generation_(generation),
        block_(make_aligned_buffer(kBlockSizeMax)) {}

  // False where there is no room left.
  Task<bool> add(const RockVersion& version, const RockChain& chain) {
    const size_t size = kRecordSize + 4 * chain.slots.size();
    if (used_ + size > kBlockSizeMax) {
      const Result<bool> flushed = co_await flush();
      if (!flushed || !*flushed) co_return flushed;
    }
    encode_record(version, chain, block_.bytes().subspan(used_));
    used_ += size;
    ++records_;
    co_return true;
  }

  Task<bool> flush() {
    if (records_ == 0) co_return true;
    const std::span<std::byte> bytes = block_.bytes();
    const size_t padded = round_up(used_, kRockPageSize);
    if (written_ + padded > geometry_.index_area_bytes()) co_return false;
    std::ranges::fill(bytes.subspan(used_, padded - used_), std::byte{0});
    store_u64(bytes, kBlockMagic);
    store_u32(bytes.subspan(8), blocks_);
    store_u32(bytes.subspan(12), records_);
    store_u64(bytes.subspan(16), used_);
    store_u64(bytes.subspan(24), block_checksum(geometry_, generation_, bytes.first(used_)));
    const Result<void> done =
        co_await file_.write(geometry_.index_offset() + written_, bytes.first(padded));
    if (!done) co_return done.error();
    written_ += padded;
    ++blocks_;
    records_ = 0;
    used_ = kHeaderSize;
    co_return true;
  }

  uint64_t written_bytes() const { return written_; }

 private:
  File& file_;
  const RockGeometry geometry_;
  const uint64_t generation_;
  const Space block_;
  size_t used_ = kHeaderSize;
  uint32_t records_ = 0;
  uint32_t blocks_ = 0;
  uint64_t written_ = 0;
};

// One object of a block; nothing where it makes no sense. `used` are the slots of those before it.
struct Record {
  RockVersion version;
  RockChain chain;
};
std::optional<Record> decode_record(const RockGeometry& geometry, std::span<const std::byte> at,
                                    std::vector<bool>& used) {
  if (at.size() < kRecordSize) return std::nullopt;
  const uint64_t count = load_u32(at.subspan(24));
  if (count == 0 || at.size() < kRecordSize + 4 * count) return std::nullopt;
  Record record;
  record.chain.slots.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t marked = load_u32(at.subspan(kRecordSize + 4 * i));
    const uint32_t slot = marked & ~kEndsHead;
    if (slot >= geometry.slot_count || used[slot]) return std::nullopt;
    used[slot] = true;
    record.chain.slots.push_back(slot);
    if ((marked & kEndsHead) == 0) continue;
    if (record.chain.head_count != 0) return std::nullopt;
    record.chain.head_count = static_cast<uint32_t>(i + 1);
  }
  if (record.chain.head_count == 0) return std::nullopt;
  record.version.hash = KeyHash{load_u64(at), load_u64(at.subspan(8))};
  record.version.generation = load_u64(at.subspan(16));
  record.version.head_slot = record.chain.slots.front();
  return record;
}

// Length of the block at the beginning of `bytes`, which has been verified; 0 where it is damaged.
size_t verified_block_size(const RockGeometry& geometry, uint64_t generation, uint32_t number,
                           std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderSize || load_u64(bytes) != kBlockMagic) return 0;
  const uint64_t used = load_u64(bytes.subspan(16));
  if (used < kHeaderSize || used > bytes.size() || load_u32(bytes.subspan(8)) != number) return 0;
  const uint64_t expected = block_checksum(geometry, generation, bytes.first(used));
  return load_u64(bytes.subspan(24)) == expected ? used : 0;
}

Task<bool> load(File& file, RockGeometry geometry, RockState state, RockIndex& index,
                RockSlots& slots) {
  std::vector<bool> used(geometry.slot_count);
  std::vector<Record> records;
  const Space buffer = make_aligned_buffer(kBlockSizeMax);
  uint64_t at = 0;
  for (uint32_t block = 0; at < state.index_size_bytes; ++block) {
    const size_t wanted = std::min<uint64_t>(kBlockSizeMax, state.index_size_bytes - at);
    const Result<size_t> got =
        co_await file.read(geometry.index_offset() + at, buffer.bytes().first(wanted));
    if (!got) co_return got.error();
    const std::span<const std::byte> bytes = buffer.bytes().first(*got);
    const size_t size = verified_block_size(geometry, state.next_generation, block, bytes);
    if (size == 0) co_return false;
    std::span<const std::byte> rest = bytes.first(size).subspan(kHeaderSize);
    for (uint32_t left = load_u32(bytes.subspan(12)); left > 0; --left) {
      std::optional<Record> record = decode_record(geometry, rest, used);
      if (!record || record->version.generation >= state.next_generation) co_return false;
      rest = rest.subspan(kRecordSize + 4 * record->chain.slots.size());
      records.push_back(std::move(*record));
    }
    at += round_up(size, kRockPageSize);
  }
  if (records.size() != state.object_count) co_return false;
  slots.reset(used);
  for (const Record& record : records) {
    slots.link(record.chain.head(), record.chain.body());
    index.put(record.version, record.chain.slots.size() * geometry.slot_size_bytes);
  }
  // Where the index takes fewer bits of hashes than it did, some have pushed out others, whose
  // heads are still on the disk.
  co_return index.count() == state.object_count;
}

}  // namespace

Task<uint64_t> write_rock_index(File& file, RockGeometry geometry, uint64_t generation,
                                RockIndex& index, const RockSlots& slots) {
  IndexWriter writer(file, geometry, generation);
  const auto none_in_use = [](uint32_t) { return false; };
  Result<bool> fits = true;
  while (fits && *fits) {
    const std::optional<RockVersion> next = index.take_victim(none_in_use);
    if (!next) break;
    fits = co_await writer.add(*next, slots.chain(next->head_slot));
  }
  if (fits && *fits) fits = co_await writer.flush();
  if (!fits) co_return fits.error();
  co_return *fits ? writer.written_bytes() : 0;
}

Task<bool> load_rock_index(File& file, RockGeometry geometry, RockState state, RockIndex& index,
                           RockSlots& slots) {
  const bool usable = state.clean && state.index_size_bytes % kRockPageSize == 0 &&
                      state.index_size_bytes <= geometry.index_area_bytes();
  Result<bool> loaded = false;
  if (usable) loaded = co_await load(file, geometry, state, index, slots);
  if (loaded && *loaded) co_return true;
  index.clear();
  slots.reset(std::vector<bool>(geometry.slot_count));
  // An index that cannot be read is as good as none: the slots are.
  if (!loaded && loaded.error().code != Errc::kIo) co_return loaded.error();
  co_return false;
}

}  // namespace storage
