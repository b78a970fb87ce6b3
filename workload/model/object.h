// An object of the workload: everything about it follows from its URL alone.
//
// The robot and the origin share nothing else: the robot computes an ObjectSpec and puts it into
// the URL, the origin reads it back out of the URL and serves exactly that, and the robot checks
// every byte that comes back, whoever served it and whatever the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/model/content_type.h"

namespace workload {

/// Largest body of an object: 1 TiB.
inline constexpr uint64_t kObjectSizeBytesMax = uint64_t{1} << 40;
/// Last instant that an HTTP date can say: the end of year 9999.
inline constexpr int64_t kLastModifiedMaxUnixS = 253402300799;
/// Longest lifetime: about 68 years, the largest max-age that every cache understands (RFC 9111
/// section 1.2.2).
inline constexpr int64_t kLifetimeMaxS = 2147483647;

/// An object, whole. Two versions of an object (same id, other `last_modified_unix_s`) have other
/// bytes and another tag, so that a stale body is recognised; `cachable` and `lifetime_s` say how
/// long a cache may keep it and leave the bytes alone.
struct ObjectSpec {
  uint64_t seed = 0;  ///< Of the experiment; enters every byte of the body.
  uint64_t id = 0;    ///< Tells the objects of a seed apart.
  ContentType type = ContentType::kOther;
  uint64_t size_bytes = 0;  ///< Of the body; at most kObjectSizeBytesMax.
  bool cachable = true;
  int64_t last_modified_unix_s = 0;  ///< Of the version that is served; 0 to year 9999.
  int64_t lifetime_s = 0;            ///< Fresh this long after the response's Date; 0 to
                                     ///< kLifetimeMaxS.

  friend bool operator==(const ObjectSpec& left, const ObjectSpec& right) = default;
};

/// The path of the object's URL, from `/` on: at most 200 characters, all unreserved.
std::string object_path(const ObjectSpec& object);

/// Reads a path that object_path() made (any query is ignored); nothing for any other path. A check
/// code over all fields makes a damaged path another path.
std::optional<ObjectSpec> parse_object_path(std::string_view path);

/// The strong entity tag, with its quotes: a function of every field of the object.
std::string object_etag(const ObjectSpec& object);

/// The tag that the object's version before this one had; never that of this version.
std::string outdated_etag(const ObjectSpec& object);

/// The media type that fits the extension of the object's path, e.g. `image/gif`.
std::string_view media_type(const ObjectSpec& object);

/// Writes the body's bytes from `offset_bytes` on into `out`. Incompressible, and no two objects
/// share a block: stores that compress or deduplicate gain nothing. Every byte is a function of its
/// offset and of seed, id, type, size and last_modified.
void fill_body(const ObjectSpec& object, uint64_t offset_bytes, std::span<std::byte> out);

/// The offset, from the start of the body, of the first byte of `bytes` (which lie at
/// `offset_bytes` of the body) that is not the object's, or nothing where all are right. Bytes past
/// the end of the body are wrong.
std::optional<uint64_t> first_wrong_byte(const ObjectSpec& object, uint64_t offset_bytes,
                                         std::span<const std::byte> bytes);

/// Header in which a robot names its transaction to the origin: 16 hexadecimal digits.
inline constexpr std::string_view kTransactionHeader = "X-Cacheoff-Transaction";
/// Header of the origin's responses that carry a body (or would, for HEAD): the transaction that
/// caused them. A response with another transaction's stamp came from a cache.
inline constexpr std::string_view kBodyStampHeader = "X-Cacheoff-Body-For";
/// Header of the origin's 304 responses. Apart from the body's stamp, so that a cache that merges
/// a 304's headers into its entry does not turn a validated hit into a miss.
inline constexpr std::string_view kValidationStampHeader = "X-Cacheoff-Validated-For";

}  // namespace workload
