// The bytes that `cacheoff ab` sends, the same for every request.
#pragma once

#include <string>

#include "workload/ab/options.h"

namespace workload::ab {

/// The whole request, head and body, with the fields in ApacheBench's order: HTTP/1.0, and
/// `Connection: Keep-Alive` under -k.
std::string make_request(const Options& options);

}  // namespace workload::ab
