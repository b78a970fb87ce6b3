// What the origin answers, as a pure function of the request and the time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workload/model/object.h"
#include "workload/origin/origin_request.h"

namespace workload {

/// A misdeed that a test asks for by `?fault=NAME`.
enum class OriginFault {
  kNone,
  kTruncate,      ///< `truncate`: half of the body, then an orderly close.
  kReset,         ///< `reset`: half of the body, then a reset.
  kStall,         ///< `stall`: half of the body, then silence.
  kChunked,       ///< `chunked`: the whole body, chunked instead of by Content-Length.
  kChunkedNoEnd,  ///< `chunked-no-end`: the whole body chunked, closed without the last chunk.
  kNoLength,      ///< `no-length`: neither length nor chunks, the close ends the body.
  kError,         ///< `error`: 500.
};

/// The fault that a target asks for; nothing for a name that is none.
std::optional<OriginFault> fault_of_target(std::string_view target);

/// What a response depends on besides the request.
struct OriginContext {
  int64_t now_unix_s = 0;
  bool keep_alive = true;  ///< Whether the connection stays open behind the response.
  OriginFault fault = OriginFault::kNone;
};

/// A response: a head that is complete up to its blank line (and a small text behind it, where the
/// body is none of an object), then a part of an object's body.
struct OriginResponse {
  unsigned status = 0;
  std::string head;
  ObjectSpec object;
  uint64_t body_offset_bytes = 0;
  uint64_t body_size_bytes = 0;  ///< 0 where no part of an object follows, as for HEAD.
  bool chunked = false;
  uint64_t text_size_bytes = 0;  ///< Of the small text behind the head.
};

/// Answers a request for an object: conditions (RFC 9110 section 13), ranges (section 14; of
/// several ranges at once the whole body is sent), methods, freshness, stamps. Paths that are no
/// object's get 404. Keeps the memory of `out.head`.
void answer_request(const OriginRequest& request, const OriginContext& context,
                    OriginResponse& out);

/// A response with a plain text of its own, which no cache keeps. `head_only` leaves the text out.
void answer_text(unsigned status, std::string_view text, bool head_only,
                 const OriginContext& context, OriginResponse& out);

}  // namespace workload
