#include "storage/layout/ufs_file_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "storage/types.h"
#include "tests/support/pattern.h"

namespace storage {
namespace {

using testing_support::pattern_body;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A whole file image, made by the functions under test.
struct Image {
  UfsHeader header;
  std::string key = "http://example.org/a?b=c";
  std::string body;
  std::vector<std::byte> bytes;

  explicit Image(size_t body_size, const std::string& metadata = "head") {
    header.sequence = 0xABCDEF;
    header.block_size_bytes = kUfsBlockSizeMin;
    header.key_length_bytes = static_cast<uint32_t>(key.size());
    header.slot_capacity_bytes = ufs_slot_capacity(metadata.size());
    header.body_size_bytes = body_size;
    body = pattern_body(1, body_size);
    bytes.resize(header.body_offset());
    encode_ufs_header(header, key, bytes);
    encode_ufs_slot(header, 1, metadata,
                    std::span(bytes).subspan(header.slot_offset(0), header.slot_size_bytes()));
    UfsBlockHasher hasher(header);
    hasher.append(bytes_of(body));
    const auto trailer = encode_ufs_trailer(header, hasher.finish());
    bytes.insert(bytes.end(), bytes_of(body).begin(), bytes_of(body).end());
    bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  }

  std::span<std::byte> slot(unsigned number) {
    return std::span(bytes).subspan(header.slot_offset(number), header.slot_size_bytes());
  }
  std::span<std::byte> trailer() { return std::span(bytes).subspan(header.trailer_offset()); }
};

// Whether everything about the image can be verified.
bool verifies(const UfsHeader& expected, std::span<const std::byte> bytes) {
  const auto header = decode_ufs_header(bytes);
  if (!header || header->sequence != expected.sequence) return false;
  if (header->file_size_bytes() != bytes.size()) return false;
  if (!decode_ufs_key(*header, bytes) || !decode_ufs_metadata(*header, bytes)) return false;
  const auto sums = decode_ufs_trailer(*header, bytes.subspan(header->trailer_offset()));
  if (!sums) return false;
  for (uint64_t block = 0; block < header->block_count(); ++block) {
    const size_t begin = block * header->block_size_bytes;
    const auto length =
        std::min<uint64_t>(header->block_size_bytes, header->body_size_bytes - begin);
    const auto body = bytes.subspan(header->body_offset() + begin, length);
    if (ufs_block_checksum(*header, body) != (*sums)[block]) return false;
  }
  return true;
}

TEST(UfsFileFormat, ComesBackAsItWasWritten) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097},
                            size_t{12288}, size_t{50001}}) {
    Image image(size);
    EXPECT_EQ(image.bytes.size(), image.header.file_size_bytes());
    const auto header = decode_ufs_header(image.bytes);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->body_size_bytes, size);
    EXPECT_EQ(header->sequence, image.header.sequence);
    EXPECT_EQ(*decode_ufs_key(*header, image.bytes), image.key);
    const auto metadata = decode_ufs_metadata(*header, image.bytes);
    EXPECT_EQ(metadata->bytes, "head");
    EXPECT_EQ(metadata->slot, 0u);
    EXPECT_TRUE(verifies(image.header, image.bytes)) << size;
  }
}

TEST(UfsFileFormat, NoBitOfAFileChangesUnnoticed) {
  const Image image(5000);
  const UfsHeader& header = image.header;
  const size_t unused = header.slot_offset(0) + kUfsSlotHeaderSize + 4;
  for (size_t at = 0; at < image.bytes.size(); ++at) {
    // Room that no metadata uses, and the slot that holds none, mean nothing.
    if (at >= unused && at < header.body_offset()) continue;
    for (unsigned bit = 0; bit < 8; bit += 3) {
      std::vector<std::byte> damaged = image.bytes;
      damaged[at] ^= std::byte{1} << bit;
      EXPECT_FALSE(verifies(header, damaged)) << "byte " << at << " bit " << bit;
    }
  }
}

TEST(UfsFileFormat, AFileCutAnywhereFails) {
  const Image image(5000);
  for (size_t length = 0; length < image.bytes.size(); ++length) {
    EXPECT_FALSE(verifies(image.header, std::span(image.bytes).first(length))) << length;
  }
}

