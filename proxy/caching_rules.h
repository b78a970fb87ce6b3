// RFC 9111 for a shared cache, as pure functions: what may be stored, how long it is fresh, and
// what to do with a request. RFC 5861 for stale-while-revalidate and stale-if-error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache_control.h"
#include "proxy/http_date.h"
#include "proxy/http_message.h"
#include "proxy/request_target.h"
#include "proxy/stored_response.h"

namespace proxy {

/// What the RFC leaves to the cache.
struct CachingOptions {
  /// Share of the time since Last-Modified that a response without explicit lifetime is fresh
  /// (RFC 9111 4.2.2). 0: no heuristic freshness.
  unsigned heuristic_percent = 10;
  Seconds heuristic_lifetime_max{24 * 60 * 60};
  /// Staleness allowed on an origin's failure where the response does not say (RFC 9111 4.2.4).
  Seconds stale_if_error_default{0};
  /// Whether a client's reload (Cache-Control: no-cache, max-age=0, Pragma) is honoured.
  bool honour_client_reload = true;
};

/// Whether a response may be stored, and the reason as a token for counters.
struct StoreDecision {
  bool store = false;
  std::string_view reason;  ///< Static text, e.g. `ok`, `no_store`, `authorization`, `vary_star`.
};

/// RFC 9111 3, 3.1, 3.3, 3.5. Only GET; only final statuses that are understood: 200, 203, 204,
/// 300, 301, 308, 404, 405, 410, 414, 501 by default (RFC 9110 15.1), others only with explicit
/// freshness or public; never 206 (partial content is not stored), 304 or 1xx. Responses with
/// neither explicit freshness, nor validator, nor Last-Modified for a heuristic are not stored:
/// they could never be reused. Set-Cookie: stored only with `public` or `s-maxage`, which say that
/// sharing is meant; the RFC would allow it always, but sharing another user's cookie is the
/// costlier mistake.
StoreDecision may_store(const RequestHead& request, const ResponseHead& response,
                        HttpTime response_time, const CachingOptions& options);

/// Lifetime of a response (RFC 9111 4.2.1, 4.2.2): s-maxage, max-age, Expires - Date, heuristic. An
/// invalid Expires is zero; several of them: the first that makes it stalest. A missing Date is
/// `response_time`.
struct Lifetime {
  Seconds value{0};
  bool is_explicit = false;
};
Lifetime freshness_lifetime(const ResponseHead& response, HttpTime response_time,
                            const CachingOptions& options);

/// Age of a stored response (RFC 9111 4.2.3). Never negative, and never beyond kDeltaSecondsMax; a
/// clock that went backwards counts as no time passed.
Seconds current_age(const StoredResponse& entry, HttpTime now);

/// What to do with a request for which there is a stored response.
enum class Verdict {
  kServeFresh,              ///< Send it; add Age.
  kServeStale,              ///< Send it although stale, the client asked so (max-stale).
  kServeStaleRevalidating,  ///< Send it and validate in the background (stale-while-revalidate).
  kRevalidate,              ///< Ask the origin with its validators first (revalidation_fields).
  kFetch,                   ///< It cannot be used: fetch anew, may replace it.
  kGatewayTimeout,          ///< only-if-cached, and nothing usable: answer 504.
};

/// Name of a verdict for counters and logs.
std::string_view name_of(Verdict verdict);

/// A verdict and why.
struct Decision {
  Verdict verdict = Verdict::kFetch;
  std::string_view reason;     ///< Static text, a token, e.g. `fresh`, `expired`, `client_reload`.
  bool client_reload = false;  ///< The client forced it: TCP_CLIENT_REFRESH_MISS.
  Seconds age{0};              ///< Age of the stored response, for the Age field.
  Seconds lifetime{0};
};

/// RFC 9111 4, 4.2.4, 5.2.1. `entry` must be a response stored under the request's (variant) key.
Decision decide(const StoredResponse& entry, const RequestHead& request, HttpTime now,
                const CachingOptions& options);

/// The same where nothing is stored: kFetch, or kGatewayTimeout for only-if-cached.
Decision decide_without_entry(const RequestHead& request);

/// Whether the stored response may answer although the origin failed: no answer, or 500, 502, 503,
/// 504 (RFC 5861 4, RFC 9111 4.2.4). Never with must-revalidate, proxy-revalidate, no-cache or
/// s-maxage.
bool may_serve_on_error(const StoredResponse& entry, const RequestHead& request, HttpTime now,
                        const CachingOptions& options);

/// Whether a status counts as the origin's failure for may_serve_on_error.
bool is_origin_failure(unsigned status);

/// Whether a request may be answered from the cache at all: GET or HEAD, without If-Match and
/// If-Unmodified-Since, which only the origin evaluates (RFC 9111 4.3.2).
bool may_look_up(const RequestHead& request);

/// Whether a request may share another one's origin fetch that is still running: a plain GET
/// without body, Authorization, Range, or directives against it (no-cache, no-store, max-age=0).
bool may_share_fetch(const RequestHead& request);

/// Cache keys that the response to an unsafe request makes invalid: the target, and Location and
/// Content-Location where they are on the same origin (RFC 9111 4.4). Empty for safe methods and
/// for error responses.
std::vector<std::string> keys_to_invalidate(const RequestHead& request, const RequestTarget& target,
                                            const ResponseHead& response);

}  // namespace proxy
