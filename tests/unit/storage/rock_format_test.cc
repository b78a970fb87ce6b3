#include "storage/layout/rock_format.h"

#include <gtest/gtest.h>

#include <vector>

#include "storage/base/random.h"
#include "storage/base/units.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"

namespace storage {
namespace {

using testing_support::pattern_body;
using testing_support::test_seed;

RockGeometry geometry_of(uint32_t slot_size_bytes = 4096) {
  RockGeometry geometry;
  geometry.store_id = 0x1234567890abcdefULL;
  geometry.slot_size_bytes = slot_size_bytes;
  geometry.slot_count = 1000;
  return geometry;
}

// The first slot of an object of `body_size` bytes, all of which may not fit.
RockSlot first_slot(const RockGeometry& geometry, uint64_t body_size) {
  RockSlot slot;
  slot.hash = KeyHash{11, 22};
  slot.generation = 77;
  slot.object.key_length_bytes = 20;
  slot.object.metadata_length_bytes = 300;
  slot.object.body_size_bytes = body_size;
  slot.object.prefix_length_bytes =
      static_cast<uint32_t>(std::min<uint64_t>(body_size, geometry.payload_max_bytes() - 320));
  const uint64_t rest = body_size - slot.object.prefix_length_bytes;
  const uint64_t unit = geometry.payload_max_bytes();
  slot.object.body_slot_count = static_cast<uint32_t>((rest + unit - 1) / unit);
  if (rest > 0) {
    slot.object.first_body_slot = 9;
    slot.object.body_generation = 76;
  }
  slot.payload_size_bytes = static_cast<uint32_t>(slot.object.head_size_bytes());
  return slot;
}

std::vector<std::byte> encoded(const RockGeometry& geometry, uint32_t number,
                               const RockSlot& slot) {
  std::vector<std::byte> bytes(geometry.slot_size_bytes, std::byte{0xee});
  const std::string payload = pattern_body(1, slot.payload_size_bytes);
  std::ranges::copy(std::as_bytes(std::span(payload)), bytes.begin() + kRockHeaderSize);
  EXPECT_LE(encode_rock_slot(geometry, number, slot, bytes), bytes.size());
  return bytes;
}

TEST(RockFormat, SlotsComeBackAsTheyWere) {
  const RockGeometry geometry = geometry_of();
  for (const uint64_t size : {0, 1, 3000, 3664, 3665, 100'000}) {
    const RockSlot slot = first_slot(geometry, size);
    const Result<RockSlot> decoded = decode_rock_slot(geometry, 5, encoded(geometry, 5, slot));
    ASSERT_TRUE(decoded.has_value()) << size;
    EXPECT_EQ(decoded->hash, slot.hash);
    EXPECT_EQ(decoded->generation, slot.generation);
    EXPECT_EQ(decoded->next, slot.next);
    EXPECT_EQ(decoded->payload_size_bytes, slot.payload_size_bytes);
    EXPECT_EQ(decoded->object, slot.object);
  }
  RockSlot body;
  body.part = RockPart::kBody;
  body.index = 3;
  body.next = 8;
  body.payload_size_bytes = geometry.payload_max_bytes();
  const Result<RockSlot> decoded = decode_rock_slot(geometry, 6, encoded(geometry, 6, body));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_FALSE(decoded->starts_object());
  EXPECT_EQ(decoded->index, 3u);
  EXPECT_EQ(decoded->next, 8u);
}

TEST(RockFormat, EveryFlippedBitOfASlotIsFound) {
  const RockGeometry geometry = geometry_of();
  std::vector<std::byte> bytes = encoded(geometry, 5, first_slot(geometry, 500));
  const size_t used = kRockHeaderSize + first_slot(geometry, 500).payload_size_bytes;
  for (size_t bit = 0; bit < 8 * used; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_rock_slot(geometry, 5, bytes).has_value()) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_TRUE(decode_rock_slot(geometry, 5, bytes).has_value());
}

TEST(RockFormat, ASlotOfAnotherPlaceStoreOrSizeIsNotBelieved) {
  const RockGeometry geometry = geometry_of();
  const std::vector<std::byte> bytes = encoded(geometry, 5, first_slot(geometry, 500));
  EXPECT_FALSE(decode_rock_slot(geometry, 6, bytes).has_value());
  RockGeometry other = geometry;
  other.store_id ^= 1;
  EXPECT_FALSE(decode_rock_slot(other, 5, bytes).has_value());
  for (size_t size = 0; size < 932; ++size) {
    EXPECT_FALSE(decode_rock_slot(geometry, 5, std::span(bytes).first(size)).has_value()) << size;
  }
}

TEST(RockFormat, ASlotWhoseSizesDoNotFitTogetherIsNotBelievedThoughItsChecksumIsRight) {
  const RockGeometry geometry = geometry_of();
  const auto refused = [&](auto change) {
    RockSlot slot = first_slot(geometry, 100'000);
    change(slot);
    return decode_rock_slot(geometry, 5, encoded(geometry, 5, slot)).has_error();
  };
  EXPECT_FALSE(refused([](RockSlot&) {}));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.object.body_slot_count += 1; }));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.object.body_size_bytes = 5; }));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.object.first_body_slot = kRockNoSlot; }));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.object.key_length_bytes = 1 << 20; }));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.object.metadata_length_bytes = 1 << 30; }));
  EXPECT_TRUE(refused([](RockSlot& slot) { slot.payload_size_bytes -= 1; }));
}

