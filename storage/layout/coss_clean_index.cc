#include "storage/layout/coss_clean_index.h"

#include <xxhash.h>

#include "storage/layout/byte_order.h"

namespace storage {

namespace {

constexpr uint64_t kIndexMagic = 0x31584449534f4343ULL;  // "CCOSIDX1"
constexpr size_t kHeaderSize = 24;
constexpr size_t kStripeSize = 16;
constexpr size_t kObjectSize = 24;

}  // namespace

uint64_t coss_index_checksum(const CossGeometry& geometry, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), geometry.store_id);
}

Space encode_coss_index(const CossLog& log, const CossIndex& index) {
  const size_t size = kHeaderSize + log.live().size() * kStripeSize + index.count() * kObjectSize;
  Space encoded = make_coss_buffer(round_up(size, kCossPageSize));
  std::span<std::byte> at = encoded.bytes();
  store_u64(at, kIndexMagic);
  store_u64(at.subspan(8), log.live().size());
  store_u64(at.subspan(16), index.count());
  at = at.subspan(kHeaderSize);
  for (const uint32_t stripe : log.live()) {
    store_u64(at, stripe);
    store_u64(at.subspan(8), log.generation(stripe));
    at = at.subspan(kStripeSize);
  }
  for (const auto& [hash, location] : index.entries()) {
    store_u64(at, hash.high);
    store_u64(at.subspan(8), hash.low);
    store_u32(at.subspan(16), location.block);
    store_u32(at.subspan(20), location.size_bytes);
    at = at.subspan(kObjectSize);
  }
  return encoded;
}

std::optional<std::vector<CossLiveStripe>> decode_coss_index(const CossGeometry& geometry,
                                                             std::span<const std::byte> bytes,
                                                             CossIndex& index) {
  if (bytes.size() < kHeaderSize || load_u64(bytes) != kIndexMagic) return std::nullopt;
  const uint64_t stripe_count = load_u64(bytes.subspan(8));
  const uint64_t object_count = load_u64(bytes.subspan(16));
  std::span<const std::byte> at = bytes.subspan(kHeaderSize);
  if (stripe_count > geometry.stripe_count || at.size() < stripe_count * kStripeSize ||
      object_count > (at.size() - stripe_count * kStripeSize) / kObjectSize) {
    return std::nullopt;
  }
  std::vector<CossLiveStripe> live(stripe_count);
  std::vector<bool> known(geometry.stripe_count);
  for (size_t i = 0; i < live.size(); ++i, at = at.subspan(kStripeSize)) {
    const uint64_t stripe = load_u64(at);
    live[i].generation = load_u64(at.subspan(8));
    const bool ordered = i == 0 || live[i].generation > live[i - 1].generation;
    if (stripe >= geometry.stripe_count || known[stripe] || !ordered) return std::nullopt;
    live[i].stripe = static_cast<uint32_t>(stripe);
    known[stripe] = true;
  }
  index.expect(object_count);
  for (uint64_t i = 0; i < object_count; ++i, at = at.subspan(kObjectSize)) {
    CossLocation location;
    location.block = load_u32(at.subspan(16));
    location.size_bytes = load_u32(at.subspan(20));
    const uint64_t offset = uint64_t{location.block} * geometry.block_size_bytes;
    const uint64_t stripe = offset / geometry.stripe_size_bytes;
    const bool sensible =
        stripe < geometry.stripe_count && known[stripe] && location.size_bytes > 0 &&
        offset % geometry.stripe_size_bytes + location.size_bytes <= geometry.stripe_size_bytes;
    if (!sensible) {
      index.clear();
      return std::nullopt;
    }
    index.put(KeyHash{load_u64(at), load_u64(at.subspan(8))}, location);
  }
  return live;
}

}  // namespace storage
