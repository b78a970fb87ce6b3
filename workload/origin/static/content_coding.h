// Which content coding a client would have (RFC 9110 section 12.5.3). A pure function.
#pragma once

#include <string_view>

#include "workload/origin/origin_request.h"

namespace workload {

/// What Accept-Encoding allows of the two codings that there are, and which it likes better.
struct AcceptedCodings {
  bool gzip = false;     ///< May be sent, and is liked no less than the file as it is.
  bool identity = true;  ///< The file may be sent as it is.
};

/// Reads the field; without one the file is sent as it is. Weights are honoured; an element that is
/// malformed counts as absent. `x-gzip` is gzip.
AcceptedCodings read_accept_encoding(const OriginRequest& request);

}  // namespace workload
