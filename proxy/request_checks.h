// Checks of message heads beyond what the parser does, against request smuggling and malformed
// framing (RFC 9112 3.2, 6; RFC 9110 7.2, 10.1.1). A message that two recipients could frame
// differently is refused, never repaired.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proxy/http_message.h"

namespace proxy {

/// Limits on a request head; what is beyond them is answered 431 or 414.
struct RequestLimits {
  size_t field_count_max = 128;
  size_t head_size_bytes_max = 64 * 1024;
};

/// How the body of a received message is delimited.
enum class BodyFraming {
  kNone,     ///< There is no body.
  kLength,   ///< `length_bytes` bytes.
  kChunked,  ///< Chunked transfer coding: whole only with its last chunk.
  kClose,    ///< Until the connection closes (responses only): whole only if closed cleanly.
};

/// Framing of a received message.
struct MessageFraming {
  BodyFraming framing = BodyFraming::kNone;
  uint64_t length_bytes = 0;  ///< For kLength.
};

/// A request that may be served.
struct CheckedRequest {
  MessageFraming body;
  bool expects_continue = false;  ///< `Expect: 100-continue` of an HTTP/1.1 client with a body.
  bool keep_alive = true;         ///< The client allows another request (RFC 9112 9.3).
};

/// Checks a request head. Refused: Content-Length with Transfer-Encoding, several or malformed
/// Content-Lengths, Transfer-Encoding in HTTP/1.0, chunked that is not last or twice (400), any
/// transfer coding but chunked (501), no or several or malformed Host (400), unknown Expect (417),
/// a body on TRACE or CONNECT (400), HTTP versions but 1.0 and 1.1 (505), too many or too large
/// fields (431), control characters in values (400). Upgrade is ignored: the proxy never switches.
Checked<CheckedRequest> check_request(const RequestHead& head, const RequestLimits& limits);

/// Checks the head of an origin's response to `method`: framing as above, refused with 502. 1xx and
/// 204, 304 and responses to HEAD have no body whatever their fields say (RFC 9112 6.3).
Checked<MessageFraming> check_response(const ResponseHead& head, http::verb method);

/// Whether the sender of a head allows the connection to be used again (RFC 9112 9.3).
bool wants_keep_alive(const Fields& fields, unsigned version);

}  // namespace proxy
