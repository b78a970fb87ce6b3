#include "storage/layout/ufs_swap_log.h"

#include <algorithm>
#include <array>

namespace storage {

namespace {

constexpr size_t kReadSize = 256 * 1024;
constexpr size_t kFlushSize = 4096;
constexpr size_t kRewriteChunkSize = 1024 * 1024;
// Beyond any log that a store of today's sizes writes; a longer one is damage.
constexpr uint64_t kLogSizeMax = uint64_t{16} << 30;
constexpr uint64_t kOvergrownRecords = 16384;

}  // namespace

Task<UfsLogContents> UfsSwapLog::load() {
  Result<std::unique_ptr<File>> file =
      co_await engine_.open(std::string(kUfsLogName), OpenMode::kRead);
  UfsLogContents unreadable;
  unreadable.exists = !file && file.error().code != Errc::kNotFound;
  unreadable.damaged_records = unreadable.exists ? 1 : 0;
  if (!file) co_return unreadable;

  UfsLogParser parser;
  std::vector<std::byte> buffer(kReadSize);
  bool readable = true;
  for (uint64_t offset = 0; offset < kLogSizeMax;) {
    const Result<size_t> got = co_await (*file)->read(offset, buffer);
    readable = got.has_value();
    if (!readable || *got == 0) break;
    parser.append(std::span(buffer).first(*got));
    offset += *got;
  }
  UfsLogContents contents = parser.finish();
  contents.exists = true;
  contents.clean = contents.clean && readable;
  if (!readable) ++contents.damaged_records;
  co_return contents;
}

Task<void> UfsSwapLog::reopen_clean(uint64_t record_count, uint64_t next_sequence) {
  Result<std::unique_ptr<File>> file =
      co_await engine_.open(std::string(kUfsLogName), OpenMode::kReadWrite);
  if (!file) co_return file.error();
  UfsLogHeader header;
  header.next_sequence = next_sequence;
  std::array<std::byte, kUfsLogHeaderSize> bytes{};
  encode_ufs_log_header(header, bytes);
  const Result<void> written = co_await (*file)->write(0, bytes);
  if (!written) co_return written;
  const Result<void> durable = co_await (*file)->sync();
  if (!durable) co_return durable;
  file_ = std::move(*file);
  end_bytes_ = kUfsLogHeaderSize + record_count * kUfsLogRecordSize;
  record_count_ = record_count;
  co_return Result<void>();
}

Task<void> UfsSwapLog::rewrite(std::vector<UfsLogRecord> records, bool clean,
                               uint64_t next_sequence) {
  if (busy_) co_return Result<void>();  // only one at a time; it is retried when overgrown
  busy_ = true;
  pending_.clear();  // the records given here include them
  record_count_ = 0;
  const Result<void> result = co_await write_new(std::move(records), clean, next_sequence);
  busy_ = false;
  ++(result ? rewrites_ : write_errors_);
  co_return result;
}

Task<void> UfsSwapLog::write_new(std::vector<UfsLogRecord> records, bool clean,
                                 uint64_t next_sequence) {
  (void)co_await engine_.unlink(std::string(kUfsLogNewName));  // of a start that was killed
  Result<std::unique_ptr<File>> file =
      co_await engine_.open(std::string(kUfsLogNewName), OpenMode::kCreateExclusive);
  if (!file) co_return file.error();

  UfsLogHeader header;
  header.clean = clean;
  header.record_count = records.size();
  header.next_sequence = next_sequence;
  std::vector<std::byte> chunk(kUfsLogHeaderSize);
  encode_ufs_log_header(header, chunk);
  uint64_t offset = 0;
  Result<void> result;
  for (size_t next = 0; result;) {
    while (next < records.size() && chunk.size() < kRewriteChunkSize) {
      append_ufs_log_record(records[next++], chunk);
    }
    if (chunk.empty()) break;
    result = co_await (*file)->write(offset, chunk);
    offset += chunk.size();
    chunk.clear();
  }
  if (result && clean) result = co_await (*file)->sync();
  if (result) {
    result = co_await engine_.rename(std::string(kUfsLogNewName), std::string(kUfsLogName));
  }
  if (!result) {
    (void)co_await (*file)->close();
    (void)co_await engine_.unlink(std::string(kUfsLogNewName));
    co_return result;
  }
  if (clean) (void)co_await (*file)->close();
  file_ = clean ? nullptr : std::move(*file);
  end_bytes_ = offset;
  record_count_ += records.size();
  co_return Result<void>();
}

void UfsSwapLog::note(const UfsLogRecord& record) {
  append_ufs_log_record(record, pending_);
  ++record_count_;
}

Task<void> UfsSwapLog::flush() {
  while (!busy_ && pending_.size() >= kFlushSize) {
    const std::vector<std::byte> chunk = std::move(pending_);
    pending_.clear();
    if (file_ == nullptr) {
      ++write_errors_;
      break;
    }
    busy_ = true;
    const Result<void> written = co_await file_->write(end_bytes_, chunk);
    busy_ = false;
    if (written) {
      end_bytes_ += chunk.size();
    } else {
      ++write_errors_;  // the next records overwrite what this has left
    }
  }
  co_return Result<void>();
}

bool UfsSwapLog::overgrown(uint64_t objects) const {
  return record_count_ > 2 * objects + kOvergrownRecords;
}

}  // namespace storage
