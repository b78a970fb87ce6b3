// What the proxy counts about itself.
#pragma once

#include <array>
#include <cstdint>

#include "proxy/access_log.h"
#include "storage/base/counters.h"

namespace proxy {

/// Counts since the start. Single-threaded.
struct ProxyCounters {
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;  ///< By --allow.
  uint64_t accept_errors = 0;
  uint64_t connections_open = 0;
  uint64_t requests_in_progress = 0;
  uint64_t sent_bytes = 0;  ///< To clients, heads included.
  uint64_t aborted = 0;     ///< Responses that were not sent whole.
  uint64_t retries = 0;     ///< Requests that were fetched again after a fill let them down.
  uint64_t fills_started = 0;
  uint64_t fills_stored = 0;
  uint64_t fills_failed = 0;
  uint64_t fills_abandoned = 0;  ///< Given up because nobody read them any more.
  uint64_t fills_joined = 0;     ///< Requests that shared another's fetch.
  uint64_t fills_refused = 0;    ///< Over the limit on fetches.
  uint64_t fill_bytes = 0;       ///< Bodies received for fills.
  uint64_t stores_declined = 0;  ///< Responses that the store did not take.
  uint64_t store_failures = 0;   ///< Operations of the store that failed; no request did.
  uint64_t damaged_records = 0;  ///< Stored metadata that could not be understood.
  uint64_t invalidations = 0;

  static constexpr size_t kTagCount = static_cast<size_t>(LogTag::kNone) + 1;
  std::array<uint64_t, kTagCount> requests_by_tag{};
  std::array<uint64_t, 6> responses_by_class{};  ///< Index: first digit of the status; 0: none.

  /// Counts a request that has ended.
  void count_request(const AccessRecord& record);

  /// Names without prefix, as CounterVisitor describes.
  void visit(storage::CounterVisitor& visitor) const;
};

}  // namespace proxy
