#include "storage/io/diskd/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/base/text_bytes.h"

namespace storage {

namespace {

constexpr uint32_t kRequestMagic = 0x71724b44;  // "DKrq"
constexpr uint32_t kReplyMagic = 0x70724b44;    // "DKrp"
constexpr int kErrnoMax = 4095;                 // as the kernel has it

struct RequestHead {
  uint32_t magic;
  uint8_t kind;
  uint8_t mode;
  uint8_t of_space;
  uint8_t unused;
  uint64_t id;
  uint64_t offset_bytes;
  uint32_t handle;
  uint32_t slot;
  uint32_t size_bytes;
  uint32_t alignment_bytes;
  uint32_t path_length;
  uint32_t new_path_length;
  uint64_t unused_too;
};
static_assert(sizeof(RequestHead) + 2 * kHelperPathLengthMax == kHelperRequestSizeMax);
static_assert(std::has_unique_object_representations_v<RequestHead>);

struct ReplyBytes {
  uint32_t magic;
  int32_t system_errno;
  uint64_t id;
  uint64_t value;
  uint32_t alignment_bytes;
  uint32_t unused;
};
static_assert(sizeof(ReplyBytes) == kHelperReplySizeBytes);
static_assert(std::has_unique_object_representations_v<ReplyBytes>);

bool is_alignment(uint32_t bytes) {
  return std::has_single_bit(bytes) && bytes <= kHelperSlotSizeBytes;
}

// How many paths an operation has.
int paths_of(IoKind kind) {
  if (kind == IoKind::kRename) return 2;
  return kind == IoKind::kOpen || kind == IoKind::kUnlink ? 1 : 0;
}

bool plausible(const RequestHead& head, size_t message_size) {
  if (head.magic != kRequestMagic || head.unused != 0 || head.unused_too != 0) return false;
  if (head.kind >= kIoKindCount || head.of_space > 1) return false;
  if (head.mode > static_cast<uint8_t>(OpenMode::kReadWriteDirect)) return false;
  if (head.size_bytes > kHelperSlotSizeBytes || !is_alignment(head.alignment_bytes)) return false;
  // Offsets are signed in the kernel.
  if (head.offset_bytes > (uint64_t{1} << 63) - 1 - kHelperSlotSizeBytes) return false;
  const int paths = paths_of(static_cast<IoKind>(head.kind));
  if (head.path_length > kHelperPathLengthMax || (head.path_length > 0) != (paths > 0)) {
    return false;
  }
  if (head.new_path_length > kHelperPathLengthMax || (head.new_path_length > 0) != (paths > 1)) {
    return false;
  }
  return message_size == sizeof head + head.path_length + head.new_path_length;
}

}  // namespace

size_t encode_request(const HelperRequest& request,
                      std::span<std::byte, kHelperRequestSizeMax> out) {
  RequestHead head{};
  head.magic = kRequestMagic;
  head.kind = static_cast<uint8_t>(request.kind);
  head.mode = static_cast<uint8_t>(request.mode);
  head.of_space = request.of_space ? 1 : 0;
  head.id = request.id;
  head.offset_bytes = request.offset_bytes;
  head.handle = request.handle;
  head.slot = request.slot;
  head.size_bytes = request.size_bytes;
  head.alignment_bytes = request.alignment_bytes;
  head.path_length = static_cast<uint32_t>(request.path.size());
  head.new_path_length = static_cast<uint32_t>(request.new_path.size());
  std::ranges::copy(std::as_bytes(std::span(&head, 1)), out.begin());
  auto paths = out.subspan(sizeof head);
  std::ranges::copy(as_bytes_of(request.path), paths.begin());
  paths = paths.subspan(request.path.size());
  std::ranges::copy(as_bytes_of(request.new_path), paths.begin());
  return sizeof head + request.path.size() + request.new_path.size();
}

std::optional<HelperRequest> decode_request(std::span<const std::byte> bytes) {
  RequestHead head;
  if (bytes.size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (!plausible(head, bytes.size())) return std::nullopt;
  HelperRequest request;
  request.id = head.id;
  request.kind = static_cast<IoKind>(head.kind);
  request.mode = static_cast<OpenMode>(head.mode);
  request.of_space = head.of_space == 1;
  request.handle = head.handle;
  request.slot = head.slot;
  request.size_bytes = head.size_bytes;
  request.alignment_bytes = head.alignment_bytes;
  request.offset_bytes = head.offset_bytes;
  const auto* const paths = reinterpret_cast<const char*>(bytes.data() + sizeof head);
  request.path.assign(paths, head.path_length);
  request.new_path.assign(paths + head.path_length, head.new_path_length);
  const bool cut = request.path.find('\0') != std::string::npos ||
                   request.new_path.find('\0') != std::string::npos;
  if (cut) return std::nullopt;
  return request;
}

std::array<std::byte, kHelperReplySizeBytes> encode_reply(const HelperReply& reply) {
  ReplyBytes out{};
  out.magic = kReplyMagic;
  out.system_errno = reply.system_errno;
  out.id = reply.id;
  out.value = reply.value;
  out.alignment_bytes = reply.alignment_bytes;
  return std::bit_cast<std::array<std::byte, kHelperReplySizeBytes>>(out);
}

std::optional<HelperReply> decode_reply(std::span<const std::byte> bytes) {
  ReplyBytes in;
  if (bytes.size() != sizeof in) return std::nullopt;
  std::memcpy(&in, bytes.data(), sizeof in);
  const bool sound = in.magic == kReplyMagic && in.unused == 0 && in.system_errno >= 0 &&
                     in.system_errno <= kErrnoMax && is_alignment(in.alignment_bytes);
  if (!sound) return std::nullopt;
  HelperReply reply;
  reply.id = in.id;
  reply.system_errno = in.system_errno;
  reply.alignment_bytes = in.alignment_bytes;
  reply.value = in.value;
  return reply;
}

}  // namespace storage
