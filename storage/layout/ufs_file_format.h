// The bytes of an object file, as pure functions. Drawn in docs/formats-ufs.md.
//
//   header | key | metadata slot 0 | metadata slot 1 | body | block checksums | footer
//
// Everything is checksummed (XXH3, 64 bits) with the file's sequence number as seed, so that bytes
// of another file, old or new, never pass for this one's.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "storage/base/error.h"

namespace storage {

inline constexpr size_t kUfsHeaderSize = 56;
inline constexpr size_t kUfsSlotHeaderSize = 24;
inline constexpr size_t kUfsFooterSize = 24;
inline constexpr uint32_t kUfsBlockSizeMin = 4096;
inline constexpr uint32_t kUfsBlockSizeMax = 32 * 1024;
/// Larger bodies are neither written nor believed.
inline constexpr uint64_t kUfsBodySizeMax = uint64_t{1} << 46;

/// What the header says. Sizes and offsets of all parts follow from it.
struct UfsHeader {
  uint64_t sequence = 0;          ///< Number of the file; never used twice in a store.
  uint32_t block_size_bytes = 0;  ///< Body bytes a checksum covers; a power of two.
  uint32_t key_length_bytes = 0;
  uint32_t slot_capacity_bytes = 0;  ///< Longest metadata that a slot holds.
  uint64_t body_size_bytes = 0;

  size_t key_offset() const { return kUfsHeaderSize; }
  /// `slot` is 0 or 1.
  size_t slot_offset(unsigned slot) const {
    return kUfsHeaderSize + key_length_bytes + slot * slot_size_bytes();
  }
  size_t slot_size_bytes() const { return kUfsSlotHeaderSize + slot_capacity_bytes; }
  /// Size of all that stands before the body.
  size_t body_offset() const { return slot_offset(2); }
  uint64_t block_count() const {
    return (body_size_bytes + block_size_bytes - 1) / block_size_bytes;
  }
  uint64_t trailer_offset() const { return body_offset() + body_size_bytes; }
  /// Size of the block checksums and the footer.
  uint64_t trailer_size_bytes() const { return block_count() * 8 + kUfsFooterSize; }
  uint64_t file_size_bytes() const { return trailer_offset() + trailer_size_bytes(); }
};

/// Slot capacity for metadata of this size: some room to grow, so that an update fits in place.
uint32_t ufs_slot_capacity(size_t metadata_size_bytes);

/// Writes header and key to the front of `prefix`, which is header.body_offset() bytes long.
void encode_ufs_header(const UfsHeader& header, std::string_view key, std::span<std::byte> prefix);

/// Reads a header from at least its kUfsHeaderSize bytes; every value is within its limits.
/// kCorrupt otherwise.
Result<UfsHeader> decode_ufs_header(std::span<const std::byte> bytes);

/// The key, from the first header.slot_offset(0) bytes of the file or more; kCorrupt where its
/// checksum differs.
Result<std::string_view> decode_ufs_key(const UfsHeader& header, std::span<const std::byte> prefix);

/// One version of the metadata in a file.
struct UfsMetadataSlot {
  unsigned slot = 0;
  uint64_t generation = 0;  ///< Grows with each update; the higher valid one counts.
  std::string_view bytes;
};

/// Writes one slot, `out` being header.slot_size_bytes() long. `metadata` must fit.
void encode_ufs_slot(const UfsHeader& header, uint64_t generation, std::string_view metadata,
                     std::span<std::byte> out);

/// The newest valid slot, from the first header.body_offset() bytes of the file or more. kCorrupt
/// where neither is valid.
Result<UfsMetadataSlot> decode_ufs_metadata(const UfsHeader& header,
                                            std::span<const std::byte> prefix);

/// The checksum of one block of a body.
uint64_t ufs_block_checksum(const UfsHeader& header, std::span<const std::byte> block);

/// Block checksums and footer, header.trailer_size_bytes() long.
std::vector<std::byte> encode_ufs_trailer(const UfsHeader& header,
                                          std::span<const uint64_t> block_checksums);

/// The block checksums, from header.trailer_size_bytes() bytes. kCorrupt where they are damaged.
Result<std::vector<uint64_t>> decode_ufs_trailer(const UfsHeader& header,
                                                 std::span<const std::byte> bytes);

/// Checksums the blocks of a body that arrives in parts of any size.
class UfsBlockHasher {
 public:
  explicit UfsBlockHasher(const UfsHeader& header);

  void append(std::span<const std::byte> bytes);
  /// Checksums of all blocks, the last being as long as what is left. Once, at the end.
  const std::vector<uint64_t>& finish();

 private:
  struct StateFree {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };

  UfsHeader header_;
  std::unique_ptr<XXH3_state_t, StateFree> state_;
  size_t block_used_bytes_ = 0;
  std::vector<uint64_t> checksums_;
};

}  // namespace storage
