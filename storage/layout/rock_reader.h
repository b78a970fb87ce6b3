// Open objects of a rock store.
#pragma once

#include <memory>

#include "storage/layout/rock_head.h"
#include "storage/layout/rock_store.h"
#include "storage/scheme.h"

namespace storage {

/// One version. Holds what it read last, and the first part of the body on the heap where there is
/// more than that: the head slot is cleared when the object is replaced, the others stay for as
/// long as the Reader lives.
class RockReader final : public Reader {
 public:
  RockReader(std::shared_ptr<RockStore> store, RockHead head, RockStore::Pin body);

  const Metadata& metadata() const override { return head_.metadata; }
  uint64_t body_size_bytes() const override { return head_.object.body_size_bytes; }
  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override;

 private:
  Task<Piece> read_now(uint64_t offset_bytes, size_t size_bytes_max);
  Piece lend(uint64_t offset_bytes, size_t size_bytes_max) const;
  Task<void> load(uint64_t offset_bytes, size_t size_bytes_max);
  void keep_prefix();

  std::shared_ptr<RockStore> store_;
  RockHead head_;
  Piece prefix_;  // what the head part holds of the body, once the first read's buffer has gone
  RockStore::Pin body_;
  Error failure_;  // why nothing can be read any more
};

/// StorageScheme::open of this layout.
Task<std::unique_ptr<Reader>> open_rock_object(std::shared_ptr<RockStore> store, Key key);

}  // namespace storage
