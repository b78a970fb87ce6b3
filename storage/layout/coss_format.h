// The bytes of a coss store, as pure functions. Drawn in docs/formats-coss.md.
//
//   superblock | state | ... | stripe 0 | stripe 1 | ... | clean index
//
//   stripe:  records from the front ... free ... directory | trailer
//   record:  head fields | key | metadata | checksums of the body's blocks | checksum | body
//
// Everything is checksummed (XXH3, 64 bits). Seeds are the store's number and, inside of stripes,
// the generation and the place as well, so that bytes of another store, of an earlier turn or of
// another place never pass for those that are looked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/base/error.h"
#include "storage/types.h"

namespace storage {

/// Superblock, state, stripes and index begin at multiples of this and are read and written in
/// multiples of it: no device has larger sectors.
inline constexpr size_t kCossPageSize = 4096;
inline constexpr uint64_t kCossStateOffset = kCossPageSize;
inline constexpr uint64_t kCossStripesOffset = 64 * 1024;
inline constexpr size_t kCossTrailerSize = 64;
inline constexpr size_t kCossDirectoryEntrySize = 32;
/// Body bytes that one checksum covers.
inline constexpr uint32_t kCossChecksumBlockSize = 16 * 1024;
inline constexpr uint32_t kCossStripeSizeMin = 64 * 1024;
inline constexpr uint32_t kCossStripeSizeMax = 64 * 1024 * 1024;
inline constexpr uint32_t kCossBlockSizeMin = 512;
inline constexpr uint32_t kCossBlockSizeMax = 32 * 1024;

/// Where everything lies.
struct CossGeometry {
  uint64_t store_id = 0;  ///< Tells the store from an earlier one in the same place.
  uint32_t stripe_size_bytes = 0;
  uint32_t block_size_bytes = 0;  ///< Records begin at multiples of it.
  uint32_t stripe_count = 0;

  uint64_t stripe_offset(uint32_t stripe) const {
    return kCossStripesOffset + uint64_t{stripe} * stripe_size_bytes;
  }
  uint64_t index_offset() const { return stripe_offset(stripe_count); }
};

/// Bytes set aside for the clean index of a store of `capacity_bytes`.
uint64_t coss_index_area_bytes(uint64_t capacity_bytes);
/// How many stripes fit into `capacity_bytes` beside all else.
uint64_t coss_stripe_count(uint64_t capacity_bytes, uint32_t stripe_size_bytes);

/// Fills `page`, kCossPageSize long.
void encode_coss_superblock(const CossGeometry& geometry, std::span<std::byte> page);
/// kNotFound where the bytes are not a superblock at all, kCorrupt where they are a damaged one.
Result<CossGeometry> decode_coss_superblock(std::span<const std::byte> page);

/// What the last stop, or a running store, has left to know.
struct CossState {
  bool clean = false;
  uint64_t floor = 0;            ///< Stripes of lower generations are dead.
  uint64_t next_generation = 0;  ///< No stripe has this generation or a higher one, if clean.
  uint64_t index_offset = 0;     ///< Of the clean index; meaningless if not clean.
  uint64_t index_size_bytes = 0;
  uint64_t index_checksum = 0;
};
void encode_coss_state(const CossState& state, uint64_t store_id, std::span<std::byte> page);
/// Nothing where the page is damaged or another store's.
std::optional<CossState> decode_coss_state(uint64_t store_id, std::span<const std::byte> page);

/// What the last bytes of a stripe say. Generations grow with every stripe that is begun.
struct CossTrailer {
  uint64_t generation = 0;
  uint64_t floor = 0;  ///< Once this stripe is on disk, stripes of lower generations are dead.
  uint32_t stripe = 0;
  uint32_t entry_count = 0;

  size_t directory_size_bytes() const { return size_t{entry_count} * kCossDirectoryEntrySize; }
};

/// One record of a stripe, or the removal of an object. The order of entries is the order of what
/// happened.
struct CossEntry {
  KeyHash hash;
  uint32_t offset_bytes = 0;  ///< In the stripe.
  uint32_t size_bytes = 0;    ///< Of the record; 0 is a removal.
};

/// Writes directory and trailer to the end of a stripe, which must have room for them.
void encode_coss_directory(uint64_t store_id, const CossTrailer& trailer,
                           std::span<const CossEntry> entries, std::span<std::byte> stripe);
/// `tail` are the last bytes of a stripe, at least the trailer. kNotFound where no stripe of this
/// store was ever finished there, kCorrupt where it is damaged.
Result<CossTrailer> decode_coss_trailer(const CossGeometry& geometry, uint32_t stripe,
                                        std::span<const std::byte> tail);
/// The entries; `tail` holds at least directory and trailer. kCorrupt where they are damaged.
Result<std::vector<CossEntry>> decode_coss_directory(const CossGeometry& geometry,
                                                     const CossTrailer& trailer,
                                                     std::span<const std::byte> tail);

/// Seed of the checksums of the record at `offset_bytes` of a stripe of this generation.
uint64_t coss_record_seed(uint64_t store_id, uint64_t generation, uint32_t offset_bytes);

/// Sizes of a record. All places inside follow from them.
struct CossRecord {
  uint32_t key_length_bytes = 0;
  uint32_t metadata_length_bytes = 0;
  uint64_t body_size_bytes = 0;

  static constexpr size_t kFieldsSize = 24;
  uint64_t block_count() const {
    return (body_size_bytes + kCossChecksumBlockSize - 1) / kCossChecksumBlockSize;
  }
  size_t checksums_offset() const {
    return kFieldsSize + size_t{key_length_bytes} + metadata_length_bytes;
  }
  /// The head is all that stands before the body.
  size_t body_offset() const { return checksums_offset() + 8 * block_count() + 8; }
  uint64_t size_bytes() const { return body_offset() + body_size_bytes; }
};

/// The verified head of a record; views into what was decoded.
struct CossHead {
  CossRecord record;
  std::string_view key;
  std::string_view metadata;
  std::span<const std::byte> checksums;
};

/// Writes the head of a record whose body stands already at its place in `bytes`, which are the
/// whole record.
void encode_coss_head(std::string_view key, std::string_view metadata, uint64_t seed,
                      const CossRecord& record, std::span<std::byte> bytes);
/// Sizes of a record that should be `size_bytes` long; `bytes` are at least its fields. kCorrupt
/// where they make no sense; they are not verified before decode_coss_head().
Result<CossRecord> decode_coss_sizes(std::span<const std::byte> bytes, uint64_t size_bytes);
/// `bytes` are at least the whole head. kCorrupt where it is not as it was written.
Result<CossHead> decode_coss_head(std::span<const std::byte> bytes, uint64_t seed,
                                  const CossRecord& record);

/// Whether all blocks in `body` are as they were written: the first is block `first_block`, only
/// the last of the record may be short. `checksums` as in CossHead.
bool verify_coss_blocks(uint64_t seed, std::span<const std::byte> checksums, uint64_t first_block,
                        std::span<const std::byte> body);

/// `size_bytes` made a multiple of `unit_bytes`, upwards.
constexpr uint64_t round_up(uint64_t size_bytes, uint64_t unit_bytes) {
  return (size_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

}  // namespace storage
