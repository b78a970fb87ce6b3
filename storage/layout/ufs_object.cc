#include "storage/layout/ufs_object.h"

#include <algorithm>

namespace storage {

Task<Space> lend_ufs_buffer(BufferPool& buffers, size_t size_bytes) {
  if (size_bytes <= buffers.buffer_size_bytes()) co_return co_await buffers.acquire();
  const auto owned = std::make_shared<std::vector<std::byte>>(size_bytes);
  co_return Space(std::span<std::byte>(*owned), owned);
}

Task<UfsHead> read_ufs_head(File& file, BufferPool& buffers, uint64_t sequence) {
  UfsHead head;
  Result<Space> first = co_await lend_ufs_buffer(buffers, kUfsHeaderSize);
  if (!first) co_return first.error();
  head.first = std::move(*first);
  const Result<size_t> got = co_await file.read(0, head.first.bytes());
  if (!got) co_return got.error();
  head.first_size_bytes = *got;

  const Result<UfsHeader> header = decode_ufs_header(head.first_bytes());
  if (!header) co_return header.error();
  if (header->sequence != sequence) co_return Error(Errc::kCorrupt);
  head.header = *header;
  std::span<const std::byte> prefix = head.first_bytes();
  if (prefix.size() < header->body_offset()) {
    head.long_prefix.resize(header->body_offset());
    const Result<size_t> all = co_await file.read(0, head.long_prefix);
    if (!all) co_return all.error();
    if (*all < head.long_prefix.size()) co_return Error(Errc::kCorrupt);
    prefix = head.long_prefix;
  }
  const Result<std::string_view> key = decode_ufs_key(*header, prefix);
  if (!key) co_return key.error();
  head.key = *key;
  const Result<UfsMetadataSlot> metadata = decode_ufs_metadata(*header, prefix);
  if (!metadata) co_return metadata.error();
  head.metadata = *metadata;
  co_return head;
}

Task<std::vector<uint64_t>> read_ufs_trailer(File& file, const UfsHead& head) {
  const UfsHeader header = head.header;
  if (head.complete()) {
    co_return decode_ufs_trailer(
        header, head.first_bytes().subspan(header.trailer_offset(), header.trailer_size_bytes()));
  }
  // Before memory is set aside for what the header says, the file must really be that long.
  const Result<uint64_t> size = co_await file.size_bytes();
  if (!size) co_return size.error();
  if (*size != header.file_size_bytes()) co_return Error(Errc::kCorrupt);
  std::vector<std::byte> bytes(header.trailer_size_bytes());
  const Result<size_t> got = co_await file.read(header.trailer_offset(), bytes);
  if (!got) co_return got.error();
  if (*got != bytes.size()) co_return Error(Errc::kCorrupt);
  co_return decode_ufs_trailer(header, bytes);
}

bool verify_ufs_blocks(const UfsHeader& header, std::span<const uint64_t> checksums,
                       uint64_t first_block, std::span<const std::byte> body) {
  for (uint64_t block = first_block; !body.empty(); ++block) {
    if (block >= checksums.size()) return false;
    const size_t length = std::min<size_t>(header.block_size_bytes, body.size());
    if (ufs_block_checksum(header, body.first(length)) != checksums[block]) return false;
    body = body.subspan(length);
  }
  return true;
}

}  // namespace storage
