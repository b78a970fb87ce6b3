#include "proxy/body_source.h"

#include <algorithm>

namespace proxy {

namespace {

/// Large enough that calls do not matter, small enough that a slow client pins little memory.
constexpr uint64_t kPieceSizeMax = 128 * 1024;

}  // namespace

storage::Task<storage::Piece> StoredBody::next() {
  if (left_bytes_ == 0) co_return storage::Piece();
  const auto wanted = static_cast<size_t>(std::min(left_bytes_, kPieceSizeMax));
  auto piece = co_await reader_.read(offset_bytes_, wanted);
  if (!piece) co_return piece.error();
  // The store said how long the body is; less than that is no end.
  if (piece->empty()) co_return storage::Error(storage::Errc::kCorrupt);
  offset_bytes_ += piece->size();
  left_bytes_ -= piece->size();
  co_return std::move(*piece);
}

storage::Task<storage::Piece> ExchangeBody::next() {
  auto space = co_await buffers_.acquire();
  if (!space) co_return space.error();
  const IoResult got = co_await exchange_.read_body(space->bytes());
  if (got.error) co_return storage::Error(storage::Errc::kAborted);
  co_return space->share(got.size_bytes);
}

}  // namespace proxy
