#include "storage/layout/rock_head.h"

#include <algorithm>
#include <span>
#include <utility>

namespace storage {

namespace {

// How many of the slots at the beginning of `slots` lie side by side, at most `count_max`.
uint32_t side_by_side(std::span<const uint32_t> slots, uint32_t count_max) {
  uint32_t count = 1;
  while (count < slots.size() && count < count_max && slots[count] == slots[0] + count) ++count;
  return count;
}

// Where the body part's bytes from slot `index` on stand in the body.
uint64_t body_offset(const RockGeometry& geometry, const RockObject& object, uint32_t index) {
  return object.body_part_offset() + uint64_t{index} * geometry.payload_max_bytes();
}

// The payload of a slot that has to be the given one of a part; empty where it is not.
std::span<const std::byte> verified(const RockGeometry& geometry, const RockHead& head,
                                    RockPart part, uint32_t index,
                                    std::span<const std::byte> bytes) {
  const bool in_head = part == RockPart::kHead;
  const std::span<const uint32_t> chain = in_head ? head.chain.head() : head.chain.body();
  const uint64_t part_size = in_head ? head.object.head_size_bytes()
                                     : head.object.body_size_bytes - head.object.body_part_offset();
  const Result<RockSlot> slot = decode_rock_slot(geometry, chain[index], bytes);
  const bool right =
      slot && slot->part == part && slot->hash == head.version.hash && slot->index == index &&
      slot->generation == (in_head ? head.version.generation : head.object.body_generation) &&
      slot->payload_size_bytes == rock_payload_size(geometry, part_size, index) &&
      // A writer may have set aside one slot more than it needed.
      (index + 1 == chain.size() || slot->next == chain[index + 1]);
  if (!right) return {};
  return bytes.subspan(kRockHeaderSize, slot->payload_size_bytes);
}

// Whether the chain in memory is the one that the first slot tells of.
bool agrees(const RockGeometry& geometry, const RockObject& object, const RockChain& chain) {
  return object.head_slot_count(geometry) == chain.head_count &&
         object.slot_count(geometry) == chain.slots.size() &&
         object.first_body_slot == chain.first_body_slot();
}

// Those slots of the body part that `bytes`, which are the slots from `first` on, hold.
Result<std::vector<RockSegment>> body_segments(const RockGeometry& geometry, const RockHead& head,
                                               uint32_t first, const Piece& bytes) {
  std::vector<RockSegment> segments;
  const size_t slot_size = geometry.slot_size_bytes;
  for (size_t at = 0; at < bytes.size(); at += slot_size, ++first) {
    const std::span<const std::byte> slot =
        bytes.bytes().subspan(at, std::min(slot_size, bytes.size() - at));
    const auto payload = verified(geometry, head, RockPart::kBody, first, slot);
    if (payload.empty()) return Error(Errc::kCorrupt);
    segments.emplace_back(body_offset(geometry, head.object, first),
                          bytes.share(at + kRockHeaderSize, payload.size()));
  }
  return segments;
}

// `count` slots from `first` on; fewer bytes where the file ends.
Task<Piece> read_run(RockStore& store, uint32_t first, uint32_t count) {
  const size_t size = size_t{count} * store.geometry().slot_size_bytes;
  const Result<Space> buffer = co_await store.lend_buffer(size);
  if (!buffer) co_return buffer.error();
  const Result<size_t> got = co_await store.read_slots(first, buffer->bytes().first(size));
  if (!got) co_return got.error();
  co_return buffer->share(*got);
}

// Checks the key, and takes metadata and what there is of the body from the payload of the head
// part. `owner` keeps the payload alive where it is not copied.
Result<void> take_payload(RockStore& store, const Key& key, std::span<const std::byte> payload,
                          RockHead& head) {
  const RockObject& object = head.object;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()), payload.size());
  if (text.substr(0, object.key_length_bytes) != key.text()) {
    ++store.counts().collisions;
    return Error(Errc::kNotFound);
  }
  head.metadata =
      Metadata(std::string(text.substr(object.key_length_bytes, object.metadata_length_bytes)));
  return {};
}

