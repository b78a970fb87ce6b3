// What is kept beside a body in the cache, as storage::Metadata: the response head and its times,
// or a vary marker. The bytes come back from a disk, so decoding believes nothing.
//
// Byte layout (little endian): magic "CoRs", u8 version, u8 kind, then
//   response: u64 fill id, i64 request time, i64 response time (seconds since 1970), u16 status,
//             u8 minor version, u8 has body size, u64 body size, text reason, u16 count, count
//             times {text name, text value};
//   marker:   u64 generation, i64 response time, u16 count, count times {text name};
// text is u32 length and that many bytes. Nothing may follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/http_date.h"
#include "proxy/http_message.h"
#include "storage/types.h"

namespace proxy {

/// A response as it was received (after 304s: as they freshened it), without hop-by-hop fields and
/// without body framing fields: Content-Length and Transfer-Encoding are added when it is served.
struct StoredResponse {
  ResponseHead head;
  HttpTime request_time{};   ///< When the request that fetched or last validated it was sent.
  HttpTime response_time{};  ///< When its answer arrived (RFC 9111 4.2.3).
  uint64_t fill_id = 0;      ///< The fetch that brought it; opaque here.
  std::optional<uint64_t> body_size_bytes;  ///< Where known when it was encoded.
};

/// Stands under the primary key of a resource whose responses vary: the request fields that the
/// variant keys are made of.
struct VaryMarker {
  std::vector<std::string> names;  ///< Lower case, sorted, unique (vary_names()).
  HttpTime response_time{};        ///< Of the response that set it.
  /// Part of the variant keys, so that a resource that was invalidated (its marker is gone) never
  /// finds its old variants again. Give a new marker a number that no earlier one had, not even
  /// before a restart; keep it while the names stay the same.
  uint64_t generation = 0;
};

using StoredRecord = std::variant<StoredResponse, VaryMarker>;

/// Limits that both encoding and decoding hold.
inline constexpr size_t kStoredFieldCountMax = 256;
inline constexpr size_t kStoredVaryNamesMax = 32;

/// The record to store; nothing where it is beyond the limits or storage::Metadata::kSizeMax, and
/// then the response is not to be cached.
std::optional<storage::Metadata> encode_record(const StoredResponse& response);
std::optional<storage::Metadata> encode_record(const VaryMarker& marker);

/// Nothing where the bytes are not exactly one valid record; treat it as a miss and remove it.
std::optional<StoredRecord> decode_record(std::string_view bytes);

/// The head to keep of a response: without hop-by-hop fields, framing fields, and
/// fields that Cache-Control's private or no-cache name (RFC 9111 3.1, 5.2.2.4, 5.2.2.7).
ResponseHead head_to_store(const ResponseHead& received);

}  // namespace proxy
