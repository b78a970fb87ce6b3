#include "storage/layout/ufs_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "storage/base/guarded_task.h"

namespace storage {

namespace {

// How often an object may be replaced between looking it up and opening its file.
constexpr int kOpenAttempts = 8;

// Everything that is verified before a Reader exists; kNotFound where the key is another one.
Task<std::unique_ptr<UfsReader>> read_object(std::shared_ptr<UfsStore> store, UfsLogRecord object,
                                             const Key& key, std::unique_ptr<File> file) {
  Result<UfsHead> head = co_await read_ufs_head(*file, store->buffers(), object.sequence);
  if (!head) co_return head.error();
  if (head->key != key.text()) {
    ++store->counts().collisions;
    co_return Error(Errc::kNotFound);
  }
  if (head->header.file_size_bytes() != object.file_size_bytes) co_return Error(Errc::kCorrupt);
  Result<std::vector<uint64_t>> checksums = co_await read_ufs_trailer(*file, *head);
  if (!checksums) co_return checksums.error();
  if (!verify_ufs_blocks(head->header, *checksums, 0, ufs_body_in_head(*head))) {
    co_return Error(Errc::kCorrupt);
  }
  if (head->complete()) {
    (void)co_await file->close();
    file.reset();
  }
  co_return std::make_unique<UfsReader>(std::move(store), object, std::move(file), std::move(*head),
                                        std::move(*checksums));
}

}  // namespace

std::span<const std::byte> ufs_body_in_head(const UfsHead& head) {
  const UfsHeader& header = head.header;
  if (head.first_size_bytes <= header.body_offset()) return {};
  const auto body = head.first_bytes().subspan(header.body_offset());
  if (body.size() >= header.body_size_bytes) return body.first(header.body_size_bytes);
  return body.first(body.size() / header.block_size_bytes * header.block_size_bytes);
}

UfsReader::UfsReader(std::shared_ptr<UfsStore> store, const UfsLogRecord& object,
                     std::unique_ptr<File> file, UfsHead head, std::vector<uint64_t> checksums)
    : store_(std::move(store)),
      object_(object),
      file_(std::move(file)),
      header_(head.header),
      metadata_(std::string(head.metadata.bytes)),
      checksums_(std::move(checksums)),
      window_(ufs_body_in_head(head), head.first.owner()) {
  // A buffer that holds nothing of use goes back to the pool.
  if (window_.empty()) window_ = Piece();
}

Task<Piece> UfsReader::read(uint64_t offset_bytes, size_t size_bytes_max) {
  return guarded(read_now(offset_bytes, size_bytes_max));
}

Task<Piece> UfsReader::read_now(uint64_t offset_bytes, size_t size_bytes_max) {
  if (!store_->running()) co_return Error(Errc::kStopped);
  if (failure_.code != Errc::kNone) co_return failure_;
  if (offset_bytes >= header_.body_size_bytes || size_bytes_max == 0) co_return Piece();
  const bool in_window =
      offset_bytes >= window_offset_bytes_ && offset_bytes - window_offset_bytes_ < window_.size();
  if (!in_window) {
    const UfsStore::Operation operation(store_);
    const Result<void> loaded = co_await load(offset_bytes, size_bytes_max);
    if (!loaded) {
      const Errc code = loaded.error().code;
      if (code == Errc::kCorrupt || code == Errc::kIo) {
        failure_ = loaded.error();
        (void)co_await store_->drop(object_, code);
      }
      co_return loaded.error();
    }
  }
  co_return lend(offset_bytes, size_bytes_max);
}

Task<void> UfsReader::load(uint64_t offset_bytes, size_t size_bytes_max) {
  window_ = Piece();  // back to the pool before another one is asked for
  const uint64_t block_size = header_.block_size_bytes;
  Result<Space> buffer = co_await lend_ufs_buffer(store_->buffers(), block_size);
  if (!buffer) co_return buffer.error();
  const uint64_t first_block = offset_bytes / block_size;
  const uint64_t begin = first_block * block_size;
  // As many whole blocks as the caller can use and the buffer can hold.
  const uint64_t useful = offset_bytes - begin + size_bytes_max + block_size - 1;
  const uint64_t blocks = std::min<uint64_t>(useful, buffer->size()) / block_size;
  const uint64_t length = std::min(blocks * block_size, header_.body_size_bytes - begin);
  const std::span<std::byte> bytes = buffer->bytes().first(length);
  const Result<size_t> got = co_await file_->read(header_.body_offset() + begin, bytes);
  if (!got) co_return got.error();
  if (*got < length || !verify_ufs_blocks(header_, checksums_, first_block, bytes)) {
    co_return Error(Errc::kCorrupt);
  }
  window_ = buffer->share(length);
  window_offset_bytes_ = begin;
  co_return Result<void>();
}

Piece UfsReader::lend(uint64_t offset_bytes, size_t size_bytes_max) const {
  const size_t offset = offset_bytes - window_offset_bytes_;
  return window_.share(offset, std::min(size_bytes_max, window_.size() - offset));
}

Task<std::unique_ptr<UfsReader>> open_ufs_object(std::shared_ptr<UfsStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const UfsStore::Operation operation(store);
  for (int attempt = 0; attempt < kOpenAttempts; ++attempt) {
    const std::optional<UfsLogRecord> object = store->index().find(key.hash());
    if (!object) co_return Error(Errc::kNotFound);
    Result<std::unique_ptr<File>> file =
        co_await store->engine().open(store->object_path(object->sequence), OpenMode::kRead);
    if (!file && file.error().code == Errc::kNotFound) {
      // Either it was replaced or removed just now, or the file has gone: then drop() says so and
      // the next look into the index finds nothing.
      (void)co_await store->drop(*object, Errc::kNotFound);
      continue;
    }
    if (!file && file.error().code == Errc::kCorrupt) {
      (void)co_await store->drop(*object, Errc::kCorrupt);
      co_return Error(Errc::kNotFound);
    }
    if (!file) co_return file.error();
    Result<std::unique_ptr<UfsReader>> reader =
        co_await read_object(store, *object, key, std::move(*file));
    if (reader) {
      store->index().touch(key.hash());
      co_return reader;
    }
    const Errc code = reader.error().code;
    if (code == Errc::kCorrupt || code == Errc::kIo) (void)co_await store->drop(*object, code);
    if (code == Errc::kCorrupt) co_return Error(Errc::kNotFound);
    co_return reader.error();
  }
  co_return Error(Errc::kNotFound);
}

}  // namespace storage
