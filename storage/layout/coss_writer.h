// An object on its way into a coss store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "storage/layout/coss_draft.h"
#include "storage/layout/coss_store.h"
#include "storage/scheme.h"

namespace storage {

/// One record to be written.
struct CossRecordSource {
  const Key* key = nullptr;
  Metadata metadata;
  uint64_t body_size_bytes = 0;
  /// Copies the body to where it is to stand.
  std::function<void(std::span<std::byte>)> copy_body;
  /// Only while this very record is the object.
  std::optional<CossVersion> replaces;
  bool relocation = false;  ///< Counted as one, rather than as accepted from a user.

  CossRecord record() const;
};

/// Writes the record to the stripe that is being filled and publishes it, or says kOverloaded where
/// there is no room at once; kNotFound where it should replace another that is no longer there.
/// Nothing is seen of it before all has been copied.
Result<void> try_write_coss_record(CossStore& store, const CossRecordSource& source);

/// The same, but waits for room, for some seconds at most.
Task<void> write_coss_record(std::shared_ptr<CossStore> store, CossRecordSource source);

/// Collects the body on the heap, and copies it to a membuf when it is complete: slow and broken
/// arrivals neither hold up a stripe nor leave holes in it.
class CossWriter final : public Writer {
 public:
  CossWriter(std::shared_ptr<CossStore> store, Key key, Metadata metadata,
             std::optional<uint64_t> body_size_bytes);

  Task<Space> reserve(size_t size_hint_bytes) override;
  Result<void> append(Space space, size_t used_bytes) override;
  Task<void> commit() override;

 private:
  enum class State { kOpen, kFailed, kCommitted };
  Error closed_error() const;
  Task<void> commit_now();

  std::shared_ptr<CossStore> store_;
  const Key key_;
  const Metadata metadata_;
  const std::optional<uint64_t> declared_size_bytes_;
  CossDraft draft_;
  State state_ = State::kOpen;
};

/// StorageScheme::create of this layout.
Result<std::unique_ptr<Writer>> create_coss_object(std::shared_ptr<CossStore> store, Key key,
                                                   Metadata metadata,
                                                   std::optional<uint64_t> body_size_bytes);

}  // namespace storage
