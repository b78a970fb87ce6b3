// Conditions in a request (RFC 9110 section 13) as an origin evaluates them. Pure functions.
//
// The proxy has its own (proxy/conditional): it judges what it stored, and what measures it must
// not repeat its mistakes.
#pragma once

#include <cstdint>
#include <string_view>

#include "workload/origin/origin_request.h"

namespace workload {

/// What tells one version of a representation from another.
struct Validators {
  std::string_view etag;  ///< With its quotes, and `W/` before them where it is weak.
  int64_t last_modified_unix_s = 0;
  /// Whether nothing can have changed twice within the second that the date names
  /// (section 8.8.2.2).
  bool date_is_strong = true;
};

/// What the conditions of a GET or HEAD ask for.
enum class Conditions {
  kServe,        ///< There are none, or they hold.
  kNotModified,  ///< 304.
  kFailed,       ///< 412.
};

/// Evaluates If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since in the order of RFC
/// 9110 section 13.2.2. A malformed date is no condition; a malformed tag matches nothing, and so
/// does what follows it.
Conditions evaluate_conditions(const OriginRequest& request, const Validators& validators,
                               int64_t now_unix_s);

/// Whether Range counts: it is there, of a GET, and If-Range is absent or matches strongly (RFC
/// 9110 section 13.1.5).
bool range_applies(const OriginRequest& request, const Validators& validators, int64_t now_unix_s);

}  // namespace workload
