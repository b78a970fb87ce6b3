// Which accesses of a log can be replayed, and what each tells about its object.
#pragma once

#include <optional>
#include <string>

#include "traces/line_account.h"
#include "traces/record.h"

namespace traces {

/// Whether a request that can be replayed asks for the body.
enum class ReplayMethod : uint8_t { kGet, kHead };

/// An access that can be replayed.
struct Replayable {
  std::string url;  ///< Normalised, see url_key.h.
  ReplayMethod method = ReplayMethod::kGet;
  /// The whole object's size, where this line tells it: only a GET answered 200 and not aborted
  /// does.
  std::optional<uint64_t> whole_size_bytes;
  /// The log cut the query off: Squid's default leaves a bare `?`.
  bool stripped_query = false;
};

/// Decides by URL, method and status, in this order: `error:` URLs, CONNECT, the cache manager,
/// junk for a method, no URL, methods other than GET and HEAD, statuses. Replayed are GET and HEAD
/// with 200, 206 and 304, as requests for the whole object. On a refusal `reason` says why. `host`
/// stands in where the log names none.
std::optional<Replayable> replayable(const AccessRecord& record, const std::string& host,
                                     SkipReason& reason);

}  // namespace traces
