#include "workload/origin/origin_response.h"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <utility>

#include "workload/model/http_date.h"

namespace workload {
namespace {

struct FaultName {
  std::string_view name;
  OriginFault fault;
};
constexpr std::array<FaultName, 7> kFaultNames{{{"truncate", OriginFault::kTruncate},
                                                {"reset", OriginFault::kReset},
                                                {"stall", OriginFault::kStall},
                                                {"chunked", OriginFault::kChunked},
                                                {"chunked-no-end", OriginFault::kChunkedNoEnd},
                                                {"no-length", OriginFault::kNoLength},
                                                {"error", OriginFault::kError}}};

void add_number(std::string& out, uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void add_stamp(std::string& out, std::string_view name, std::optional<uint64_t> transaction) {
  if (!transaction) return;
  std::array<char, 16> digits;
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789abcdef"[(*transaction >> (60 - 4 * i)) & 15];
  }
  add_field(out, name, {digits.data(), digits.size()});
}

void begin_head(unsigned status, const OriginContext& context, OriginResponse& out) {
  out.status = status;
  out.body_offset_bytes = out.body_size_bytes = 0;
  out.chunked = false;
  out.head = "HTTP/1.1 ";
  add_number(out.head, status);
  out.head += ' ';
  out.head += boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  out.head += "\r\n";
  add_field(out.head, "Server", "cacheoff-origin");
  add_field(out.head, "Date", HttpDate(context.now_unix_s).text());
}

void end_head(const OriginContext& context, OriginResponse& out) {
  // Stated always: HTTP/1.0 peers need to be told of either.
  add_field(out.head, "Connection", context.keep_alive ? "keep-alive" : "close");
  out.head += "\r\n";
}

/// Whether an entity tag is in a list, by weak comparison (RFC 9110 section 13.1.2).
bool list_has_tag(std::string_view list, std::string_view etag) {
  for (;;) {
    const auto start = list.find_first_not_of(" \t,");
    if (start == std::string_view::npos) return false;
    list.remove_prefix(start);
    if (list.starts_with('*')) return true;
    if (list.starts_with("W/")) list.remove_prefix(2);
    const auto close = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (close == std::string_view::npos) return false;
    if (list.substr(0, close + 1) == etag) return true;
    list.remove_prefix(close + 1);
  }
}

bool not_modified(const OriginRequest& request, const ObjectSpec& object, std::string_view etag,
                  int64_t now_unix_s) {
  if (!request.if_none_match.empty()) return list_has_tag(request.if_none_match, etag);
  if (request.if_modified_since.empty()) return false;
  const auto date = parse_http_date(request.if_modified_since, now_unix_s);
  return date && object.last_modified_unix_s <= *date;
}

bool range_applies(const OriginRequest& request, const ObjectSpec& object, std::string_view etag,
                   int64_t now_unix_s) {
  if (request.range.empty() || request.method != OriginRequest::Method::kGet) return false;
  if (request.if_range.empty() || request.if_range == etag) return true;
  return parse_http_date(request.if_range, now_unix_s) == object.last_modified_unix_s;
}

/// A number of digits only, at most `max`: larger ones are cut to it.
std::optional<uint64_t> parse_digits(std::string_view text, uint64_t max) {
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value > max / 10 ? max : std::min(max, value * 10 + static_cast<uint64_t>(c - '0'));
  }
  return value;
}

enum class RangeKind { kIgnored, kUnsatisfiable, kPart };
struct ByteRange {
  RangeKind kind = RangeKind::kIgnored;
  uint64_t first = 0;
  uint64_t last = 0;
};

/// A single range of a body of `size` bytes (RFC 9110 section 14.1.2); what is malformed, of
/// another unit or several is ignored.
ByteRange parse_range(std::string_view text, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  constexpr uint64_t kPositionMax = uint64_t{1} << 62;
  if (text.size() < kUnit.size() || !boost::beast::iequals(text.substr(0, kUnit.size()), kUnit)) {
    return {};
  }
  text.remove_prefix(kUnit.size());
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const auto from = text.substr(0, dash);
  const auto to = text.substr(dash + 1);
  if (from.empty()) {
    const auto suffix = parse_digits(to, kPositionMax);
    if (!suffix) return {};
    if (*suffix == 0 || size == 0) return {RangeKind::kUnsatisfiable, 0, 0};
    return {RangeKind::kPart, size - std::min(*suffix, size), size - 1};
  }
  const auto first = parse_digits(from, kPositionMax);
  const auto last = to.empty() ? std::optional(kPositionMax) : parse_digits(to, kPositionMax);
  if (!first || !last || *last < *first) return {};
  if (*first >= size) return {RangeKind::kUnsatisfiable, 0, 0};
  return {RangeKind::kPart, *first, std::min(*last, size - 1)};
}

void add_freshness(const ObjectSpec& object, bool cachable, const OriginContext& context,
                   std::string& head) {
  if (!cachable) {
    add_field(head, "Cache-Control", "private, no-cache");
    return;
  }
  head += "Cache-Control: public, max-age=";
  add_number(head, static_cast<uint64_t>(object.lifetime_s));
  head += "\r\n";
  add_field(head, "Expires", HttpDate(context.now_unix_s + object.lifetime_s).text());
}

/// Frames the body by its length, or as the fault wants it.
void add_length(const OriginRequest& request, const OriginContext& context, OriginResponse& out,
                uint64_t length) {
  const bool chunks_asked =
      context.fault == OriginFault::kChunked || context.fault == OriginFault::kChunkedNoEnd;
  if (chunks_asked && request.http_1_1) {
    out.chunked = true;
    add_field(out.head, "Transfer-Encoding", "chunked");
  } else if (!chunks_asked && context.fault != OriginFault::kNoLength) {
    out.head += "Content-Length: ";
    add_number(out.head, length);
    out.head += "\r\n";
  }
}

void answer_not_modified(const OriginRequest& request, const ObjectSpec& object,
                         std::string_view etag, const OriginContext& context, OriginResponse& out) {
  begin_head(304, context, out);
  add_field(out.head, "ETag", etag);
  add_freshness(object, object.cachable, context, out.head);
  add_stamp(out.head, kValidationStampHeader, request.transaction);
  end_head(context, out);
}

void answer_unsatisfiable(const ObjectSpec& object, const OriginContext& context,
                          OriginResponse& out) {
  begin_head(416, context, out);
  add_field(out.head, "Content-Range", "bytes */" + std::to_string(object.size_bytes));
  add_field(out.head, "Content-Length", "0");
  add_field(out.head, "Cache-Control", "no-store");
  end_head(context, out);
}

void answer_body(const OriginRequest& request, const ObjectSpec& object, std::string_view etag,
                 const ByteRange& range, const OriginContext& context, OriginResponse& out) {
  const bool part = range.kind == RangeKind::kPart;
  const uint64_t length = part ? range.last - range.first + 1 : object.size_bytes;
  const bool post = request.method == OriginRequest::Method::kPost;
  begin_head(part ? 206 : 200, context, out);
  add_field(out.head, "Content-Type", media_type(object));
  add_length(request, context, out, length);
  if (part) {
    add_field(out.head, "Content-Range",
              "bytes " + std::to_string(range.first) + '-' + std::to_string(range.last) + '/' +
                  std::to_string(object.size_bytes));
  }
  add_field(out.head, "Accept-Ranges", "bytes");
  add_field(out.head, "Last-Modified", HttpDate(object.last_modified_unix_s).text());
  add_field(out.head, "ETag", etag);
  add_freshness(object, object.cachable && !post, context, out.head);
  add_stamp(out.head, kBodyStampHeader, request.transaction);
  end_head(context, out);
  out.object = object;
  out.body_offset_bytes = range.first;
  out.body_size_bytes = request.method == OriginRequest::Method::kHead ? 0 : length;
  if (request.method == OriginRequest::Method::kHead) out.chunked = false;
}

}  // namespace