TEST(RockFormat, GarbageIsNeverBelieved) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  Random random(seed);
  const RockGeometry geometry = geometry_of();
  const std::vector<std::byte> sound = encoded(geometry, 5, first_slot(geometry, 500));
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes(4096);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    // As much of the truth as can be had without being it.
    const size_t kept = random.below(kRockHeaderSize + 820 - 8);
    std::copy_n(sound.begin(), kept, bytes.begin());
    EXPECT_FALSE(decode_rock_slot(geometry, 5, bytes).has_value()) << kept;
    EXPECT_FALSE(decode_rock_state(geometry.store_id, bytes).has_value());
    EXPECT_FALSE(decode_rock_superblock(bytes).has_value());
  }
}

TEST(RockFormat, SuperblockAndStateComeBackAndEveryFlippedBitIsFound) {
  const RockGeometry geometry = geometry_of();
  std::vector<std::byte> page(kRockPageSize);
  encode_rock_superblock(geometry, page);
  const Result<RockGeometry> found = decode_rock_superblock(page);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->store_id, geometry.store_id);
  EXPECT_EQ(found->slot_count, geometry.slot_count);
  EXPECT_EQ(found->slot_size_bytes, geometry.slot_size_bytes);
  for (size_t bit = 0; bit < 8 * 40; ++bit) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_rock_superblock(page).has_value()) << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  RockState state;
  state.clean = true;
  state.next_generation = 99;
  state.index_size_bytes = 4096;
  state.object_count = 7;
  encode_rock_state(state, geometry.store_id, page);
  const std::optional<RockState> decoded = decode_rock_state(geometry.store_id, page);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(decoded->clean);
  EXPECT_EQ(decoded->next_generation, 99u);
  EXPECT_EQ(decoded->object_count, 7u);
  EXPECT_FALSE(decode_rock_state(geometry.store_id + 1, page).has_value());
  for (size_t bit = 0; bit < 8 * 48; ++bit) {
    page[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(decode_rock_state(geometry.store_id, page).has_value()) << bit;
    page[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(RockFormat, SlotsAndIndexFillTheCapacityAndNoMore) {
  for (const uint32_t slot_size : {4096u, 16384u, 1048576u}) {
    for (const uint64_t capacity : {kMiB, 4 * kMiB, 100 * kMiB, 3 * kGiB, 100 * kGiB}) {
      RockGeometry geometry = geometry_of(slot_size);
      geometry.slot_count = rock_slot_count(capacity, slot_size);
      if (geometry.slot_count == 0) continue;
      EXPECT_LE(geometry.file_size_bytes(), capacity);
      EXPECT_GE(geometry.file_size_bytes() + slot_size + 2 * kRockPageSize, capacity);
      EXPECT_GE(geometry.index_area_bytes(), uint64_t{geometry.slot_count} * 32);
    }
  }
  EXPECT_EQ(rock_slot_count(100, 4096), 0u);
}

}  // namespace
}  // namespace storage
