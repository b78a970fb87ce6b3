#include "storage/layout/ufs_file_format.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>

#include "storage/base/text_bytes.h"
#include "storage/layout/byte_order.h"
#include "storage/types.h"

namespace storage {

namespace {

constexpr uint64_t kHeaderMagic = 0x314a424f53465543ULL;  // "CUFSOBJ1"
constexpr uint64_t kFooterMagic = 0x31444e4553465543ULL;  // "CUFSEND1"
constexpr uint32_t kVersion = 1;
constexpr size_t kSlotRoom = 64;
constexpr uint32_t kSlotCapacityMax = Metadata::kSizeMax + 2 * kSlotRoom;

uint64_t checksum(uint64_t seed, std::span<const std::byte> bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The checksum of a slot covers what it says about itself and the bytes in use; what lies behind
// them in the slot means nothing.
uint64_t slot_checksum(const UfsHeader& header, std::span<const std::byte> fields,
                       std::span<const std::byte> metadata) {
  return checksum(checksum(header.sequence, fields), metadata);
}

std::optional<UfsMetadataSlot> decode_slot(const UfsHeader& header, unsigned slot,
                                           std::span<const std::byte> bytes) {
  UfsMetadataSlot found;
  found.slot = slot;
  found.generation = load_u64(bytes);
  const uint64_t length = load_u64(bytes.subspan(8));
  if (found.generation == 0 || length > header.slot_capacity_bytes) return std::nullopt;
  const auto metadata = bytes.subspan(kUfsSlotHeaderSize, length);
  if (load_u64(bytes.subspan(16)) != slot_checksum(header, bytes.first(16), metadata)) {
    return std::nullopt;
  }
  found.bytes = as_text(metadata);
  return found;
}

}  // namespace

uint32_t ufs_slot_capacity(size_t metadata_size_bytes) {
  return static_cast<uint32_t>((metadata_size_bytes + kSlotRoom) / kSlotRoom * kSlotRoom +
                               kSlotRoom);
}

void encode_ufs_header(const UfsHeader& header, std::string_view key, std::span<std::byte> prefix) {
  assert(key.size() == header.key_length_bytes && prefix.size() >= header.slot_offset(0));
  store_u64(prefix, kHeaderMagic);
  store_u32(prefix.subspan(8), kVersion);
  store_u32(prefix.subspan(12), header.block_size_bytes);
  store_u32(prefix.subspan(16), header.key_length_bytes);
  store_u32(prefix.subspan(20), header.slot_capacity_bytes);
  store_u64(prefix.subspan(24), header.body_size_bytes);
  store_u64(prefix.subspan(32), header.sequence);
  store_u64(prefix.subspan(40), checksum(header.sequence, as_bytes_of(key)));
  store_u64(prefix.subspan(48), checksum(header.sequence, prefix.first(48)));
  std::ranges::copy(as_bytes_of(key), prefix.begin() + static_cast<ptrdiff_t>(header.key_offset()));
}

Result<UfsHeader> decode_ufs_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kUfsHeaderSize) return Error(Errc::kCorrupt);
  if (load_u64(bytes) != kHeaderMagic || load_u32(bytes.subspan(8)) != kVersion) {
    return Error(Errc::kCorrupt);
  }
  UfsHeader header;
  header.block_size_bytes = load_u32(bytes.subspan(12));
  header.key_length_bytes = load_u32(bytes.subspan(16));
  header.slot_capacity_bytes = load_u32(bytes.subspan(20));
  header.body_size_bytes = load_u64(bytes.subspan(24));
  header.sequence = load_u64(bytes.subspan(32));
  if (load_u64(bytes.subspan(48)) != checksum(header.sequence, bytes.first(48))) {
    return Error(Errc::kCorrupt);
  }
  // A checksum proves that the bytes are as they were written, not that they make sense.
  const bool sensible =
      std::has_single_bit(header.block_size_bytes) && header.block_size_bytes >= kUfsBlockSizeMin &&
      header.block_size_bytes <= kUfsBlockSizeMax && header.key_length_bytes <= Key::kLengthMax &&
      header.slot_capacity_bytes <= kSlotCapacityMax && header.body_size_bytes <= kUfsBodySizeMax;
  if (!sensible) return Error(Errc::kCorrupt);
  return header;
}