TEST(UfsFileFormat, ZeroedBlocksFail) {
  const Image image(50000);
  for (size_t at = 0; at < image.bytes.size(); at += 4096) {
    std::vector<std::byte> damaged = image.bytes;
    const size_t end = std::min(at + 4096, damaged.size());
    std::fill(damaged.begin() + static_cast<ptrdiff_t>(at),
              damaged.begin() + static_cast<ptrdiff_t>(end), std::byte{0});
    EXPECT_FALSE(verifies(image.header, damaged)) << at;
  }
}

TEST(UfsFileFormat, BlocksOfAnotherFileFailEvenWhereTheyHoldTheSameBytes) {
  Image image(8192);
  UfsHeader other = image.header;
  other.sequence = 77;
  const auto block = bytes_of(image.body).first(4096);
  EXPECT_NE(ufs_block_checksum(image.header, block), ufs_block_checksum(other, block));
  EXPECT_FALSE(decode_ufs_trailer(other, image.trailer()).has_value());
}

TEST(UfsFileFormat, TheHigherValidGenerationIsTheMetadata) {
  Image image(10);
  encode_ufs_slot(image.header, 2, "second", image.slot(1));
  auto found = decode_ufs_metadata(image.header, image.bytes);
  EXPECT_EQ(found->bytes, "second");
  EXPECT_EQ(found->slot, 1u);
  EXPECT_EQ(found->generation, 2u);
  encode_ufs_slot(image.header, 3, "third", image.slot(0));
  found = decode_ufs_metadata(image.header, image.bytes);
  EXPECT_EQ(found->bytes, "third");
  EXPECT_EQ(found->slot, 0u);
}

TEST(UfsFileFormat, ATornSlotLeavesTheOldMetadata) {
  Image image(10, "old metadata");
  std::vector<std::byte> update(image.header.slot_size_bytes());
  encode_ufs_slot(image.header, 2, "new metadata", update);
  const size_t used = kUfsSlotHeaderSize + std::string("new metadata").size();
  for (size_t length = 0; length < used; ++length) {
    std::ranges::fill(image.slot(1), std::byte{0});
    std::ranges::copy(std::span(update).first(length), image.slot(1).begin());
    EXPECT_EQ(decode_ufs_metadata(image.header, image.bytes)->bytes, "old metadata") << length;
  }
  std::ranges::copy(update, image.slot(1).begin());
  EXPECT_EQ(decode_ufs_metadata(image.header, image.bytes)->bytes, "new metadata");
}

TEST(UfsFileFormat, HeadersThatClaimTooMuchAreNotBelieved) {
  const auto claims = [](auto change) {
    Image image(10);
    UfsHeader header = image.header;
    change(header);
    // Its checksum is right: only the limits are left to stop it.
    std::vector<std::byte> bytes(kUfsHeaderSize + image.key.size());
    UfsHeader encodable = header;
    encodable.key_length_bytes = static_cast<uint32_t>(image.key.size());
    encode_ufs_header(encodable, image.key, bytes);
    return decode_ufs_header(bytes).has_value();
  };
  EXPECT_TRUE(claims([](UfsHeader&) {}));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.body_size_bytes = ~uint64_t{0}; }));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.body_size_bytes = kUfsBodySizeMax + 1; }));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.block_size_bytes = 0; }));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.block_size_bytes = 5000; }));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.block_size_bytes = 1U << 20; }));
  EXPECT_FALSE(claims([](UfsHeader& header) { header.slot_capacity_bytes = 1U << 30; }));
}

TEST(UfsBlockHasher, DoesNotDependOnHowTheBodyArrives) {
  const Image image(20000);
  UfsBlockHasher whole(image.header);
  whole.append(bytes_of(image.body));
  const std::vector<uint64_t> expected = whole.finish();
  EXPECT_EQ(expected.size(), 5u);
  for (const size_t step : {size_t{1}, size_t{7}, size_t{4096}, size_t{4097}, size_t{9000}}) {
    UfsBlockHasher stepped(image.header);
    for (size_t at = 0; at < image.body.size(); at += step) {
      stepped.append(bytes_of(image.body).subspan(at, std::min(step, image.body.size() - at)));
    }
    EXPECT_EQ(stepped.finish(), expected) << step;
  }
}

}  // namespace
}  // namespace storage
