#include "storage/layout/rock_format.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "storage/base/random.h"
#include "storage/layout/byte_order.h"
#include "storage/layout/rounding.h"

namespace storage {

namespace {

constexpr uint64_t kSuperblockMagic = 0x315245505553524bULL;  // "KRSUPER1"
constexpr uint64_t kStateMagic = 0x3145544154535252ULL;       // "RRSTATE1"
constexpr uint64_t kSlotMagic = 0x31544f4c534b4f52ULL;        // "ROKSLOT1"
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumOffset = kRockHeaderSize - 8;
constexpr size_t kSuperblockSize = 40;
constexpr size_t kStateSize = 48;

uint64_t checksum(uint64_t seed, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// Of all of a slot but the checksum itself: the header's part is folded into the seed of the
// payload's.
uint64_t slot_checksum(const RockGeometry& geometry, uint32_t slot_number, uint64_t generation,
                       std::span<const std::byte> bytes, size_t payload_size) {
  const uint64_t seed = mix64(geometry.store_id ^ mix64(generation)) + slot_number;
  const uint64_t header = checksum(seed, bytes.first(kChecksumOffset));
  return checksum(header, bytes.subspan(kRockHeaderSize, payload_size));
}

void encode_object(const RockObject& object, std::span<std::byte> at) {
  store_u64(at, object.body_size_bytes);
  store_u64(at.subspan(8), object.body_generation);
  store_u32(at.subspan(16), object.body_slot_count);
  store_u32(at.subspan(20), object.first_body_slot);
  store_u32(at.subspan(24), object.key_length_bytes);
  store_u32(at.subspan(28), object.metadata_length_bytes);
  store_u32(at.subspan(32), object.prefix_length_bytes);
}

RockObject decode_object(std::span<const std::byte> at) {
  RockObject object;
  object.body_size_bytes = load_u64(at);
  object.body_generation = load_u64(at.subspan(8));
  object.body_slot_count = load_u32(at.subspan(16));
  object.first_body_slot = load_u32(at.subspan(20));
  object.key_length_bytes = load_u32(at.subspan(24));
  object.metadata_length_bytes = load_u32(at.subspan(28));
  object.prefix_length_bytes = load_u32(at.subspan(32));
  return object;
}

// Whether the sizes fit together.
bool sensible(const RockGeometry& geometry, const RockSlot& slot) {
  const RockObject& object = slot.object;
  if (object.key_length_bytes > Key::kLengthMax) return false;
  if (object.metadata_length_bytes > Metadata::kSizeMax) return false;
  if (object.prefix_length_bytes > object.body_size_bytes) return false;
  if (slot.payload_size_bytes != rock_payload_size(geometry, object.head_size_bytes(), 0)) {
    return false;
  }
  const uint64_t rest = object.body_size_bytes - object.prefix_length_bytes;
  const uint64_t unit = geometry.payload_max_bytes();
  if (object.body_slot_count != rest / unit + (rest % unit != 0 ? 1 : 0)) return false;
  return (object.body_slot_count == 0) == (object.first_body_slot == kRockNoSlot);
}

}  // namespace

uint64_t RockGeometry::index_area_bytes() const {
  // 32 bytes for each slot are the most that objects can need; some more for the ends of blocks.
  return round_up(uint64_t{slot_count} * 33, kRockPageSize) + kRockPageSize;
}

uint32_t rock_slot_count(uint64_t capacity_bytes, uint32_t slot_size_bytes) {
  RockGeometry geometry;
  geometry.slot_size_bytes = slot_size_bytes;
  if (capacity_bytes < kRockSlotsOffset) return 0;
  const uint64_t rough = (capacity_bytes - kRockSlotsOffset) / (uint64_t{slot_size_bytes} + 33);
  geometry.slot_count = static_cast<uint32_t>(std::min<uint64_t>(rough, kRockNoSlot));
  while (geometry.slot_count > 0 && geometry.file_size_bytes() > capacity_bytes) {
    --geometry.slot_count;
  }
  return geometry.slot_count;
}

void encode_rock_superblock(const RockGeometry& geometry, std::span<std::byte> page) {
  assert(page.size() == kRockPageSize);
  std::ranges::fill(page, std::byte{0});
  store_u64(page, kSuperblockMagic);
  store_u32(page.subspan(8), kVersion);
  store_u32(page.subspan(12), geometry.slot_size_bytes);
  store_u32(page.subspan(16), geometry.slot_count);
  store_u64(page.subspan(24), geometry.store_id);
  store_u64(page.subspan(32), checksum(0, page.first(32)));
}

Result<RockGeometry> decode_rock_superblock(std::span<const std::byte> page) {
  if (page.size() < kSuperblockSize || load_u64(page) != kSuperblockMagic) {
    return Error(Errc::kNotFound);
  }
  if (load_u32(page.subspan(8)) != kVersion) return Error(Errc::kCorrupt);
  if (load_u64(page.subspan(32)) != checksum(0, page.first(32))) return Error(Errc::kCorrupt);
  RockGeometry geometry;
  geometry.slot_size_bytes = load_u32(page.subspan(12));
  geometry.slot_count = load_u32(page.subspan(16));
  geometry.store_id = load_u64(page.subspan(24));
  const bool makes_sense = geometry.slot_size_bytes >= kRockSlotSizeMin &&
                           geometry.slot_size_bytes <= kRockSlotSizeMax &&
                           std::has_single_bit(geometry.slot_size_bytes) &&
                           geometry.slot_count > 0 && geometry.slot_count <= kRockNoSlot;
  if (!makes_sense) return Error(Errc::kCorrupt);
  return geometry;
}

void encode_rock_state(const RockState& state, uint64_t store_id, std::span<std::byte> page) {
  assert(page.size() == kRockPageSize);
  std::ranges::fill(page, std::byte{0});
  store_u64(page, kStateMagic);
  store_u32(page.subspan(8), kVersion);
  store_u32(page.subspan(12), state.clean ? 1 : 0);
  store_u64(page.subspan(16), state.next_generation);
  store_u64(page.subspan(24), state.index_size_bytes);
  store_u64(page.subspan(32), state.object_count);
  store_u64(page.subspan(40), checksum(store_id, page.first(40)));
}

std::optional<RockState> decode_rock_state(uint64_t store_id, std::span<const std::byte> page) {
  if (page.size() < kStateSize || load_u64(page) != kStateMagic) return std::nullopt;
  if (load_u32(page.subspan(8)) != kVersion) return std::nullopt;
  if (load_u64(page.subspan(40)) != checksum(store_id, page.first(40))) return std::nullopt;
  RockState state;
  state.clean = load_u32(page.subspan(12)) == 1;
  state.next_generation = load_u64(page.subspan(16));
  state.index_size_bytes = load_u64(page.subspan(24));
  state.object_count = load_u64(page.subspan(32));
  return state;
}

uint32_t RockObject::head_slot_count(const RockGeometry& geometry) const {
  const uint64_t unit = geometry.payload_max_bytes();
  return static_cast<uint32_t>(std::max<uint64_t>((head_size_bytes() + unit - 1) / unit, 1));
}

size_t encode_rock_slot(const RockGeometry& geometry, uint32_t slot_number, const RockSlot& slot,
                        std::span<std::byte> bytes) {
  assert(slot.payload_size_bytes <= geometry.payload_max_bytes());
  const size_t used = kRockHeaderSize + slot.payload_size_bytes;
  const size_t written = round_up(used, kRockPageSize);
  std::ranges::fill(bytes.first(kRockHeaderSize), std::byte{0});
  std::ranges::fill(bytes.subspan(used, written - used), std::byte{0});
  store_u64(bytes, kSlotMagic);
  store_u32(bytes.subspan(8), kVersion);
  store_u32(bytes.subspan(12), static_cast<uint32_t>(slot.part));
  store_u64(bytes.subspan(16), geometry.store_id);
  store_u64(bytes.subspan(24), slot.hash.high);
  store_u64(bytes.subspan(32), slot.hash.low);
  store_u64(bytes.subspan(40), slot.generation);
  store_u32(bytes.subspan(48), slot.index);
  store_u32(bytes.subspan(52), slot.next);
  store_u32(bytes.subspan(56), slot.payload_size_bytes);
  if (slot.starts_object()) encode_object(slot.object, bytes.subspan(64));
  store_u64(bytes.subspan(kChecksumOffset),
            slot_checksum(geometry, slot_number, slot.generation, bytes, slot.payload_size_bytes));
  return written;
}

Result<RockSlot> decode_rock_slot(const RockGeometry& geometry, uint32_t slot_number,
                                  std::span<const std::byte> bytes) {
  if (bytes.size() < kRockHeaderSize) return Error(Errc::kNotFound);
  if (load_u64(bytes) != kSlotMagic || load_u64(bytes.subspan(16)) != geometry.store_id) {
    return Error(Errc::kNotFound);
  }
  if (load_u32(bytes.subspan(8)) != kVersion) return Error(Errc::kCorrupt);
  RockSlot slot;
  slot.part = static_cast<RockPart>(load_u32(bytes.subspan(12)));
  slot.hash = KeyHash{load_u64(bytes.subspan(24)), load_u64(bytes.subspan(32))};
  slot.generation = load_u64(bytes.subspan(40));
  slot.index = load_u32(bytes.subspan(48));
  slot.next = load_u32(bytes.subspan(52));
  slot.payload_size_bytes = load_u32(bytes.subspan(56));
  if (slot.payload_size_bytes > geometry.payload_max_bytes() ||
      slot.payload_size_bytes > bytes.size() - kRockHeaderSize) {
    return Error(Errc::kCorrupt);
  }
  if (load_u64(bytes.subspan(kChecksumOffset)) !=
      slot_checksum(geometry, slot_number, slot.generation, bytes, slot.payload_size_bytes)) {
    return Error(Errc::kCorrupt);
  }
  if (slot.part != RockPart::kHead && slot.part != RockPart::kBody) return Error(Errc::kCorrupt);
  if (slot.starts_object()) {
    slot.object = decode_object(bytes.subspan(64));
    if (!sensible(geometry, slot)) return Error(Errc::kCorrupt);
  }
  return slot;
}

bool claims_to_start_rock_object(std::span<const std::byte> bytes) {
  return bytes.size() >= kRockHeaderSize &&
         load_u32(bytes.subspan(12)) != static_cast<uint32_t>(RockPart::kBody);
}

uint32_t rock_payload_size(const RockGeometry& geometry, uint64_t size_bytes, uint32_t index) {
  const uint64_t begin = uint64_t{index} * geometry.payload_max_bytes();
  if (size_bytes <= begin) return 0;
  return static_cast<uint32_t>(
      std::min<uint64_t>(size_bytes - begin, geometry.payload_max_bytes()));
}

}  // namespace storage
