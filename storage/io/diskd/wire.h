// What a store and its helper process say to each other: requests and replies as bytes of System V
// messages. Both sides are of one build and one machine, so numbers are in the machine's order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/io/engine.h"
#include "storage/io/io_statistics.h"

namespace storage {

/// One piece of the shared memory: the bytes of one read or write.
inline constexpr size_t kHelperSlotSizeBytes = 64 * 1024;
/// Of each path in a request.
inline constexpr size_t kHelperPathLengthMax = 255;
inline constexpr size_t kHelperRequestSizeMax = 56 + 2 * kHelperPathLengthMax;
inline constexpr size_t kHelperReplySizeBytes = 32;
/// What the helper says first, once it is ready. Anything else is why it is not, one line.
inline constexpr std::string_view kHelperGreeting = "cacheoff-diskd ready, protocol 1\n";

/// A file operation for the helper.
struct HelperRequest {
  uint64_t id = 0;
  IoKind kind = IoKind::kOpen;
  OpenMode mode = OpenMode::kRead;  ///< Of open.
  bool of_space = false;            ///< Of stat, as in IoCall.
  uint32_t handle = 0;              ///< The file, as the reply to its open had it.
  uint32_t slot = 0;                ///< Of read and write.
  uint32_t size_bytes = 0;          ///< Of read and write.
  uint32_t alignment_bytes = 1;     ///< Of read, as in IoCall.
  uint64_t offset_bytes = 0;        ///< Of read and write.
  std::string path;                 ///< Of open, rename and unlink; below the store's folder.
  std::string new_path;             ///< Of rename.
};

/// Its end. Requests are answered in the order in which they were sent.
struct HelperReply {
  uint64_t id = 0;
  int32_t system_errno = 0;      ///< 0: success.
  uint32_t alignment_bytes = 1;  ///< Of open, as File::alignment_bytes().
  uint64_t value = 0;            ///< A handle, a count of bytes, a size.
};

/// Puts the request into `out` and returns its length. Its paths must not be too long.
size_t encode_request(const HelperRequest& request,
                      std::span<std::byte, kHelperRequestSizeMax> out);

/// Nothing where the bytes are no request: every field is looked at, but whether handle and slot
/// exist only the helper knows.
std::optional<HelperRequest> decode_request(std::span<const std::byte> bytes);

std::array<std::byte, kHelperReplySizeBytes> encode_reply(const HelperReply& reply);

/// Nothing where the bytes are no reply. What it is a reply to only the sender of the request
/// knows.
std::optional<HelperReply> decode_reply(std::span<const std::byte> bytes);

}  // namespace storage
