#include "storage/layout/coss_rewrite.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

#include "storage/layout/coss_writer.h"

namespace storage {

namespace {

// Copies the body of an open object, a piece at a time.
Task<std::vector<std::byte>> read_all(CossReader& reader) {
  std::vector<std::byte> body(reader.body_size_bytes());
  for (size_t offset = 0; offset < body.size();) {
    const Result<Piece> piece = co_await reader.read(offset, body.size() - offset);
    if (!piece) co_return piece.error();
    if (piece->empty()) co_return Error(Errc::kCorrupt);
    std::ranges::copy(piece->bytes(), body.begin() + static_cast<ptrdiff_t>(offset));
    offset += piece->size();
  }
  co_return body;
}

// Writes an open object again, for as long as it is the current one.
Task<void> rewrite(std::shared_ptr<CossStore> store, Key key, Metadata metadata, bool relocation,
                   CossReader& reader) {
  const Result<std::vector<std::byte>> body = co_await read_all(reader);
  if (!body) co_return body.error();
  CossRecordSource source;
  source.key = &key;
  source.metadata = std::move(metadata);
  source.body_size_bytes = body->size();
  source.copy_body = [&body](std::span<std::byte> out) { std::ranges::copy(*body, out.begin()); };
  source.replaces = reader.version();
  source.relocation = relocation;
  co_return co_await write_coss_record(std::move(store), std::move(source));
}

bool worth_relocating(CossStore& store, const CossVersion& version, KeyHash hash) {
  const uint32_t stripe = store.index().stripe_of(version.location);
  if (!store.current(hash, version) || store.log().memory(stripe) != nullptr) return false;
  return store.log().stripes_until_overwritten(stripe) * 100 <
         uint64_t{store.geometry().stripe_count} * store.options().overwrite_percent;
}

boost::asio::awaitable<void> relocate_later(std::shared_ptr<CossStore> store, Key key,
                                            CossStore::Operation operation) {
  [[maybe_unused]] const CossStore::Operation running = std::move(operation);
  Result<void> written = Error(Errc::kOverloaded);
  try {
    Result<std::unique_ptr<CossReader>> reader = co_await find_coss_object(store, key);
    written = reader.has_error() ? reader.error() : Result<void>();
    if (reader) {
      Metadata metadata = (*reader)->metadata();
      written = co_await rewrite(store, std::move(key), std::move(metadata), true, **reader);
    }
  } catch (const std::bad_alloc&) {
    written = Error(Errc::kOverloaded);
  }
  if (!written) ++store->counts().relocations_given_up;
  store->end_relocation();
}

}  // namespace

Task<void> update_coss_object(std::shared_ptr<CossStore> store, Key key, Metadata metadata) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const CossStore::Operation operation(store);
  if (metadata.size() > Metadata::kSizeMax) co_return Error(Errc::kTooLarge);
  while (true) {
    Result<std::unique_ptr<CossReader>> reader = co_await find_coss_object(store, key);
    if (!reader) co_return reader.error();
    const Result<void> written = co_await rewrite(store, key, metadata, false, **reader);
    // Moved forward, replaced or removed meanwhile: then the newer one is updated.
    if (written || written.error().code != Errc::kNotFound) co_return written;
  }
}

void relocate_coss_object(std::shared_ptr<CossStore> store, Key key, const CossReader& reader) {
  if (!worth_relocating(*store, reader.version(), key.hash())) return;
  const auto body = reader.whole_body();
  if (!body) {
    if (!store->begin_relocation()) return;
    const auto executor = store->executor();
    CossStore::Operation operation(store);
    boost::asio::co_spawn(executor,
                          relocate_later(std::move(store), std::move(key), std::move(operation)),
                          boost::asio::detached);
    return;
  }
  CossRecordSource source;
  source.key = &key;
  source.metadata = reader.metadata();
  source.body_size_bytes = body->size();
  source.copy_body = [&body](std::span<std::byte> out) { std::ranges::copy(*body, out.begin()); };
  source.replaces = reader.version();
  source.relocation = true;
  if (try_write_coss_record(*store, source).has_error()) ++store->counts().relocations_given_up;
}

}  // namespace storage
