// An open object of a ufs store.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/layout/ufs_object.h"
#include "storage/layout/ufs_store.h"
#include "storage/scheme.h"

namespace storage {

/// Lends verified bytes of one object file: first from the buffer that opening it has filled, then
/// from one buffer after the other. The open file keeps the version alive.
class UfsReader final : public Reader {
 public:
  /// `file` may be null where the head holds the whole object. The body bytes in `head` have been
  /// verified up to the last whole block.
  UfsReader(std::shared_ptr<UfsStore> store, const UfsLogRecord& object, std::unique_ptr<File> file,
            UfsHead head, std::vector<uint64_t> checksums);

  const Metadata& metadata() const override { return metadata_; }
  uint64_t body_size_bytes() const override { return header_.body_size_bytes; }
  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override;

  /// File number of the version.
  uint64_t sequence() const { return object_.sequence; }

 private:
  Task<Piece> read_now(uint64_t offset_bytes, size_t size_bytes_max);
  Task<void> load(uint64_t offset_bytes, size_t size_bytes_max);
  Piece lend(uint64_t offset_bytes, size_t size_bytes_max) const;

  std::shared_ptr<UfsStore> store_;
  const UfsLogRecord object_;
  std::unique_ptr<File> file_;
  UfsHeader header_;
  Metadata metadata_;
  std::vector<uint64_t> checksums_;
  Error failure_;
  // A verified part of the body.
  Piece window_;
  uint64_t window_offset_bytes_ = 0;
};

/// How much of the body, whole blocks only, is in the head; a body that is there to its end counts
/// whole.
std::span<const std::byte> ufs_body_in_head(const UfsHead& head);

/// StorageScheme::open of this layout.
Task<std::unique_ptr<UfsReader>> open_ufs_object(std::shared_ptr<UfsStore> store, Key key);

}  // namespace storage
