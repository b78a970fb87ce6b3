#include "proxy/access_log.h"

#include <algorithm>
#include <charconv>

namespace proxy {
namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";
constexpr size_t kShortTextLengthMax = 256;

/// Appends text that cannot end a column or a line; `also` is escaped too.
void append_escaped(std::string_view text, size_t length_max, std::string_view also,
                    std::string& out) {
  text = text.substr(0, length_max);
  if (text.empty()) {
    out += '-';
    return;
  }
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte >= 0x7f || also.find(c) != std::string_view::npos) {
      out += '%';
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 0xf];
    } else {
      out += c;
    }
  }
}

/// Appends a number, filled with `fill` to at least `width` characters.
void append_number(uint64_t value, size_t width, char fill, std::string& out) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const auto length = static_cast<size_t>(end - digits);
  if (length < width) out.append(width - length, fill);
  out.append(digits, length);
}

std::string_view name_of(Hierarchy hierarchy) {
  switch (hierarchy) {
    case Hierarchy::kNone:
      return "HIER_NONE";
    case Hierarchy::kDirect:
      return "HIER_DIRECT";
    case Hierarchy::kParent:
      return "FIRSTUP_PARENT";
  }
  return "HIER_NONE";
}

void append_timestamp(storage::WallTime time, std::string& out) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(time.time_since_epoch(), storage::WallTime::duration::zero()));
  append_number(static_cast<uint64_t>(since.count()) / 1000, 1, '0', out);
  out += '.';
  append_number(static_cast<uint64_t>(since.count()) % 1000, 3, '0', out);
}

}  // namespace

std::string_view name_of(LogTag tag) {
  switch (tag) {
    case LogTag::kHit:
      return "TCP_HIT";
    case LogTag::kMemoryHit:
      return "TCP_MEM_HIT";
    case LogTag::kModifiedSinceHit:
      return "TCP_IMS_HIT";
    case LogTag::kNoneMatchHit:
      return "TCP_INM_HIT";
    case LogTag::kRefreshUnmodified:
      return "TCP_REFRESH_UNMODIFIED";
    case LogTag::kRefreshModified:
      return "TCP_REFRESH_MODIFIED";
    case LogTag::kRefreshFailed:
      return "TCP_REFRESH_FAIL_OLD";
    case LogTag::kStaleHit:
      return "TCP_STALE_HIT";
    case LogTag::kCollapsedHit:
      return "TCP_CF_HIT";
    case LogTag::kMiss:
      return "TCP_MISS";
    case LogTag::kClientRefreshMiss:
      return "TCP_CLIENT_REFRESH_MISS";
    case LogTag::kNegativeHit:
      return "TCP_NEGATIVE_HIT";
    case LogTag::kTunnel:
      return "TCP_TUNNEL";
    case LogTag::kDenied:
      return "TCP_DENIED";
    case LogTag::kNone:
      return "NONE_NONE";
  }
  return "NONE_NONE";
}

bool is_hit(LogTag tag) {
  switch (tag) {
    case LogTag::kHit:
    case LogTag::kMemoryHit:
    case LogTag::kModifiedSinceHit:
    case LogTag::kNoneMatchHit:
    case LogTag::kRefreshUnmodified:
    case LogTag::kRefreshFailed:
    case LogTag::kStaleHit:
    case LogTag::kCollapsedHit:
    case LogTag::kNegativeHit:
      return true;
    case LogTag::kRefreshModified:
    case LogTag::kMiss:
    case LogTag::kClientRefreshMiss:
    case LogTag::kTunnel:
    case LogTag::kDenied:
    case LogTag::kNone:
      return false;
  }
  return false;
}

void append_access_line(const AccessRecord& record, std::string& out) {
  append_timestamp(record.ended, out);
  out += ' ';
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(record.duration, std::chrono::nanoseconds::zero()));
  append_number(static_cast<uint64_t>(elapsed.count()), 6, ' ', out);
  out += ' ';
  append_escaped(record.client_address, kShortTextLengthMax, "", out);
  out += ' ';
  out += name_of(record.tag);
  if (record.aborted) out += "_ABORTED";
  out += '/';
  append_number(record.status, 3, '0', out);
  out += ' ';
  append_number(record.sent_bytes, 1, '0', out);
  out += ' ';
  append_escaped(record.method, kShortTextLengthMax, "", out);
  out += ' ';
  append_escaped(record.url, kLoggedUrlLengthMax, "", out);
  out += ' ';
  // A percent sign in a name is the user's own and is told from an escape; in a URL it is one.
  append_escaped(record.user, kShortTextLengthMax, "%", out);
  out += ' ';
  out += name_of(record.hierarchy);
  out += '/';
  append_escaped(record.origin_address, kShortTextLengthMax, "", out);
  out += ' ';
  std::string_view type = record.content_type.substr(0, record.content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  append_escaped(type, kShortTextLengthMax, "", out);
  out += '\n';
}

}  // namespace proxy
