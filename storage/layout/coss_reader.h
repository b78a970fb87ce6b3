// An open object of a coss store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/layout/coss_store.h"
#include "storage/scheme.h"

namespace storage {

/// Lends bytes of a membuf for as long as the object is in one, and verified bytes of one buffer
/// after the other from then on. Its stripe is not overwritten meanwhile, unless the buffer that
/// opening it has filled holds the whole body.
class CossReader final : public Reader {
 public:
  /// What is known of the record when it has been found.
  struct Found {
    KeyHash hash;
    CossVersion version;
    uint64_t seed = 0;
    CossRecord record;
    Metadata metadata;
    std::vector<std::byte> checksums;
    Piece window;  ///< Verified bytes from the beginning of the body.
  };

  CossReader(std::shared_ptr<CossStore> store, Found found, CossStore::Pin pin);

  const Metadata& metadata() const override { return found_.metadata; }
  uint64_t body_size_bytes() const override { return found_.record.body_size_bytes; }
  bool in_memory() const override;
  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override;

  const CossVersion& version() const { return found_.version; }
  /// The whole body, where reading it needs no waiting.
  std::optional<std::span<const std::byte>> whole_body() const;

 private:
  uint32_t stripe() const { return store_->index().stripe_of(found_.version.location); }
  std::span<const std::byte> body_in_memory() const;
  Task<Piece> read_now(uint64_t offset_bytes, size_t size_bytes_max);
  Task<Piece> lend_memory(uint64_t offset_bytes, size_t size_bytes_max);
  Task<void> load(uint64_t offset_bytes, size_t size_bytes_max);

  std::shared_ptr<CossStore> store_;
  Found found_;
  CossStore::Pin pin_;
  uint64_t window_offset_bytes_ = 0;
  Error failure_;
};

/// The object, whatever is to become of it.
Task<std::unique_ptr<CossReader>> find_coss_object(std::shared_ptr<CossStore> store, Key key);

/// StorageScheme::open of this layout: an object that will soon be overwritten is moved forward.
Task<std::unique_ptr<Reader>> open_coss_object(std::shared_ptr<CossStore> store, Key key);

}  // namespace storage
