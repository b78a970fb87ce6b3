#include "storage/layout/coss_writer.h"

#include <utility>

#include "storage/base/guarded_task.h"

namespace storage {

namespace {

// How long a finished object waits for a stripe to be written.
constexpr std::chrono::seconds kRoomWaitMax{10};

CossRecord sizes_of(const Key& key, const Metadata& metadata, uint64_t body_size_bytes) {
  CossRecord record;
  record.key_length_bytes = static_cast<uint32_t>(key.text().size());
  record.metadata_length_bytes = static_cast<uint32_t>(metadata.size());
  record.body_size_bytes = body_size_bytes;
  return record;
}

bool too_large(const CossStore& store, const Key& key, const Metadata& metadata,
               uint64_t body_size_bytes) {
  return key.text().size() > Key::kLengthMax || metadata.size() > Metadata::kSizeMax ||
         body_size_bytes > store.options().object_size_bytes_max ||
         sizes_of(key, metadata, body_size_bytes).size_bytes() >
             coss_record_size_max(store.options().stripe_size_bytes);
}

}  // namespace

CossRecord CossRecordSource::record() const {
  return sizes_of(*key, metadata, body_size_bytes);
}

Result<void> try_write_coss_record(CossStore& store, const CossRecordSource& source) {
  if (too_large(store, *source.key, source.metadata, source.body_size_bytes)) {
    return Error(Errc::kTooLarge);
  }
  // Before the placing, which may retire the stripe that it lies in.
  if (source.replaces && !store.current(source.key->hash(), *source.replaces)) {
    return Error(Errc::kNotFound);
  }
  const CossRecord record = source.record();
  const Result<CossLog::Place> place =
      store.log().try_place(static_cast<uint32_t>(record.size_bytes()));
  if (!place) return place.error();
  source.copy_body(place->bytes.subspan(record.body_offset()));
  encode_coss_head(source.key->text(), source.metadata.bytes(), place->seed, record, place->bytes);
  store.log().publish(*place, source.key->hash());
  if (source.relocation) {
    ++store.counts().relocated;
    store.counts().relocated_bytes += record.size_bytes();
  } else {
    store.counts().accepted_bytes += record.size_bytes();
  }
  return {};
}

Task<void> write_coss_record(std::shared_ptr<CossStore> store, CossRecordSource source) {
  const auto deadline = boost::asio::steady_timer::clock_type::now() + kRoomWaitMax;
  while (true) {
    const Result<void> written = try_write_coss_record(*store, source);
    if (written || written.error().code != Errc::kOverloaded) co_return written;
    const Result<void> waited = co_await store->wait_for_room(deadline);
    if (!waited && waited.error().code == Errc::kOverloaded) {
      co_return store->decline_for_room();
    }
    if (!waited) co_return waited;
    if (!store->running()) co_return Error(Errc::kStopped);
  }
}

CossWriter::CossWriter(std::shared_ptr<CossStore> store, Key key, Metadata metadata,
                       std::optional<uint64_t> body_size_bytes)
    : store_(std::move(store)),
      key_(std::move(key)),
      metadata_(std::move(metadata)),
      declared_size_bytes_(body_size_bytes),
      draft_(body_size_bytes, store_->draft_bytes(), store_->draft_bytes_max()) {}

Error CossWriter::closed_error() const {
  return store_->running() ? Errc::kAborted : Errc::kStopped;
}

Task<Space> CossWriter::reserve(size_t size_hint_bytes) {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  Result<Space> space = draft_.reserve(size_hint_bytes);
  if (!space) ++store_->counts().declined_drafts;
  co_return space;
}

Result<void> CossWriter::append(Space space, size_t used_bytes) {
  if (state_ != State::kOpen || !store_->running()) return closed_error();
  Result<void> appended = draft_.append(space, used_bytes);
  if (appended && too_large(*store_, key_, metadata_, draft_.size_bytes())) {
    appended = Error(Errc::kTooLarge);
  }
  if (!appended) {
    state_ = State::kFailed;
    draft_.clear();
  }
  return appended;
}

Task<void> CossWriter::commit() {
  return guarded(commit_now());
}

Task<void> CossWriter::commit_now() {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  const CossStore::Operation operation(store_);
  state_ = State::kFailed;
  if (declared_size_bytes_ && *declared_size_bytes_ != draft_.size_bytes()) {
    draft_.clear();
    co_return Error(Errc::kAborted);
  }
  CossRecordSource source;
  source.key = &key_;
  source.metadata = metadata_;
  source.body_size_bytes = draft_.size_bytes();
  source.copy_body = [this](std::span<std::byte> out) { draft_.copy_to(out); };
  const Result<void> written = co_await write_coss_record(store_, std::move(source));
  draft_.clear();
  if (!written) co_return written;
  state_ = State::kCommitted;
  co_return written;
}

Result<std::unique_ptr<Writer>> create_coss_object(std::shared_ptr<CossStore> store, Key key,
                                                   Metadata metadata,
                                                   std::optional<uint64_t> body_size_bytes) {
  if (!store->running()) return Error(Errc::kStopped);
  const uint64_t body_size = body_size_bytes.value_or(0);
  if (too_large(*store, key, metadata, body_size)) return Error(Errc::kTooLarge);
  const auto size = static_cast<uint32_t>(sizes_of(key, metadata, body_size).size_bytes());
  if (store->engine().overloaded()) {
    ++store->counts().declined_engine;
    return Error(Errc::kOverloaded);
  }
  if (!store->log().can_accept(size)) return store->decline_for_room();
  if (store->draft_bytes()->load() + body_size > store->draft_bytes_max()) {
    ++store->counts().declined_drafts;
    return Error(Errc::kOverloaded);
  }
  return std::unique_ptr<Writer>(
      new CossWriter(std::move(store), std::move(key), std::move(metadata), body_size_bytes));
}

}  // namespace storage
