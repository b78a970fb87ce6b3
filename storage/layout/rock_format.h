// The bytes of a rock store, as pure functions. Drawn in docs/formats-rock.md.
//
//   superblock | state | ... | slot 0 | slot 1 | ... | clean index
//
//   slot:   header | payload | nothing
//   object: head part (key, metadata, first bytes of the body) -> body part (the rest of the body)
//
// As in Squid's rock store (src/fs/rock, "Rock::DbCellHeader"): slots of one size, an object is a
// chain of them, and its first slot is written last. Here every slot is checksummed as a whole
// (XXH3, 64 bits); the seed holds the store's number, the slot's and the generation, so that bytes
// of another store, another place or another write never pass for those that are looked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "storage/base/error.h"
#include "storage/types.h"

namespace storage {

/// Superblock, state, slots and index begin at multiples of this and are written in multiples of
/// it: no device has larger sectors.
inline constexpr size_t kRockPageSize = 4096;
inline constexpr uint64_t kRockStateOffset = kRockPageSize;
inline constexpr uint64_t kRockSlotsOffset = 4 * kRockPageSize;
inline constexpr uint32_t kRockSlotSizeMin = 4 * 1024;
inline constexpr uint32_t kRockSlotSizeMax = 1024 * 1024;
inline constexpr size_t kRockHeaderSize = 112;
/// No slot has this number.
inline constexpr uint32_t kRockNoSlot = 0x7fffffff;

/// Where everything lies.
struct RockGeometry {
  uint64_t store_id = 0;  ///< Tells the store from an earlier one in the same place.
  uint32_t slot_size_bytes = 0;
  uint32_t slot_count = 0;

  uint64_t slot_offset(uint32_t slot) const {
    return kRockSlotsOffset + uint64_t{slot} * slot_size_bytes;
  }
  /// Payload that one slot holds.
  uint32_t payload_max_bytes() const {
    return slot_size_bytes - static_cast<uint32_t>(kRockHeaderSize);
  }
  uint64_t index_offset() const { return slot_offset(slot_count); }
  uint64_t index_area_bytes() const;
  uint64_t file_size_bytes() const { return index_offset() + index_area_bytes(); }
};

/// How many slots fit into `capacity_bytes` beside all else, at most kRockNoSlot.
uint32_t rock_slot_count(uint64_t capacity_bytes, uint32_t slot_size_bytes);

/// Fills `page`, kRockPageSize long.
void encode_rock_superblock(const RockGeometry& geometry, std::span<std::byte> page);
/// kNotFound where the bytes are not a superblock at all, kCorrupt where they are a damaged one or
/// of another version of the format.
Result<RockGeometry> decode_rock_superblock(std::span<const std::byte> page);

/// What the last stop, or a running store, has left to know.
struct RockState {
  bool clean = false;
  uint64_t next_generation = 0;   ///< No slot has this generation or a higher one, if clean.
  uint64_t index_size_bytes = 0;  ///< Of the clean index; meaningless if not clean.
  uint64_t object_count = 0;      ///< In the clean index.
};
void encode_rock_state(const RockState& state, uint64_t store_id, std::span<std::byte> page);
/// Nothing where the page is damaged or another store's.
std::optional<RockState> decode_rock_state(uint64_t store_id, std::span<const std::byte> page);

/// The two parts of an object's chain. A part is written under one generation, which no other has.
enum class RockPart : uint32_t { kHead = 1, kBody = 2 };

/// What only the first slot of a head part says: all places in an object follow from it.
struct RockObject {
  uint64_t body_size_bytes = 0;
  uint64_t body_generation = 0;  ///< Of the body part; 0 where there is none.
  uint32_t body_slot_count = 0;
  uint32_t first_body_slot = kRockNoSlot;
  uint32_t key_length_bytes = 0;
  uint32_t metadata_length_bytes = 0;
  uint32_t prefix_length_bytes = 0;  ///< Bytes of the body that are in the head part.

  /// Payload of the head part.
  uint64_t head_size_bytes() const {
    return uint64_t{key_length_bytes} + metadata_length_bytes + prefix_length_bytes;
  }
  uint32_t head_slot_count(const RockGeometry& geometry) const;
  uint64_t slot_count(const RockGeometry& geometry) const {
    return uint64_t{head_slot_count(geometry)} + body_slot_count;
  }
  /// Where the body part's first byte stands in the body.
  uint64_t body_part_offset() const { return prefix_length_bytes; }
  friend bool operator==(const RockObject& left, const RockObject& right) = default;
};

/// The header of one slot.
struct RockSlot {
  RockPart part = RockPart::kHead;
  KeyHash hash;  ///< All bits of the key's hash.
  uint64_t generation = 0;
  uint32_t index = 0;           ///< In its part, from 0.
  uint32_t next = kRockNoSlot;  ///< The next slot of the part.
  uint32_t payload_size_bytes = 0;
  RockObject object;  ///< In the first slot of a head part alone.

  bool starts_object() const { return part == RockPart::kHead && index == 0; }
};

/// Writes header and checksum in front of the payload, which stands already in its place in
/// `bytes`, and zeros behind it up to a whole page. Returns how much of `bytes` is to be written.
size_t encode_rock_slot(const RockGeometry& geometry, uint32_t slot_number, const RockSlot& slot,
                        std::span<std::byte> bytes);
/// `bytes` are what stands in the slot, from its beginning on. kNotFound where no slot of this
/// store was ever written there or it was cleared, kCorrupt where it is not as it was written.
Result<RockSlot> decode_rock_slot(const RockGeometry& geometry, uint32_t slot_number,
                                  std::span<const std::byte> bytes);
/// Whether bytes that decode_rock_slot() has found damaged say that they belong to a head part,
/// which is one slot in most objects: only for statistics, since nothing of them has been verified.
bool claims_to_start_rock_object(std::span<const std::byte> bytes);

/// How many payload bytes slot `index` of a part of `size_bytes` holds.
uint32_t rock_payload_size(const RockGeometry& geometry, uint64_t size_bytes, uint32_t index);

}  // namespace storage
