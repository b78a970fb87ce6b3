#include "storage/layout/rock_update.h"

#include <utility>
#include <vector>

#include "storage/layout/rock_head.h"
#include "storage/layout/rock_writer.h"

namespace storage {

namespace {

// With the key's turn, and `version` pinned.
Task<void> rewrite_head(std::shared_ptr<RockStore> store, const Key& key, Metadata metadata,
                        RockVersion version) {
  Result<RockHead> head = co_await read_rock_head(store, key, version);
  if (!head) co_return head.error();
  RockObject object = head->object;
  object.metadata_length_bytes = static_cast<uint32_t>(metadata.size());
  std::vector<std::byte> prefix;
  if (object.prefix_length_bytes > 0) {
    const std::span<const std::byte> bytes = head->segments.front().bytes.bytes();
    prefix.assign(bytes.begin(), bytes.end());
  }
  const std::vector<uint32_t> body(head->chain.body().begin(), head->chain.body().end());
  head = Error(Errc::kNone);  // its buffer goes back to the pool before slots are waited for
  RockTakenSlots taken(store);
  const Result<void> room = co_await taken.take_head(object.head_slot_count(store->geometry()));
  if (!room) co_return room;
  const std::vector<uint32_t> slots = taken.head();
  RockVersion updated = version;
  updated.generation = store->take_generation();
  updated.head_slot = slots.front();
  store->slots().link(slots, body);
  taken.forget();
  const Result<void> written =
      co_await write_rock_head(store, updated, object, key, metadata, prefix, slots);
  if (!written || !store->index().current(version)) {
    // It may be on the disk. Where the object has gone meanwhile, so has its body part.
    store->retire(updated, RockStore::Keep::kBody);
    co_return written ? Error(Errc::kNotFound) : written.error();
  }
  store->publish_update(updated, slots.size() + body.size());
  co_return Result<void>();
}

}  // namespace

Task<void> update_rock_object(std::shared_ptr<RockStore> store, Key key, Metadata metadata) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const RockStore::Operation operation(store);
  if (metadata.size() > Metadata::kSizeMax) co_return Error(Errc::kTooLarge);
  const Result<KeyTurns::Turn> turn =
      co_await store->turns().take(store->index().shortened(key.hash()));
  if (!turn) co_return turn.error();
  const std::optional<RockVersion> version = store->index().find(key.hash());
  if (!version || version->hash != key.hash()) co_return Error(Errc::kNotFound);
  const Result<void> admitted = store->admit_write();
  if (!admitted) co_return admitted;
  // The body part stays, whatever happens to the object while its head is written anew.
  const RockStore::Pin head_pin(store, version->head_slot);
  const RockStore::Pin body_pin(store, store->slots().chain(version->head_slot).first_body_slot());
  const Result<void> updated = co_await rewrite_head(store, key, std::move(metadata), *version);
  if (updated || !store->index().current(*version)) {
    const bool gone = !updated && updated.error().code == Errc::kCorrupt;
    co_return gone ? Error(Errc::kNotFound) : updated;
  }
  const Errc code = updated.error().code;
  if (code != Errc::kCorrupt) co_return updated;
  store->drop(*version, code);
  co_return Error(Errc::kNotFound);
}

}  // namespace storage
