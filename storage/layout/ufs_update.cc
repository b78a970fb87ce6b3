#include "storage/layout/ufs_update.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "storage/layout/ufs_object.h"
#include "storage/layout/ufs_reader.h"
#include "storage/layout/ufs_writer.h"

namespace storage {

namespace {

// Writes the slot that is not in use. kTooLarge where the metadata does not fit into it.
Task<void> write_slot(std::shared_ptr<UfsStore> store, UfsLogRecord object, const Key& key,
                      Metadata metadata) {
  Result<std::unique_ptr<File>> file =
      co_await store->engine().open(store->object_path(object.sequence), OpenMode::kReadWrite);
  if (!file) co_return file.error();
  const Result<UfsHead> head = co_await read_ufs_head(**file, store->buffers(), object.sequence);
  if (!head) co_return head.error();
  if (head->key != key.text()) {
    ++store->counts().collisions;
    co_return Error(Errc::kNotFound);
  }
  const UfsHeader& header = head->header;
  if (metadata.size() > header.slot_capacity_bytes) co_return Error(Errc::kTooLarge);
  std::vector<std::byte> bytes(header.slot_size_bytes());
  encode_ufs_slot(header, head->metadata.generation + 1, metadata.bytes(), bytes);
  const unsigned slot = 1 - head->metadata.slot;
  const Result<void> written = co_await (*file)->write(header.slot_offset(slot), bytes);
  if (!written) co_return written;
  co_return co_await (*file)->close();
}

// Copies the object with its new metadata to a new file.
Task<void> rewrite(std::shared_ptr<UfsStore> store, Key key, Metadata metadata) {
  Result<std::unique_ptr<UfsReader>> reader = co_await open_ufs_object(store, key);
  if (!reader) co_return reader.error();
  const uint64_t body_size = (*reader)->body_size_bytes();
  Result<std::unique_ptr<Writer>> writer = co_await create_ufs_object(
      store, std::move(key), std::move(metadata), body_size, (*reader)->sequence());
  if (!writer) co_return writer.error();
  for (uint64_t offset = 0; offset < body_size;) {
    // A copy of one piece at a time: no operation holds two buffers while it waits for a third.
    std::vector<std::byte> bytes;
    {
      const Result<Piece> piece = co_await (*reader)->read(offset, kUfsBlockSizeMax);
      if (!piece) co_return piece.error();
      if (piece->empty()) co_return Error(Errc::kCorrupt);
      bytes.assign(piece->bytes().begin(), piece->bytes().end());
    }
    offset += bytes.size();
    for (std::span<const std::byte> rest(bytes); !rest.empty();) {
      Result<Space> space = co_await (*writer)->reserve(rest.size());
      if (!space) co_return space.error();
      const size_t copied = std::min(space->size(), rest.size());
      std::ranges::copy(rest.first(copied), space->bytes().begin());
      const Result<void> appended = (*writer)->append(std::move(*space), copied);
      if (!appended) co_return appended;
      rest = rest.subspan(copied);
    }
  }
  co_return co_await (*writer)->commit();
}

// Keeps a second update of the same file from writing its slots meanwhile.
class SlotClaim {
 public:
  SlotClaim(std::shared_ptr<UfsStore> store, uint64_t sequence)
      : store_(std::move(store)), sequence_(sequence), owned_(store_->claim_slots(sequence)) {}
  ~SlotClaim() {
    if (owned_) store_->release_slots(sequence_);
  }
  SlotClaim(const SlotClaim&) = delete;
  SlotClaim& operator=(const SlotClaim&) = delete;
  bool owned() const { return owned_; }

 private:
  std::shared_ptr<UfsStore> store_;
  uint64_t sequence_;
  bool owned_;
};

}  // namespace

Task<void> update_ufs_object(std::shared_ptr<UfsStore> store, Key key, Metadata metadata) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const UfsStore::Operation operation(store);
  if (metadata.size() > Metadata::kSizeMax) co_return Error(Errc::kTooLarge);
  const std::optional<UfsLogRecord> object = store->index().find(key.hash());
  if (!object) co_return Error(Errc::kNotFound);
  {
    const SlotClaim claim(store, object->sequence);
    if (claim.owned()) {
      const Result<void> written = co_await write_slot(store, *object, key, metadata);
      if (written) {
        ++store->counts().updates_in_place;
        store->index().touch(key.hash());
        co_return written;
      }
      // A read error may pass; a write error leaves the old metadata. Damage is another matter.
      if (written.error().code == Errc::kCorrupt) {
        (void)co_await store->drop(*object, Errc::kCorrupt);
        co_return Error(Errc::kNotFound);
      }
      if (written.error().code != Errc::kTooLarge) co_return written;
    }
  }
  const Result<void> rewritten = co_await rewrite(store, std::move(key), std::move(metadata));
  if (rewritten) ++store->counts().updates_rewritten;
  co_return rewritten;
}

}  // namespace storage
