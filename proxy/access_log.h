// The access log, in Squid's native format: one line a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace proxy {

/// How a request was served, named as Squid does.
enum class LogTag {
  kHit,                ///< TCP_HIT: fresh, from the store.
  kMemoryHit,          ///< TCP_MEM_HIT: fresh, from memory.
  kModifiedSinceHit,   ///< TCP_IMS_HIT: 304 to If-Modified-Since.
  kNoneMatchHit,       ///< TCP_INM_HIT: 304 to If-None-Match.
  kRefreshUnmodified,  ///< TCP_REFRESH_UNMODIFIED: stale, validated by the origin.
  kRefreshModified,    ///< TCP_REFRESH_MODIFIED: stale, the origin sent a new one.
  kRefreshFailed,      ///< TCP_REFRESH_FAIL_OLD: stale, the origin failed, served nevertheless.
  kStaleHit,           ///< TCP_STALE_HIT: stale, served as allowed without asking first.
  kCollapsedHit,       ///< TCP_CF_HIT: shared another request's fetch.
  kMiss,               ///< TCP_MISS.
  kClientRefreshMiss,  ///< TCP_CLIENT_REFRESH_MISS: the client forced it.
  kNegativeHit,        ///< TCP_NEGATIVE_HIT: a stored error response.
  kTunnel,             ///< TCP_TUNNEL: CONNECT.
  kDenied,             ///< TCP_DENIED.
  kNone,               ///< NONE_NONE: not a request that could be served.
};

/// Text of a tag, without `_ABORTED`.
std::string_view name_of(LogTag tag);

/// Whether a tag counts as a hit: the body did not come from the origin for this request.
bool is_hit(LogTag tag);

/// Where a response came from.
enum class Hierarchy {
  kNone,    ///< HIER_NONE: no origin was asked.
  kDirect,  ///< HIER_DIRECT: the origin that the URL names.
  kParent,  ///< FIRSTUP_PARENT: the origin that --origin names.
};

/// One request, as it is logged when it ended. Texts may hold anything: they are escaped.
struct AccessRecord {
  storage::WallTime ended{};
  std::chrono::nanoseconds duration{0};
  std::string_view client_address;  ///< Without port; empty is `-`.
  LogTag tag = LogTag::kNone;
  bool aborted = false;     ///< The response was not sent whole.
  unsigned status = 0;      ///< 0: none was sent.
  uint64_t sent_bytes = 0;  ///< To the client, heads included.
  std::string_view method;
  std::string_view url;   ///< At most kLoggedUrlLengthMax is written.
  std::string_view user;  ///< Empty is `-`.
  Hierarchy hierarchy = Hierarchy::kNone;
  std::string_view origin_address;  ///< Without port; empty is `-`.
  std::string_view content_type;    ///< Its parameters are left out; empty is `-`.
};

inline constexpr size_t kLoggedUrlLengthMax = 8192;

/// Appends `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt` and a newline. Blanks,
/// control characters and bytes beyond ASCII in any text become %XX, so that a record is always one
/// line of ten columns.
void append_access_line(const AccessRecord& record, std::string& out);

}  // namespace proxy
