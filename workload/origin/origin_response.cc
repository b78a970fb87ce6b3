#include "workload/origin/origin_response.h"

#include <algorithm>
#include <array>
#include <vector>

#include "workload/model/http_date.h"
#include "workload/origin/byte_ranges.h"
#include "workload/origin/conditions.h"
#include "workload/origin/response_head.h"

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

void add_stamp(std::string& out, std::string_view name, std::optional<uint64_t> transaction) {
  if (!transaction) return;
  std::array<char, 16> digits;
  for (size_t i = 0; i < digits.size(); ++i) {
    digits[i] = "0123456789abcdef"[(*transaction >> (60 - 4 * i)) & 15];
  }
  add_field(out, name, {digits.data(), digits.size()});
}

void begin_object_head(unsigned status, const OriginContext& context, OriginResponse& out) {
  out.status = status;
  out.body_offset_bytes = out.body_size_bytes = out.text_size_bytes = 0;
  out.chunked = false;
  begin_head(status, context.now_unix_s, out.head);
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
    add_field(out.head, "Content-Length", length);
  }
}

void answer_not_modified(const OriginRequest& request, const ObjectSpec& object,
                         std::string_view etag, const OriginContext& context, OriginResponse& out) {
  begin_object_head(304, context, out);
  add_field(out.head, "ETag", etag);
  add_freshness(object, object.cachable, context, out.head);
  add_stamp(out.head, kValidationStampHeader, request.transaction);
  end_head(context.keep_alive, out.head);
}

void answer_unsatisfiable(const ObjectSpec& object, const OriginContext& context,
                          OriginResponse& out) {
  begin_object_head(416, context, out);
  add_field(out.head, "Content-Range", "bytes */" + std::to_string(object.size_bytes));
  add_field(out.head, "Content-Length", "0");
  add_field(out.head, "Cache-Control", "no-store");
  end_head(context.keep_alive, out.head);
}

void answer_body(const OriginRequest& request, const ObjectSpec& object, std::string_view etag,
                 const std::optional<ByteRange>& range, const OriginContext& context,
                 OriginResponse& out) {
  const uint64_t length = range ? range->size_bytes() : object.size_bytes;
  const bool post = request.method == OriginRequest::Method::kPost;
  begin_object_head(range ? 206 : 200, context, out);
  add_field(out.head, "Content-Type", media_type(object));
  add_length(request, context, out, length);
  if (range) {
    out.head += "Content-Range: ";
    add_content_range(out.head, *range, object.size_bytes);
    out.head += "\r\n";
  }
  add_field(out.head, "Accept-Ranges", "bytes");
  add_field(out.head, "Last-Modified", HttpDate(object.last_modified_unix_s).text());
  add_field(out.head, "ETag", etag);
  add_freshness(object, object.cachable && !post, context, out.head);
  add_stamp(out.head, kBodyStampHeader, request.transaction);
  end_head(context.keep_alive, out.head);
  out.object = object;
  out.body_offset_bytes = range ? range->first : 0;
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

void answer_text(unsigned status, std::string_view text, bool head_only,
                 const OriginContext& context, OriginResponse& out) {
  out.status = status;
  out.body_offset_bytes = out.body_size_bytes = out.text_size_bytes = 0;
  out.chunked = false;
  TextResponse response;
  response.status = status;
  response.text = text;
  if (status == 405) response.more_fields = "Allow: GET, HEAD, POST, PUT\r\n";
  response.head_only = head_only;
  if (!head_only) out.text_size_bytes = text.size();
  write_text_response(response, context.now_unix_s, context.keep_alive, out.head);
}

void answer_request(const OriginRequest& request, const OriginContext& context,
                    OriginResponse& out) {
  using Method = OriginRequest::Method;
  const bool head_only = request.method == Method::kHead;
  const auto object = parse_object_path(request.target);
  if (request.method == Method::kOther || request.method == Method::kOptions) {
    return answer_text(405, "The origin knows GET, HEAD, POST and PUT.\n", head_only, context, out);
  }
  if (!object) {
    return answer_text(404, "No object has this path.\n", head_only, context, out);
  }
  if (context.fault == OriginFault::kError) {
    return answer_text(500, "A fault, as asked for.\n", head_only, context, out);
  }
  if (request.method == Method::kPut) {
    begin_object_head(204, context, out);
    add_stamp(out.head, kBodyStampHeader, request.transaction);
    return end_head(context.keep_alive, out.head);
  }
  const std::string etag = object_etag(*object);
  const Validators validators{etag, object->last_modified_unix_s, true};
  if (request.method != Method::kPost) {
    const auto conditions = evaluate_conditions(request, validators, context.now_unix_s);
    if (conditions == Conditions::kNotModified) {
      return answer_not_modified(request, *object, etag, context, out);
    }
    if (conditions == Conditions::kFailed) {
      return answer_text(412, "The object is another one.\n", head_only, context, out);
    }
  }
  std::optional<ByteRange> range;
  if (range_applies(request, validators, context.now_unix_s)) {
    std::vector<ByteRange> ranges;
    const RangeKind kind = select_byte_ranges(request.range, object->size_bytes, ranges);
    if (kind == RangeKind::kUnsatisfiable) return answer_unsatisfiable(*object, context, out);
    if (ranges.size() == 1) range = ranges.front();
  }
  answer_body(request, *object, etag, range, context, out);
}

}  // namespace workload