Result<std::string_view> decode_ufs_key(const UfsHeader& header,
                                        std::span<const std::byte> prefix) {
  if (prefix.size() < header.slot_offset(0)) return Error(Errc::kCorrupt);
  const auto key = prefix.subspan(header.key_offset(), header.key_length_bytes);
  if (load_u64(prefix.subspan(40)) != checksum(header.sequence, key)) {
    return Error(Errc::kCorrupt);
  }
  return as_text(key);
}

void encode_ufs_slot(const UfsHeader& header, uint64_t generation, std::string_view metadata,
                     std::span<std::byte> out) {
  assert(metadata.size() <= header.slot_capacity_bytes && out.size() == header.slot_size_bytes());
  std::fill(out.begin(), out.end(), std::byte{0});
  store_u64(out, generation);
  store_u64(out.subspan(8), metadata.size());
  store_u64(out.subspan(16), slot_checksum(header, out.first(16), as_bytes_of(metadata)));
  std::ranges::copy(as_bytes_of(metadata), out.begin() + kUfsSlotHeaderSize);
}

Result<UfsMetadataSlot> decode_ufs_metadata(const UfsHeader& header,
                                            std::span<const std::byte> prefix) {
  if (prefix.size() < header.body_offset()) return Error(Errc::kCorrupt);
  std::optional<UfsMetadataSlot> newest;
  for (unsigned slot = 0; slot < 2; ++slot) {
    const auto bytes = prefix.subspan(header.slot_offset(slot), header.slot_size_bytes());
    const std::optional<UfsMetadataSlot> found = decode_slot(header, slot, bytes);
    if (found && (!newest || found->generation > newest->generation)) newest = found;
  }
  if (!newest) return Error(Errc::kCorrupt);
  return *newest;
}

uint64_t ufs_block_checksum(const UfsHeader& header, std::span<const std::byte> block) {
  return checksum(header.sequence, block);
}

std::vector<std::byte> encode_ufs_trailer(const UfsHeader& header,
                                          std::span<const uint64_t> block_checksums) {
  assert(block_checksums.size() == header.block_count());
  std::vector<std::byte> out(header.trailer_size_bytes());
  const std::span<std::byte> bytes(out);
  for (size_t i = 0; i < block_checksums.size(); ++i) {
    store_u64(bytes.subspan(i * 8), block_checksums[i]);
  }
  const size_t footer = block_checksums.size() * 8;
  store_u64(bytes.subspan(footer), kFooterMagic);
  store_u64(bytes.subspan(footer + 8), header.body_size_bytes);
  store_u64(bytes.subspan(footer + 16), checksum(header.sequence, bytes.first(footer + 16)));
  return out;
}

Result<std::vector<uint64_t>> decode_ufs_trailer(const UfsHeader& header,
                                                 std::span<const std::byte> bytes) {
  if (bytes.size() != header.trailer_size_bytes()) return Error(Errc::kCorrupt);
  const size_t footer = bytes.size() - kUfsFooterSize;
  const bool sound =
      load_u64(bytes.subspan(footer)) == kFooterMagic &&
      load_u64(bytes.subspan(footer + 8)) == header.body_size_bytes &&
      load_u64(bytes.subspan(footer + 16)) == checksum(header.sequence, bytes.first(footer + 16));
  if (!sound) return Error(Errc::kCorrupt);
  std::vector<uint64_t> checksums(footer / 8);
  for (size_t i = 0; i < checksums.size(); ++i) checksums[i] = load_u64(bytes.subspan(i * 8));
  return checksums;
}

UfsBlockHasher::UfsBlockHasher(const UfsHeader& header)
    : header_(header), state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
}

void UfsBlockHasher::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const size_t block_size = header_.block_size_bytes;
    if (block_used_bytes_ == 0 && bytes.size() >= block_size) {
      checksums_.push_back(ufs_block_checksum(header_, bytes.first(block_size)));
      bytes = bytes.subspan(block_size);
      continue;
    }
    if (block_used_bytes_ == 0) XXH3_64bits_reset_withSeed(state_.get(), header_.sequence);
    const size_t taken = std::min(block_size - block_used_bytes_, bytes.size());
    XXH3_64bits_update(state_.get(), bytes.data(), taken);
    block_used_bytes_ += taken;
    bytes = bytes.subspan(taken);
    if (block_used_bytes_ == block_size) (void)finish();
  }
}

const std::vector<uint64_t>& UfsBlockHasher::finish() {
  if (block_used_bytes_ > 0) checksums_.push_back(XXH3_64bits_digest(state_.get()));
  block_used_bytes_ = 0;
  return checksums_;
}

}  // namespace storage
