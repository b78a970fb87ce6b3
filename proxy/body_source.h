// Where the body of a response to a client comes from.
#pragma once

#include <memory>

#include "proxy/origin_exchange.h"
#include "storage/base/buffer_pool.h"
#include "storage/scheme.h"

namespace proxy {

/// A body, piece by piece.
class BodySource {
 public:
  virtual ~BodySource() = default;
  /// The next piece; an empty one where the body is over and whole. An error means that the rest
  /// will never come.
  virtual storage::Task<storage::Piece> next() = 0;
  /// As next() where it is possible without waiting; kOverloaded where it is not (or cannot be
  /// known without waiting).
  virtual storage::Result<storage::Piece> try_next() {
    return storage::Error(storage::Errc::kOverloaded);
  }
};

/// Part of a stored body: from `offset_bytes` on, `size_bytes` long.
class StoredBody final : public BodySource {
 public:
  StoredBody(storage::Reader& reader, uint64_t offset_bytes, uint64_t size_bytes)
      : reader_(reader), offset_bytes_(offset_bytes), left_bytes_(size_bytes) {}
  storage::Task<storage::Piece> next() override;

 private:
  storage::Reader& reader_;
  uint64_t offset_bytes_;
  uint64_t left_bytes_;
};

/// The body of an origin's response, for one client and not for the store.
class ExchangeBody final : public BodySource {
 public:
  ExchangeBody(OriginExchange& exchange, storage::BufferPool& buffers)
      : exchange_(exchange), buffers_(buffers) {}
  storage::Task<storage::Piece> next() override;

 private:
  OriginExchange& exchange_;
  storage::BufferPool& buffers_;
};

}  // namespace proxy
