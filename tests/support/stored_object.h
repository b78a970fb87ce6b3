// Whole objects written to and read from a scheme by one call.
#pragma once

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "storage/scheme.h"

namespace testing_support {

/// An object as it came out of a scheme.
struct StoredObject {
  std::string metadata;
  std::string body;
  StoredObject() = default;
  StoredObject(std::string metadata_in, std::string body_in)
      : metadata(std::move(metadata_in)), body(std::move(body_in)) {}
  friend bool operator==(const StoredObject& left, const StoredObject& right) = default;
};

/// Whether the size of a body is told beforehand.
enum class BodySize { kKnown, kUnknown };

/// Lets everything else that is ready run first.
inline boost::asio::awaitable<void> yield_to_others() {
  co_await boost::asio::post(co_await boost::asio::this_coro::executor, boost::asio::use_awaitable);
}

/// Appends all of `body`, in steps of at most `step_bytes`.
inline storage::Task<void> append_body(storage::Writer& writer, std::string body,
                                       size_t step_bytes = 1 << 20) {
  std::span<const std::byte> rest = std::as_bytes(std::span(body));
  while (!rest.empty()) {
    storage::Result<storage::Space> space = co_await writer.reserve(rest.size());
    if (space.has_error()) co_return space.error();
    const size_t length = std::min({rest.size(), space->size(), step_bytes});
    if (length == 0) co_return storage::Error(storage::Errc::kIo);  // reserve() broke its promise.
    std::ranges::copy(rest.first(length), space->bytes().begin());
    const storage::Result<void> appended = writer.append(std::move(*space), length);
    if (appended.has_error()) co_return appended.error();
    rest = rest.subspan(length);
  }
  co_return storage::Result<void>();
}

/// Reads from `offset_bytes` to the end, in pieces of at most `step_bytes`.
inline storage::Task<std::string> read_body(storage::Reader& reader, uint64_t offset_bytes = 0,
                                            size_t step_bytes = 1 << 20) {
  std::string body;
  while (true) {
    storage::Result<storage::Piece> piece =
        co_await reader.read(offset_bytes + body.size(), step_bytes);
    if (piece.has_error()) co_return piece.error();
    if (piece->empty()) co_return body;
    if (piece->size() > step_bytes) co_return storage::Error(storage::Errc::kIo);
    body.append(reinterpret_cast<const char*>(piece->bytes().data()), piece->size());
  }
}

/// create(), append all, commit().
inline storage::Task<void> store_object(storage::StorageScheme& scheme, std::string key,
                                        StoredObject object, BodySize size = BodySize::kKnown,
                                        size_t step_bytes = 1 << 20) {
  std::optional<uint64_t> size_bytes;
  if (size == BodySize::kKnown) size_bytes = object.body.size();
  storage::Metadata metadata(std::move(object.metadata));
  storage::Result<std::unique_ptr<storage::Writer>> writer =
      co_await scheme.create(storage::Key(std::move(key)), std::move(metadata), size_bytes);
  if (writer.has_error()) co_return writer.error();
  const storage::Result<void> appended =
      co_await append_body(**writer, std::move(object.body), step_bytes);
  if (appended.has_error()) co_return appended.error();
  co_return co_await (*writer)->commit();
}

/// open() and read all; kCorrupt where the body is not as long as the Reader says.
inline storage::Task<StoredObject> load_object(storage::StorageScheme& scheme, std::string key,
                                               size_t step_bytes = 1 << 20) {
  storage::Result<std::unique_ptr<storage::Reader>> reader =
      co_await scheme.open(storage::Key(std::move(key)));
  if (reader.has_error()) co_return reader.error();
  storage::Result<std::string> body = co_await read_body(**reader, 0, step_bytes);
  if (body.has_error()) co_return body.error();
  if (body->size() != (*reader)->body_size_bytes()) {
    co_return storage::Error(storage::Errc::kCorrupt);
  }
  co_return StoredObject(std::string((*reader)->metadata().bytes()), std::move(*body));
}

}  // namespace testing_support
