#include "storage/layout/coss_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "storage/base/random.h"
#include "storage/base/text_bytes.h"
#include "storage/layout/byte_order.h"

namespace storage {

namespace {

constexpr uint64_t kSuperblockMagic = 0x3152455053534f43ULL;  // "COSSPER1"
constexpr uint64_t kStateMagic = 0x3154415453534f43ULL;       // "COSSTAT1"
constexpr uint64_t kTrailerMagic = 0x3145505253534f43ULL;     // "COSSRPE1"
constexpr uint64_t kRecordMagic = 0x314a424f53534f43ULL;      // "COSSOBJ1"
constexpr uint32_t kVersion = 1;

uint64_t checksum(uint64_t seed, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void copy_text(std::string_view text, std::span<std::byte> out) {
  std::ranges::copy(as_bytes_of(text), out.begin());
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

uint64_t coss_index_area_bytes(uint64_t capacity_bytes) {
  return round_up(capacity_bytes / 128, kCossPageSize);
}

uint64_t coss_stripe_count(uint64_t capacity_bytes, uint32_t stripe_size_bytes) {
  const uint64_t other = kCossStripesOffset + coss_index_area_bytes(capacity_bytes);
  return capacity_bytes <= other ? 0 : (capacity_bytes - other) / stripe_size_bytes;
}

void encode_coss_superblock(const CossGeometry& geometry, std::span<std::byte> page) {
  assert(page.size() == kCossPageSize);
  std::ranges::fill(page, std::byte{0});
  store_u64(page, kSuperblockMagic);
  store_u32(page.subspan(8), kVersion);
  store_u32(page.subspan(12), geometry.stripe_size_bytes);
  store_u32(page.subspan(16), geometry.block_size_bytes);
  store_u32(page.subspan(20), geometry.stripe_count);
  store_u64(page.subspan(24), geometry.store_id);
  store_u64(page.subspan(32), checksum(0, page.first(32)));
}

Result<CossGeometry> decode_coss_superblock(std::span<const std::byte> page) {
  if (page.size() < 40 || load_u64(page) != kSuperblockMagic) return Error(Errc::kNotFound);
  if (load_u32(page.subspan(8)) != kVersion) return Error(Errc::kCorrupt);
  if (load_u64(page.subspan(32)) != checksum(0, page.first(32))) return Error(Errc::kCorrupt);
  CossGeometry geometry;
  geometry.stripe_size_bytes = load_u32(page.subspan(12));
  geometry.block_size_bytes = load_u32(page.subspan(16));
  geometry.stripe_count = load_u32(page.subspan(20));
  geometry.store_id = load_u64(page.subspan(24));
  const bool sensible = geometry.stripe_size_bytes >= kCossStripeSizeMin &&
                        geometry.stripe_size_bytes <= kCossStripeSizeMax &&
                        geometry.stripe_size_bytes % kCossPageSize == 0 &&
                        geometry.block_size_bytes >= kCossBlockSizeMin &&
                        geometry.block_size_bytes <= kCossBlockSizeMax &&
                        std::has_single_bit(geometry.block_size_bytes) &&
                        geometry.stripe_size_bytes % geometry.block_size_bytes == 0 &&
                        uint64_t{geometry.stripe_count} * geometry.stripe_size_bytes <=
                            uint64_t{geometry.block_size_bytes} << 32;
  if (!sensible) return Error(Errc::kCorrupt);
  return geometry;
}

void encode_coss_state(const CossState& state, uint64_t store_id, std::span<std::byte> page) {
  assert(page.size() == kCossPageSize);
  std::ranges::fill(page, std::byte{0});
  store_u64(page, kStateMagic);
  store_u32(page.subspan(8), kVersion);
  store_u32(page.subspan(12), state.clean ? 1 : 0);
  store_u64(page.subspan(16), state.floor);
  store_u64(page.subspan(24), state.next_generation);
  store_u64(page.subspan(32), state.index_offset);
  store_u64(page.subspan(40), state.index_size_bytes);
  store_u64(page.subspan(48), state.index_checksum);
  store_u64(page.subspan(56), checksum(store_id, page.first(56)));
}

std::optional<CossState> decode_coss_state(uint64_t store_id, std::span<const std::byte> page) {
  if (page.size() < 64 || load_u64(page) != kStateMagic) return std::nullopt;
  if (load_u32(page.subspan(8)) != kVersion) return std::nullopt;
  if (load_u64(page.subspan(56)) != checksum(store_id, page.first(56))) return std::nullopt;
  CossState state;
  state.clean = load_u32(page.subspan(12)) == 1;
  state.floor = load_u64(page.subspan(16));
  state.next_generation = load_u64(page.subspan(24));
  state.index_offset = load_u64(page.subspan(32));
  state.index_size_bytes = load_u64(page.subspan(40));
  state.index_checksum = load_u64(page.subspan(48));
  if (state.floor >= kCossGenerationMax || state.next_generation >= kCossGenerationMax) {
    return std::nullopt;
  }
  return state;
}

void encode_coss_directory(uint64_t store_id, const CossTrailer& trailer,
                           std::span<const CossEntry> entries, std::span<std::byte> stripe) {
  assert(entries.size() == trailer.entry_count);
  const std::span<std::byte> end = stripe.last(kCossTrailerSize);
  const std::span<std::byte> directory =
      stripe.last(kCossTrailerSize + trailer.directory_size_bytes())
          .first(trailer.directory_size_bytes());
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::span<std::byte> at = directory.subspan(i * kCossDirectoryEntrySize);
    store_u64(at, entries[i].hash.high);
    store_u64(at.subspan(8), entries[i].hash.low);
    store_u32(at.subspan(16), entries[i].offset_bytes);
    store_u32(at.subspan(20), entries[i].size_bytes);
    store_u64(at.subspan(24), 0);
  }
  store_u64(end, kTrailerMagic);
  store_u32(end.subspan(8), kVersion);
  store_u32(end.subspan(12), trailer.entry_count);
  store_u64(end.subspan(16), trailer.generation);
  store_u64(end.subspan(24), trailer.floor);
  store_u32(end.subspan(32), trailer.stripe);
  store_u32(end.subspan(36), 0);
  store_u64(end.subspan(40), checksum(store_id ^ trailer.generation, directory));
  store_u64(end.subspan(48), store_id);
  store_u64(end.subspan(56), checksum(store_id, end.first(56)));
}

Result<CossTrailer> decode_coss_trailer(const CossGeometry& geometry, uint32_t stripe,
                                        std::span<const std::byte> tail) {
  if (tail.size() < kCossTrailerSize) return Error(Errc::kCorrupt);
  const std::span<const std::byte> end = tail.last(kCossTrailerSize);
  if (load_u64(end) != kTrailerMagic) return Error(Errc::kNotFound);
  const uint64_t store_id = load_u64(end.subspan(48));
  const bool sound = load_u32(end.subspan(8)) == kVersion &&
                     load_u64(end.subspan(56)) == checksum(store_id, end.first(56));
  if (!sound) return Error(Errc::kCorrupt);
  // What an earlier store has left is nothing, rather than damage.
  if (store_id != geometry.store_id) return Error(Errc::kNotFound);
  CossTrailer trailer;
  trailer.entry_count = load_u32(end.subspan(12));
  trailer.generation = load_u64(end.subspan(16));
  trailer.floor = load_u64(end.subspan(24));
  trailer.stripe = load_u32(end.subspan(32));
  const bool sensible =
      trailer.stripe == stripe && trailer.generation != 0 &&
      trailer.generation < kCossGenerationMax && trailer.floor <= trailer.generation &&
      trailer.directory_size_bytes() <= geometry.stripe_size_bytes - kCossTrailerSize;
  if (!sensible) return Error(Errc::kCorrupt);
  return trailer;
}

Result<std::vector<CossEntry>> decode_coss_directory(const CossGeometry& geometry,
                                                     const CossTrailer& trailer,
                                                     std::span<const std::byte> tail) {
  const size_t size = trailer.directory_size_bytes();
  if (tail.size() < size + kCossTrailerSize) return Error(Errc::kCorrupt);
  const std::span<const std::byte> directory = tail.last(size + kCossTrailerSize).first(size);
  const uint64_t expected = load_u64(tail.last(kCossTrailerSize).subspan(40));
  if (expected != checksum(geometry.store_id ^ trailer.generation, directory)) {
    return Error(Errc::kCorrupt);
  }
  const uint64_t records_end = geometry.stripe_size_bytes - kCossTrailerSize - size;
  std::vector<CossEntry> entries(trailer.entry_count);
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::span<const std::byte> at = directory.subspan(i * kCossDirectoryEntrySize);
    entries[i].hash = KeyHash{load_u64(at), load_u64(at.subspan(8))};
    entries[i].offset_bytes = load_u32(at.subspan(16));
    entries[i].size_bytes = load_u32(at.subspan(20));
    const bool sensible = entries[i].offset_bytes % geometry.block_size_bytes == 0 &&
                          uint64_t{entries[i].offset_bytes} + entries[i].size_bytes <= records_end;
    if (!sensible) return Error(Errc::kCorrupt);
  }
  return entries;
}

uint64_t coss_record_seed(uint64_t store_id, uint64_t generation, uint32_t offset_bytes) {
  return mix64(store_id ^ mix64(generation)) + offset_bytes;
}

void encode_coss_head(std::string_view key, std::string_view metadata, uint64_t seed,
                      const CossRecord& record, std::span<std::byte> bytes) {
  assert(bytes.size() == record.size_bytes());
  store_u64(bytes, kRecordMagic);
  store_u32(bytes.subspan(8), record.key_length_bytes);
  store_u32(bytes.subspan(12), record.metadata_length_bytes);
  store_u64(bytes.subspan(16), record.body_size_bytes);
  copy_text(key, bytes.subspan(CossRecord::kFieldsSize));
  copy_text(metadata, bytes.subspan(CossRecord::kFieldsSize + key.size()));
  std::span<const std::byte> body = bytes.subspan(record.body_offset());
  for (uint64_t i = 0; i < record.block_count(); ++i) {
    const auto block = body.first(std::min<size_t>(body.size(), kCossChecksumBlockSize));
    store_u64(bytes.subspan(record.checksums_offset() + 8 * i), checksum(seed, block));
    body = body.subspan(block.size());
  }
  const size_t covered = record.body_offset() - 8;
  store_u64(bytes.subspan(covered), checksum(seed, bytes.first(covered)));
}

Result<CossRecord> decode_coss_sizes(std::span<const std::byte> bytes, uint64_t size_bytes) {
  if (bytes.size() < CossRecord::kFieldsSize || load_u64(bytes) != kRecordMagic) {
    return Error(Errc::kCorrupt);
  }
  CossRecord record;
  record.key_length_bytes = load_u32(bytes.subspan(8));
  record.metadata_length_bytes = load_u32(bytes.subspan(12));
  record.body_size_bytes = load_u64(bytes.subspan(16));
  const bool sensible = record.key_length_bytes <= Key::kLengthMax &&
                        record.metadata_length_bytes <= Metadata::kSizeMax &&
                        record.body_size_bytes <= kCossStripeSizeMax &&
                        record.size_bytes() == size_bytes;
  if (!sensible) return Error(Errc::kCorrupt);
  return record;
}

Result<CossHead> decode_coss_head(std::span<const std::byte> bytes, uint64_t seed,
                                  const CossRecord& record) {
  const size_t covered = record.body_offset() - 8;
  if (bytes.size() < record.body_offset() ||
      load_u64(bytes.subspan(covered)) != checksum(seed, bytes.first(covered))) {
    return Error(Errc::kCorrupt);
  }
  CossHead head;
  head.record = record;
  head.key = as_text(bytes.subspan(CossRecord::kFieldsSize, record.key_length_bytes));
  head.metadata = as_text(bytes.subspan(CossRecord::kFieldsSize + record.key_length_bytes,
                                        record.metadata_length_bytes));
  head.checksums = bytes.subspan(record.checksums_offset(), 8 * record.block_count());
  return head;
}

bool verify_coss_blocks(uint64_t seed, std::span<const std::byte> checksums, uint64_t first_block,
                        std::span<const std::byte> body) {
  for (uint64_t block = first_block; !body.empty(); ++block) {
    if (8 * (block + 1) > checksums.size()) return false;
    const auto bytes = body.first(std::min<size_t>(body.size(), kCossChecksumBlockSize));
    if (load_u64(checksums.subspan(8 * block)) != checksum(seed, bytes)) return false;
    body = body.subspan(bytes.size());
  }
  return true;
}

}  // namespace storage
