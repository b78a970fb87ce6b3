// An object on its way into a rock store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/layout/rock_store.h"
#include "storage/scheme.h"

namespace storage {

/// Slots that have been taken and belong to no object yet. They go back when it is destroyed.
class RockTakenSlots {
 public:
  explicit RockTakenSlots(std::shared_ptr<RockStore> store) : store_(std::move(store)) {}
  ~RockTakenSlots() { give_back(); }
  RockTakenSlots(const RockTakenSlots&) = delete;
  RockTakenSlots& operator=(const RockTakenSlots&) = delete;

  std::vector<uint32_t>& head() { return head_; }
  std::vector<uint32_t>& body() { return body_; }
  uint64_t count() const { return head_.size() + body_.size(); }
  /// Takes slots until there are so many for the head part.
  Task<void> take_head(size_t count);
  Task<void> take_body();
  void give_back_last_body();
  void give_back();
  /// They belong to a version from now on.
  void forget();

 private:
  std::shared_ptr<RockStore> store_;
  std::vector<uint32_t> head_;
  std::vector<uint32_t> body_;
};

/// Writes the head part of an object to `head`, slots that have been linked to its body part: the
/// first slot, which makes it an object, last. `prefix` is what the head part holds of the body and
/// lives until the end. Nothing is published. After a failure the first slot may be on the disk all
/// the same: the version has to be retired.
Task<void> write_rock_head(std::shared_ptr<RockStore> store, RockVersion version, RockObject object,
                           const Key& key, Metadata metadata, std::span<const std::byte> prefix,
                           std::span<const uint32_t> head);

/// Payload bytes that remain for the body in a head part of as few slots as key and metadata need.
uint32_t rock_prefix_max(const RockGeometry& geometry, const RockObject& object);

/// Fills slot by slot; a slot is written when it is full and more is to come, the first one last.
/// Destroying it gives all slots back.
class RockWriter final : public Writer {
 public:
  /// `claimed_slots` have been claimed for it, and it has been entered as a writer.
  RockWriter(std::shared_ptr<RockStore> store, Key key, Metadata metadata,
             std::optional<uint64_t> body_size_bytes, uint64_t claimed_slots);
  ~RockWriter() override;

  Task<Space> reserve(size_t size_hint_bytes) override;
  Result<void> append(Space space, size_t used_bytes) override;
  Task<void> commit() override;

 private:
  enum class State { kOpen, kFailed, kCommitted };

  Error closed_error() const;
  Task<Space> reserve_now();
  Task<void> commit_now();
  Task<void> publish();
  Task<void> take_head_slots();
  Task<void> begin_body_slot();
  Task<void> write_body_slot(uint32_t next);
  bool in_prefix() const { return object_.prefix_length_bytes < prefix_.size(); }
  std::span<std::byte> rest() const;
  void give_up();

  std::shared_ptr<RockStore> store_;
  const Key key_;
  const Metadata metadata_;
  const std::optional<uint64_t> declared_size_bytes_;
  const uint64_t body_generation_;
  const uint64_t claimed_slots_;
  RockObject object_;  // grows with what is appended
  RockTakenSlots slots_;
  Space prefix_;  // the first bytes of the body, on the heap
  Space tail_;    // the slot of the body part that is being filled, its header included
  uint32_t tail_used_bytes_ = 0;  // of its payload
  State state_ = State::kOpen;
};

/// StorageScheme::create of this layout.
Task<std::unique_ptr<Writer>> create_rock_object(std::shared_ptr<RockStore> store, Key key,
                                                 Metadata metadata,
                                                 std::optional<uint64_t> body_size_bytes);

}  // namespace storage
