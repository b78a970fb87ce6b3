// Message heads on their way through the proxy: what is removed, added and changed (RFC 9110 7.6,
// RFC 9112 6, 9), and how the body towards the client is framed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http_date.h"
#include "proxy/http_message.h"
#include "proxy/range.h"
#include "proxy/request_checks.h"
#include "proxy/request_target.h"
#include "proxy/stored_response.h"

namespace proxy {

/// How the proxy names itself and its clients.
struct ForwardingOptions {
  std::string via_name = "cacheoff";  ///< Pseudonym in Via; unlike any other proxy's on the way.
  bool add_forwarded_for = true;      ///< X-Forwarded-For.
};

/// Removes Connection, the fields it nominates, and the hop-by-hop fields: Keep-Alive,
/// Proxy-Connection, Proxy-Authenticate, Proxy-Authorization, Proxy-Authentication-Info, TE,
/// Trailer, Transfer-Encoding, Upgrade. Fields that framing, routing or caching rest on (Host,
/// Content-Length, Cache-Control, ...) stay even where Connection nominates them.
void remove_hop_by_hop(Fields& fields);

/// Whether the request already passed a proxy of this name: a loop (answer 508).
bool is_forwarding_loop(const RequestHead& request, std::string_view via_name);

/// Whether Max-Forwards of TRACE or OPTIONS is used up, so that the proxy answers itself (RFC 9110
/// 7.6.2).
bool must_answer_here(const RequestHead& request);

/// What the request to the origin is for.
enum class UpstreamPurpose {
  kPassThrough,  ///< The client's conditions and Range go along; the answer is not for the cache.
  kFill,         ///< Conditions and Range are removed, HEAD stays HEAD: the answer may be stored.
};

/// The head for the origin: origin-form target (asterisk for OPTIONS *), HTTP/1.1, Host, Via,
/// X-Forwarded-For, decremented Max-Forwards, body framing from `body`, no Expect. Add validators
/// with set_validators(). `client_address` is text without port; empty: unknown.
RequestHead make_upstream_request(const RequestHead& client, const RequestTarget& target,
                                  const MessageFraming& body, UpstreamPurpose purpose,
                                  std::string_view client_address,
                                  const ForwardingOptions& options);

/// What of the client's request shapes the response to it.
struct ClientSide {
  http::verb method = http::verb::get;
  unsigned version = 11;   ///< As in Beast: 10 or 11.
  bool keep_alive = true;  ///< From CheckedRequest; false where the server wants to close.
};

/// A head for the client, and how its body has to be sent.
struct DownstreamResponse {
  ResponseHead head;
  BodyFraming framing = BodyFraming::kNone;  ///< kClose: end it by closing the connection.
  uint64_t length_bytes = 0;                 ///< For kLength.
  bool keep_alive = true;                    ///< False: close after the body.
};

/// The response to pass on from the origin: hop-by-hop fields removed, Via and Date added, framed
/// by `body_size_bytes` if known, else chunked, else (HTTP/1.0) by closing. HEAD, 204 and 304 have
/// no body; HEAD keeps the origin's Content-Length.
DownstreamResponse make_response(const ResponseHead& origin,
                                 std::optional<uint64_t> body_size_bytes, const ClientSide& client,
                                 HttpTime now, const ForwardingOptions& options);

/// The response from the cache: as above, with Age. `head` of StoredResponse has no framing fields,
/// so `body_size_bytes` says it (nothing: still arriving, length unknown).
DownstreamResponse make_cached_response(const StoredResponse& entry, Seconds age,
                                        std::optional<uint64_t> body_size_bytes,
                                        const ClientSide& client, const ForwardingOptions& options);

/// 206 with one range of a stored 200 of `size_bytes` (RFC 9110 15.3.7).
DownstreamResponse make_partial_response(const StoredResponse& entry, Seconds age, ByteRange range,
                                         uint64_t size_bytes, const ClientSide& client,
                                         const ForwardingOptions& options);

/// 304 for a stored response: the fields that RFC 9110 15.4.5 asks for, Age, and the origin's
/// extension fields; no other representation metadata.
DownstreamResponse make_not_modified(const StoredResponse& entry, Seconds age,
                                     const ClientSide& client, const ForwardingOptions& options);

/// 416 for a stored response of `size_bytes`, with Content-Range and no body.
DownstreamResponse make_unsatisfiable(uint64_t size_bytes, const ClientSide& client, HttpTime now);

}  // namespace proxy