// All payload of a head part of several slots, of which the first has been read.
Task<std::vector<std::byte>> gather(RockStore& store, const RockHead& head, Piece first) {
  std::vector<std::byte> payload;
  payload.reserve(head.object.head_size_bytes());
  const RockGeometry geometry = store.geometry();
  for (uint32_t index = 0; index < head.chain.head_count; ++index) {
    if (index > 0) {
      first = Piece();  // back to the pool before another one is asked for
      Result<Piece> next = co_await read_run(store, head.chain.slots[index], 1);
      if (!next) co_return next.error();
      first = std::move(*next);
    }
    const std::span<const std::byte> bytes =
        first.bytes().first(std::min<size_t>(first.size(), geometry.slot_size_bytes));
    const auto part = verified(geometry, head, RockPart::kHead, index, bytes);
    if (part.size() != rock_payload_size(geometry, head.object.head_size_bytes(), index)) {
      co_return Error(Errc::kCorrupt);
    }
    payload.insert(payload.end(), part.begin(), part.end());
  }
  co_return payload;
}

}  // namespace

Task<RockHead> read_rock_head(std::shared_ptr<RockStore> store, const Key& key,
                              RockVersion version) {
  RockHead head;
  head.version = version;
  head.chain = store->slots().chain(version.head_slot);
  const RockGeometry geometry = store->geometry();
  const size_t slot_size = geometry.slot_size_bytes;
  const uint32_t run = side_by_side(head.chain.slots, store->slots_in_buffer());
  Result<Piece> first = co_await read_run(*store, version.head_slot, run);
  if (!first) co_return first.error();
  const auto first_slot = first->bytes().first(std::min(slot_size, first->size()));
  const Result<RockSlot> slot = decode_rock_slot(geometry, version.head_slot, first_slot);
  if (!slot || !slot->starts_object()) co_return Error(Errc::kCorrupt);
  head.object = slot->object;
  if (!agrees(geometry, head.object, head.chain)) co_return Error(Errc::kCorrupt);
  const bool one_slot = head.chain.head_count == 1;
  const size_t prefix_begin = head.object.key_length_bytes + head.object.metadata_length_bytes;
  const size_t prefix_size = head.object.prefix_length_bytes;
  if (one_slot) {
    const auto payload = verified(geometry, head, RockPart::kHead, 0, first_slot);
    if (payload.size() != head.object.head_size_bytes()) co_return Error(Errc::kCorrupt);
    const Result<void> taken = take_payload(*store, key, payload, head);
    if (!taken) co_return taken.error();
    if (prefix_size > 0) {
      head.segments.emplace_back(0, first->share(kRockHeaderSize + prefix_begin, prefix_size));
    }
    if (run == 1) co_return head;
    if (first->size() <= slot_size) co_return Error(Errc::kCorrupt);
    const Piece rest = first->share(slot_size, first->size() - slot_size);
    Result<std::vector<RockSegment>> body = body_segments(geometry, head, 0, rest);
    if (!body) co_return body.error();
    std::ranges::move(*body, std::back_inserter(head.segments));
    co_return head;
  }
  Result<std::vector<std::byte>> payload = co_await gather(*store, head, std::move(*first));
  if (!payload) co_return payload.error();
  const Result<void> taken = take_payload(*store, key, *payload, head);
  if (!taken) co_return taken.error();
  if (prefix_size > 0) {
    const auto owned = std::make_shared<std::vector<std::byte>>(std::move(*payload));
    const auto prefix = std::span<const std::byte>(*owned).subspan(prefix_begin, prefix_size);
    head.segments.emplace_back(0, Piece(prefix, owned));
  }
  co_return head;
}

Task<std::vector<RockSegment>> read_rock_body(std::shared_ptr<RockStore> store,
                                              const RockHead& head, uint32_t first,
                                              uint32_t count_max) {
  const std::span<const uint32_t> rest = head.chain.body().subspan(first);
  const uint32_t run = side_by_side(rest, std::min(count_max, store->slots_in_buffer()));
  const Result<Piece> bytes = co_await read_run(*store, rest.front(), run);
  if (!bytes) co_return bytes.error();
  if (bytes->empty()) co_return Error(Errc::kCorrupt);  // the file ends before
  co_return body_segments(store->geometry(), head, first, *bytes);
}

}  // namespace storage