std::optional<OriginFault> fault_of_target(std::string_view target) {
  constexpr std::string_view kKey = "fault=";
  const auto question = target.find('?');
  std::string_view query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto part = query.substr(0, end);
    if (part.starts_with(kKey)) {
      for (const auto& [name, fault] : kFaultNames) {
        if (part.substr(kKey.size()) == name) return fault;
      }
      return std::nullopt;
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return OriginFault::kNone;
}

void answer_text(unsigned status, std::string_view media_type, std::string_view text,
                 bool head_only, const OriginContext& context, OriginResponse& out) {
  begin_head(status, context, out);
  add_field(out.head, "Content-Type", media_type);
  out.head += "Content-Length: ";
  add_number(out.head, text.size());
  out.head += "\r\n";
  add_field(out.head, "Cache-Control", "no-store");
  if (status == 405) add_field(out.head, "Allow", "GET, HEAD, POST, PUT");
  end_head(context, out);
  if (!head_only) out.head += text;
}

void answer_request(const OriginRequest& request, const OriginContext& context,
                    OriginResponse& out) {
  using Method = OriginRequest::Method;
  const bool head_only = request.method == Method::kHead;
  const auto object = parse_object_path(request.target);
  if (request.method == Method::kOther) {
    return answer_text(405, "text/plain", "The origin knows GET, HEAD, POST and PUT.\n", head_only,
                       context, out);
  }
  if (!object) {
    return answer_text(404, "text/plain", "No object has this path.\n", head_only, context, out);
  }
  if (context.fault == OriginFault::kError) {
    return answer_text(500, "text/plain", "A fault, as asked for.\n", head_only, context, out);
  }
  if (request.method == Method::kPut) {
    begin_head(204, context, out);
    add_stamp(out.head, kBodyStampHeader, request.transaction);
    return end_head(context, out);
  }
  const std::string etag = object_etag(*object);
  const bool safe = request.method != Method::kPost;
  if (safe && not_modified(request, *object, etag, context.now_unix_s)) {
    return answer_not_modified(request, *object, etag, context, out);
  }
  ByteRange range;
  if (range_applies(request, *object, etag, context.now_unix_s)) {
    range = parse_range(request.range, object->size_bytes);
  }
  if (range.kind == RangeKind::kUnsatisfiable) return answer_unsatisfiable(*object, context, out);
  answer_body(request, *object, etag, range, context, out);
}

}  // namespace workload
