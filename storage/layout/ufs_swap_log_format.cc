#include "storage/layout/ufs_swap_log_format.h"

#include <xxhash.h>

#include <algorithm>

#include "storage/layout/byte_order.h"

namespace storage {

namespace {

constexpr uint64_t kHeaderMagic = 0x31474f4c53465543ULL;  // "CUFSLOG1"
constexpr uint32_t kRecordMagic = 0x43455243U;            // "CREC"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kCleanFlag = 1;

uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace

void encode_ufs_log_header(const UfsLogHeader& header, std::span<std::byte> out) {
  store_u64(out, kHeaderMagic);
  store_u32(out.subspan(8), kVersion);
  store_u32(out.subspan(12), header.clean ? kCleanFlag : 0);
  store_u64(out.subspan(16), header.record_count);
  store_u64(out.subspan(24), header.next_sequence);
  store_u64(out.subspan(32), checksum(out.first(32)));
}

std::optional<UfsLogHeader> decode_ufs_log_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kUfsLogHeaderSize || load_u64(bytes) != kHeaderMagic ||
      load_u32(bytes.subspan(8)) != kVersion ||
      load_u64(bytes.subspan(32)) != checksum(bytes.first(32))) {
    return std::nullopt;
  }
  UfsLogHeader header;
  header.clean = load_u32(bytes.subspan(12)) == kCleanFlag;
  header.record_count = load_u64(bytes.subspan(16));
  header.next_sequence = load_u64(bytes.subspan(24));
  return header;
}

void append_ufs_log_record(const UfsLogRecord& record, std::vector<std::byte>& out) {
  const size_t begin = out.size();
  out.resize(begin + kUfsLogRecordSize);
  const std::span<std::byte> bytes = std::span(out).subspan(begin);
  store_u32(bytes, kRecordMagic);
  store_u32(bytes.subspan(4), static_cast<uint32_t>(record.kind));
  store_u64(bytes.subspan(8), record.sequence);
  store_u64(bytes.subspan(16), record.hash.high);
  store_u64(bytes.subspan(24), record.hash.low);
  store_u64(bytes.subspan(32), record.file_size_bytes);
  store_u64(bytes.subspan(40), record.allocated_bytes);
  store_u64(bytes.subspan(48), checksum(bytes.first(48)));
}

std::optional<UfsLogRecord> decode_ufs_log_record(std::span<const std::byte> bytes) {
  if (bytes.size() < kUfsLogRecordSize || load_u32(bytes) != kRecordMagic ||
      load_u64(bytes.subspan(48)) != checksum(bytes.first(48))) {
    return std::nullopt;
  }
  const uint32_t kind = load_u32(bytes.subspan(4));
  if (kind != static_cast<uint32_t>(UfsLogRecord::Kind::kAdd) &&
      kind != static_cast<uint32_t>(UfsLogRecord::Kind::kRemove)) {
    return std::nullopt;
  }
  UfsLogRecord record;
  record.kind = static_cast<UfsLogRecord::Kind>(kind);
  record.sequence = load_u64(bytes.subspan(8));
  record.hash = KeyHash{load_u64(bytes.subspan(16)), load_u64(bytes.subspan(24))};
  record.file_size_bytes = load_u64(bytes.subspan(32));
  record.allocated_bytes = load_u64(bytes.subspan(40));
  return record;
}

void UfsLogParser::append(std::span<const std::byte> bytes) {
  contents_.exists = true;
  while (!bytes.empty()) {
    const size_t unit_size = header_seen_ ? kUfsLogRecordSize : kUfsLogHeaderSize;
    if (partial_.empty() && bytes.size() >= unit_size) {
      take(bytes.first(unit_size));
      bytes = bytes.subspan(unit_size);
      continue;
    }
    const size_t taken = std::min(unit_size - partial_.size(), bytes.size());
    partial_.insert(partial_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(taken));
    bytes = bytes.subspan(taken);
    if (partial_.size() < unit_size) break;
    take(partial_);
    partial_.clear();
  }
}

void UfsLogParser::take(std::span<const std::byte> unit) {
  if (!header_seen_) {
    header_seen_ = true;
    header_ = decode_ufs_log_header(unit);
    if (!header_) ++contents_.damaged_records;
    return;
  }
  const std::optional<UfsLogRecord> record = decode_ufs_log_record(unit);
  if (record) {
    contents_.records.push_back(*record);
  } else {
    ++contents_.damaged_records;
  }
}

UfsLogContents UfsLogParser::finish() {
  // A process that is killed in the middle of an append leaves a record cut off; only a log that
  // was written whole and synced, or one that has not even a header, must not end like that.
  if (!partial_.empty() && (!header_ || header_->clean)) ++contents_.damaged_records;
  if (header_) {
    contents_.next_sequence = header_->next_sequence;
    contents_.clean = header_->clean && contents_.damaged_records == 0 &&
                      contents_.records.size() == header_->record_count &&
                      std::ranges::all_of(contents_.records, [](const UfsLogRecord& record) {
                        return record.kind == UfsLogRecord::Kind::kAdd;
                      });
  }
  return std::move(contents_);
}

}  // namespace storage
