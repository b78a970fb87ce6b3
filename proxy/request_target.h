// What a request is for: its target (RFC 9112 3.2, RFC 9110 7.1) and the key it is cached under.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http_message.h"

namespace proxy {

/// Longer request targets are refused with 414. RFC 9110 4.1 asks for 8000 at least.
inline constexpr size_t kTargetLengthMax = 8192;

/// Form of the request target as it was sent.
enum class TargetForm { kOrigin, kAbsolute, kAuthority, kAsterisk };

/// A target, normalised: the scheme is http (or empty for CONNECT), the host is in lower case and
/// without brackets, the port is known, the fragment is gone.
struct RequestTarget {
  TargetForm form = TargetForm::kOrigin;
  std::string scheme;          ///< `http`; empty for CONNECT.
  std::string host;            ///< Lower case; IPv6 without brackets. Never empty.
  uint16_t port = 80;          ///< 1 to 65535.
  std::string path_and_query;  ///< From `/` on, as sent; `*` for asterisk form; empty for CONNECT.

  /// Value for the Host field: the port only where it is not the scheme's default (CONNECT:
  /// always); brackets round IPv6.
  std::string authority() const;

  /// `http://host[:port]/path?query`, for logs and error pages; `host:port` for CONNECT.
  std::string url() const;
};

/// Reads the target of a request. `http` and asterisk form of OPTIONS and authority form of CONNECT
/// are served; `https` and other schemes in absolute form are refused with a clear detail (a TLS
/// client uses CONNECT). In absolute form the target wins over the Host field (RFC 9112 3.2.2). An
/// absolute OPTIONS target without path is `*` (RFC 9112 3.2.4). User information is refused. The
/// Host field must already be known to be there at most once (check_request).
Checked<RequestTarget> parse_request_target(const RequestHead& head);

/// Reads `host[:port]` as in a Host field into host and port of `target`; false where it is
/// malformed. `default_port` where there is none.
bool parse_authority(std::string_view text, uint16_t default_port, RequestTarget& target);

/// The key a response to GET (and so to HEAD) is cached under: `GET http://host:port/path?query`.
/// Scheme, host and port always take part. Path and query are kept byte for byte: two spellings of
/// one resource are two objects, never one object for two resources. Always shorter than
/// kTargetLengthMax + 300.
std::string cache_key(const RequestTarget& target);

}  // namespace proxy
