#include "storage/layout/rock_writer.h"

#include <algorithm>
#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/base/text_bytes.h"
#include "storage/layout/aligned_buffer.h"

namespace storage {

namespace {

Space make_heap_buffer(size_t size_bytes) {
  std::shared_ptr<std::byte[]> bytes = std::make_shared_for_overwrite<std::byte[]>(size_bytes);
  const std::span<std::byte> whole(bytes.get(), size_bytes);
  return Space(whole, std::move(bytes));
}

// Copies bytes from `begin` on of `parts`, one behind the other, until `out` is full.
void copy_from(std::span<const std::span<const std::byte>> parts, size_t begin,
               std::span<std::byte> out) {
  for (const std::span<const std::byte> part : parts) {
    if (begin >= part.size()) {
      begin -= part.size();
      continue;
    }
    const auto piece = part.subspan(begin, std::min(part.size() - begin, out.size()));
    std::ranges::copy(piece, out.begin());
    out = out.subspan(piece.size());
    begin = 0;
  }
}

RockObject empty_object(const Key& key, const Metadata& metadata) {
  RockObject object;
  object.key_length_bytes = static_cast<uint32_t>(key.text().size());
  object.metadata_length_bytes = static_cast<uint32_t>(metadata.size());
  return object;
}

// Slots of an object of that size.
uint64_t slots_needed(const RockGeometry& geometry, RockObject object, uint64_t body_size_bytes) {
  const uint64_t unit = geometry.payload_max_bytes();
  const uint64_t prefix_max = rock_prefix_max(geometry, object);
  const uint64_t rest = body_size_bytes - std::min(body_size_bytes, prefix_max);
  return object.head_slot_count(geometry) + (rest + unit - 1) / unit;
}

}  // namespace

Task<void> RockTakenSlots::take_head(size_t count) {
  while (head_.size() < count) {
    const Result<uint32_t> slot = co_await store_->take_slot();
    if (!slot) co_return slot.error();
    head_.push_back(*slot);
  }
  co_return Result<void>();
}

Task<void> RockTakenSlots::take_body() {
  const Result<uint32_t> slot = co_await store_->take_slot();
  if (!slot) co_return slot.error();
  body_.push_back(*slot);
  co_return Result<void>();
}

void RockTakenSlots::give_back_last_body() {
  store_->slots().give_back(body_.back());
  body_.pop_back();
}

void RockTakenSlots::give_back() {
  if (head_.empty() && body_.empty()) return;
  while (!body_.empty()) give_back_last_body();
  for (const uint32_t slot : head_) store_->slots().give_back(slot);
  head_.clear();
  store_->notify();
}

void RockTakenSlots::forget() {
  head_.clear();
  body_.clear();
}

uint32_t rock_prefix_max(const RockGeometry& geometry, const RockObject& object) {
  RockObject bare = object;
  bare.prefix_length_bytes = 0;
  const uint64_t held = uint64_t{bare.head_slot_count(geometry)} * geometry.payload_max_bytes();
  return static_cast<uint32_t>(held - bare.head_size_bytes());
}

Task<void> write_rock_head(std::shared_ptr<RockStore> store, RockVersion version, RockObject object,
                           const Key& key, Metadata metadata, std::span<const std::byte> prefix,
                           std::span<const uint32_t> head) {
  const RockGeometry geometry = store->geometry();
  const std::span<const std::byte> parts[] = {as_bytes_of(key.text()),
                                              as_bytes_of(metadata.bytes()), prefix};
  const Space buffer = make_aligned_buffer(geometry.slot_size_bytes);
  for (auto index = static_cast<uint32_t>(head.size()); index-- > 0;) {
    RockSlot slot;
    slot.part = RockPart::kHead;
    slot.hash = version.hash;
    slot.generation = version.generation;
    slot.index = index;
    slot.next = index + 1 < head.size() ? head[index + 1] : kRockNoSlot;
    slot.payload_size_bytes = rock_payload_size(geometry, object.head_size_bytes(), index);
    if (index == 0) slot.object = object;
    copy_from(parts, size_t{index} * geometry.payload_max_bytes(),
              buffer.bytes().subspan(kRockHeaderSize, slot.payload_size_bytes));
    const Result<void> written = co_await store->write_slot(head[index], slot, buffer.bytes());
    if (!written) co_return written;
  }
  co_return Result<void>();
}

RockWriter::RockWriter(std::shared_ptr<RockStore> store, Key key, Metadata metadata,
                       std::optional<uint64_t> body_size_bytes, uint64_t claimed_slots)
    : store_(std::move(store)),
      key_(std::move(key)),
      metadata_(std::move(metadata)),
      declared_size_bytes_(body_size_bytes),
      body_generation_(store_->take_generation()),
      claimed_slots_(claimed_slots),
      object_(empty_object(key_, metadata_)),
      slots_(store_) {
  // One byte more than was announced, so that who asks for room to find the end of the body needs
  // no slot for that.
  const uint64_t prefix_max = rock_prefix_max(store_->geometry(), object_);
  const uint64_t wanted = declared_size_bytes_ ? *declared_size_bytes_ + 1 : prefix_max;
  prefix_ = make_heap_buffer(std::min(prefix_max, wanted));
}

RockWriter::~RockWriter() {
  store_->leave_writer();
  store_->give_up_claim(claimed_slots_);
}

Error RockWriter::closed_error() const {
  return store_->running() ? Errc::kAborted : Errc::kStopped;
}

Task<Space> RockWriter::reserve(size_t) {
  return guarded(reserve_now());
}

Task<void> RockWriter::commit() {
  return guarded(commit_now());
}

std::span<std::byte> RockWriter::rest() const {
  if (in_prefix()) return prefix_.bytes().subspan(object_.prefix_length_bytes);
  if (tail_.size() == 0) return {};
  const size_t payload_max = store_->geometry().payload_max_bytes();
  return tail_.bytes().subspan(kRockHeaderSize, payload_max).subspan(tail_used_bytes_);
}

Task<Space> RockWriter::reserve_now() {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  const RockStore::Operation operation(store_);
  if (rest().empty()) {
    // The first slots early, so that an object lies side by side where there is room for that.
    Result<void> ready = co_await take_head_slots();
    if (ready) ready = co_await begin_body_slot();
    if (!ready) {
      give_up();
      co_return ready.error();
    }
  }
  co_return Space(rest(), in_prefix() ? prefix_.owner() : tail_.owner());
}

Result<void> RockWriter::append(Space space, size_t used_bytes) {
  if (state_ != State::kOpen || !store_->running()) return closed_error();
  if (space.bytes().data() != rest().data() || used_bytes > space.size()) {
    give_up();  // not from the last reserve() of this Writer
    return Error(Errc::kAborted);
  }
  if (object_.body_size_bytes + used_bytes > store_->options().object_size_bytes_max) {
    give_up();
    return Error(Errc::kTooLarge);
  }
  (in_prefix() ? object_.prefix_length_bytes : tail_used_bytes_) +=
      static_cast<uint32_t>(used_bytes);
  object_.body_size_bytes += used_bytes;
  return {};
}

Task<void> RockWriter::take_head_slots() {
  RockObject bare = object_;
  bare.prefix_length_bytes = 0;
  co_return co_await slots_.take_head(bare.head_slot_count(store_->geometry()));
}

// Goes on in a new slot; writes the full one, which has to name it.
Task<void> RockWriter::begin_body_slot() {
  Result<void> done = co_await slots_.take_body();
  if (done && tail_.size() > 0) done = co_await write_body_slot(slots_.body().back());
  if (!done) co_return done;
  tail_ = Space();  // back to the pool before another one is asked for
  tail_used_bytes_ = 0;
  Result<Space> buffer = co_await store_->lend_buffer(store_->geometry().slot_size_bytes);
  if (!buffer) co_return buffer.error();
  tail_ = std::move(*buffer);
  co_return Result<void>();
}

// The slot before `next`, or the last one where there is none.
Task<void> RockWriter::write_body_slot(uint32_t next) {
  const std::vector<uint32_t>& body = slots_.body();
  RockSlot slot;
  slot.part = RockPart::kBody;
  slot.hash = key_.hash();
  slot.generation = body_generation_;
  slot.index = static_cast<uint32_t>(body.size() - (next == kRockNoSlot ? 1 : 2));
  slot.next = next;
  slot.payload_size_bytes = tail_used_bytes_;
  co_return co_await store_->write_slot(body[slot.index], slot, tail_.bytes());
}

void RockWriter::give_up() {
  state_ = State::kFailed;
  prefix_ = Space();
  tail_ = Space();
  slots_.give_back();
}

Task<void> RockWriter::commit_now() {
  if (state_ != State::kOpen || !store_->running()) co_return closed_error();
  const RockStore::Operation operation(store_);
  Result<void> done;
  if (declared_size_bytes_ && *declared_size_bytes_ != object_.body_size_bytes) {
    done = Error(Errc::kAborted);
  }
  if (done) done = co_await take_head_slots();
  if (done && tail_.size() > 0) {
    if (tail_used_bytes_ > 0) {
      done = co_await write_body_slot(kRockNoSlot);
    } else {
      slots_.give_back_last_body();  // was taken for more that did not come
    }
    tail_ = Space();
  }
  if (done) done = co_await publish();
  if (!done) {
    give_up();
    co_return done;
  }
  state_ = State::kCommitted;
  prefix_ = Space();
  co_return done;
}

Task<void> RockWriter::publish() {
  object_.body_slot_count = static_cast<uint32_t>(slots_.body().size());
  if (object_.body_slot_count > 0) {
    object_.body_generation = body_generation_;
    object_.first_body_slot = slots_.body().front();
  }
  // Generations of one key's versions have to grow in the order in which they are published.
  const Result<KeyTurns::Turn> turn =
      co_await store_->turns().take(store_->index().shortened(key_.hash()));
  if (!turn) co_return turn.error();
  RockVersion version;
  version.hash = key_.hash();
  version.generation = store_->take_generation();
  version.head_slot = slots_.head().front();
  store_->slots().link(slots_.head(), slots_.body());
  const uint64_t slot_count = slots_.count();
  const std::vector<uint32_t> head = slots_.head();
  // From here on they are the version's, whatever happens to this write.
  slots_.forget();
  const auto prefix =
      std::span<const std::byte>(prefix_.bytes()).first(object_.prefix_length_bytes);
  const Result<void> written =
      co_await write_rock_head(store_, version, object_, key_, metadata_, prefix, head);
  if (written) {
    store_->publish(version, slot_count);
  } else {
    store_->retire(version, RockStore::Keep::kNothing);
  }
  co_return written;
}

Task<std::unique_ptr<Writer>> create_rock_object(std::shared_ptr<RockStore> store, Key key,
                                                 Metadata metadata,
                                                 std::optional<uint64_t> body_size_bytes) {
  if (!store->running()) co_return Error(Errc::kStopped);
  if (key.text().size() > Key::kLengthMax || metadata.size() > Metadata::kSizeMax ||
      body_size_bytes.value_or(0) > store->options().object_size_bytes_max) {
    co_return Error(Errc::kTooLarge);
  }
  const Result<void> admitted = store->admit_write();
  if (!admitted) co_return admitted.error();
  const uint64_t claimed =
      slots_needed(store->geometry(), empty_object(key, metadata), body_size_bytes.value_or(0));
  const Result<void> room = store->claim(claimed);
  if (!room) co_return room.error();
  const Result<void> entered = store->enter_writer();
  if (!entered) {
    store->give_up_claim(claimed);
    co_return entered.error();
  }
  co_return std::make_unique<RockWriter>(store, std::move(key), std::move(metadata),
                                         body_size_bytes, claimed);
}

}  // namespace storage
